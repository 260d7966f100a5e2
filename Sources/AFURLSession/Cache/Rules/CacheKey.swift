import AFWire

/// Under which URL a response is stored.
///
/// Scheme, host and port in their one canonical spelling, and the path with its query byte
/// for byte as it is sent: what a server could tell apart is told apart. Neither fragment
/// nor user information are part of it. Each part carries its length, so no two URLs run
/// together.
struct CacheKey: Sendable, Hashable {
    let bytes: [UInt8]
    let digest: CacheDigest
    /// What is computed from a question is not guessed to be good for later.
    let hasQuery: Bool

    init(_ url: RequestURL) {
        let endpoint = url.endpoint
        var fields = CacheFieldWriter()
        fields.add(endpoint.scheme.text.utf8)
        fields.add(endpoint.host.bracketed.utf8)
        fields.add((endpoint.host.zone ?? "").utf8)
        fields.add(number: endpoint.port)
        fields.add(url.target)
        self.init(bytes: fields.bytes, hasQuery: url.target.contains(UInt8(ascii: "?")))
    }

    private init(bytes: [UInt8], hasQuery: Bool) {
        self.bytes = bytes
        digest = CacheDigest(of: bytes)
        self.hasQuery = hasQuery
    }

    /// One that was stored.
    init?(stored bytes: [UInt8]) {
        var reader = CacheFieldReader(bytes[...])
        guard reader.field() != nil, reader.field() != nil, reader.field() != nil,
            reader.number(UInt16.self) != nil, let target = reader.field(), reader.isAtEnd
        else { return nil }
        self.init(bytes: bytes, hasQuery: target.contains(UInt8(ascii: "?")))
    }

    static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.digest == right.digest && left.bytes == right.bytes
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }
}
