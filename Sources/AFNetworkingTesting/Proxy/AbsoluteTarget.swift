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
