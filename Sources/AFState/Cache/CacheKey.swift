import AFBase
package import AFWire

/// The key that a response is stored under: the resource that a request asks for, and where.
///
/// It consists of scheme, host and port in their one canonical spelling, the path with its query byte for byte as it is
/// sent, and the field `Host`, so that requests that a server could tell apart have different keys. RFC 9110 §7.1 makes
/// `Host` a part of the target, so a request whose caller names another host there asks for another resource at the
/// same place. Fragment and user information are not part of it. Each part carries its length, so no two URLs run
/// together.
package struct CacheKey: Sendable, Hashable {
    package let bytes: [UInt8]
    package let digest: CacheDigest
    /// A response to a URL with a query may be computed for it, so its lifetime is not guessed.
    let hasQuery: Bool

    /// - Parameter host: The value of the field `Host`; nil if it is the URL's own.
    package init(_ url: RequestURL, host: [UInt8]? = nil) {
        let endpoint = url.endpoint
        let host = host ?? endpoint.hostFieldBytes
        var fields = FieldWriter(capacity: url.target.count + 2 * host.count + 64)
        fields.add(endpoint.scheme.text.utf8)
        fields.add(endpoint.host.bracketed.utf8)
        fields.add((endpoint.host.zone ?? "").utf8)
        fields.add(number: endpoint.port)
        fields.add(url.target)
        fields.add(host.map(ASCII.folded))
        self.init(bytes: fields.bytes, hasQuery: url.target.contains(UInt8(ascii: "?")))
    }

    private init(bytes: [UInt8], hasQuery: Bool) {
        self.bytes = bytes
        digest = CacheDigest(of: bytes)
        self.hasQuery = hasQuery
    }

    /// A key that was stored.
    init?(stored bytes: [UInt8]) {
        var reader = FieldReader(bytes[...])
        guard reader.field() != nil, reader.field() != nil, reader.field() != nil,
            reader.number(UInt16.self) != nil, let target = reader.field(), reader.field() != nil, reader.isAtEnd
        else { return nil }
        self.init(bytes: bytes, hasQuery: target.contains(UInt8(ascii: "?")))
    }

    package static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.digest == right.digest && left.bytes == right.bytes
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }
}
