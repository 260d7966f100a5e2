import AFBase
package import AFWire

/// The key that a response is stored under: the resource that a request asks for, and where.
///
/// It consists of the endpoint in its one canonical spelling, the path with its query byte for byte as it is sent, and
/// the field `Host`, so that requests that a server could tell apart have different keys. RFC 9110 §7.1 makes `Host` a
/// part of the target, so a request whose caller names another host there asks for another resource at the same place.
/// Fragment and user information are not part of it.
package struct CacheKey: Sendable {
    private let endpoint: Endpoint
    private let target: [UInt8]
    /// In lower case; nil if it is the URL's own.
    private let host: [UInt8]?
    /// Computed once, with the seed of the process: no peer can make many URLs with the same one.
    let hash: Int

    /// - Parameter host: The value of the field `Host`; nil if it is the URL's own.
    package init(_ url: RequestURL, host: [UInt8]? = nil) {
        endpoint = url.endpoint
        target = url.target
        let own = url.endpoint.hostFieldBytes
        let isOwn = host.map { host in host.elementsEqual(own) || host.map(ASCII.folded) == own.map(ASCII.folded) }
        self.host = isOwn == false ? host.map { $0.map(ASCII.folded) } : nil
        var hasher = Hasher()
        own.withUnsafeBytes { hasher.combine(bytes: $0) }
        target.withUnsafeBytes { hasher.combine(bytes: $0) }
        hash = hasher.finalize()
    }

    /// A response to a URL with a query may be computed for it, so its lifetime is not guessed.
    var hasQuery: Bool { target.contains(UInt8(ascii: "?")) }

    /// All that tells it from other keys, each part behind its length, so that no two run together.
    package var bytes: [UInt8] {
        var fields = FieldWriter(capacity: target.count + 128)
        fields.add(endpoint.scheme.text.utf8)
        fields.add(endpoint.host.bracketed.utf8)
        fields.add((endpoint.host.zone ?? "").utf8)
        fields.add(number: endpoint.port)
        fields.add(target)
        fields.add(host ?? endpoint.hostFieldBytes.map(ASCII.folded))
        return fields.bytes
    }

    /// What stands for the key on the disk, which knows no URL.
    var digest: ShortDigest { ShortDigest(of: bytes) }

    /// What finds the records of the key on the disk. Others may have the same.
    var tag: UInt64 {
        var tag = FNV1a.of(endpoint.hostFieldBytes) ^ FNV1a.of(target)
        tag = (tag ^ tag >> 32) &* 0x9E37_79B9_7F4A_7C15
        return tag ^ tag >> 29
    }
}

extension CacheKey: Hashable {
    package static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.hash == right.hash && left.target == right.target && left.endpoint == right.endpoint
            && left.host == right.host
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}
