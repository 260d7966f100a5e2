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

/// A request target in absolute form: the server to connect to, and the path to ask it for.
struct AbsoluteTarget: Equatable {
    let target: ProxyTarget
    /// The target of the forwarded request.
    let path: String

    /// Nil unless the text begins with `http://` and an authority.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard String(decoding: bytes.prefix(7), as: UTF8.self).equalsIgnoringCase("http://") else { return nil }
        let authority = bytes[7...].prefix { !"/?#".utf8.contains($0) }
        guard let target = ProxyTarget(authority: authority, usualPort: 80) else { return nil }
        self.target = target
        let rest = String(decoding: bytes[authority.endIndex...], as: UTF8.self)
        path = rest.utf8.first == UInt8(ascii: "/") ? rest : "/" + rest
    }
}
