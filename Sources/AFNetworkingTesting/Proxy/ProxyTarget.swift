/// Whom a client wants to reach.
struct ProxyTarget: Sendable, Equatable {
    /// Without brackets.
    let host: String
    let port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`, or what stands for it in a URL.
    ///
    /// - Parameter usualPort: The port where none is given; nil where one must be.
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
        // User names have no place here, and a colon only within brackets.
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

/// A request target in absolute form, cut into what the proxy needs and what it passes on.
struct AbsoluteTarget: Equatable {
    let target: ProxyTarget
    /// What the origin is asked for.
    let path: String

    /// Nil unless it begins with `http://` and an authority.
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
