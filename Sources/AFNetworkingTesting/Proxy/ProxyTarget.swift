/// The host and port that a client asks the proxy for.
struct ProxyTarget: Sendable, Equatable {
    /// Without brackets.
    let host: String
    let port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`, or the authority of a URL.
    ///
    /// - Parameter usualPort: The port if the text has none; nil if it must have one.
    init?(authority: some Collection<UInt8>, usualPort: UInt16?) {
        let text = Array(authority)
        var host = text[...]
        var rest = text[text.endIndex...]
        if text.first == UInt8(ascii: "[") {
            guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            (host, rest) = (text[1..<end], text[(end + 1)...])
        } else if let colon = text.lastIndex(of: UInt8(ascii: ":")) {
            (host, rest) = (text[..<colon], text[colon...])
        }
        // No user name, and no colon in the host outside of brackets.
        guard !host.isEmpty, !host.contains(UInt8(ascii: "@")) else { return nil }
        guard text.first == UInt8(ascii: "[") || !host.contains(UInt8(ascii: ":")) else { return nil }
        guard !rest.isEmpty else {
            guard let usualPort else { return nil }
            self.init(host: String(decoding: host, as: UTF8.self), port: usualPort)
            return
        }
        let digits = String(decoding: rest.dropFirst(), as: UTF8.self)
        guard rest.first == UInt8(ascii: ":"), let port = DecimalText.count(digits).flatMap({ UInt16(exactly: $0) })
        else { return nil }
        self.init(host: String(decoding: host, as: UTF8.self), port: port)
    }
}
