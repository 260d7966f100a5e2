import AFLoop
import AFTLS
package import AFWire

/// The requests that a stored response may answer: those that the same server, trusted by the same rules, would have
/// answered with it, sent with the same credentials.
package struct CachePartition: Sendable, Hashable {
    /// How the server was reached and why it was trusted.
    package let origin: [UInt8]
    /// The digest of the value of `Authorization`, if one was sent.
    package let credentials: CacheDigest?
    /// Whether it means the same in another process. Only then a response may go to disk.
    package let isLasting: Bool

    private init(_ origin: [UInt8], credentials: CacheDigest? = nil, isLasting: Bool) {
        self.origin = origin
        self.credentials = credentials
        self.isLasting = isLasting
    }

    /// A partition that was stored. Only lasting ones are.
    init(stored origin: [UInt8]) {
        self.init(origin, isLasting: true)
    }

    /// `http`, where any server on the way could have answered.
    package static let open = CachePartition([0], isLasting: true)
    /// The partition of responses that the program itself stored. Every session of the cache sees them.
    package static let caller = CachePartition([1], isLasting: true)

    /// The partition of a server that rules with a fingerprint accepted.
    package static func verified(by fingerprint: [UInt8]) -> CachePartition {
        CachePartition([2] + fingerprint, isLasting: true)
    }

    /// The partition of a server that was accepted for reasons that no other session can know, such as the decision of
    /// a delegate.
    ///
    /// - Parameter number: From ``UniqueNumber``, of the session that knows the reasons.
    package static func unnamed(_ number: UInt64, _ fingerprint: [UInt8]) -> CachePartition {
        var fields = CacheFieldWriter()
        fields.add(number: number)
        fields.add(fingerprint)
        return CachePartition([3] + fields.bytes, isLasting: false)
    }

    /// The same partition, reached through a socket that may lead to any server.
    package func through(_ socketPath: String?) -> CachePartition {
        guard let socketPath else { return self }
        var fields = CacheFieldWriter()
        fields.add(origin)
        fields.add(socketPath.utf8)
        return CachePartition([4] + fields.bytes, credentials: credentials, isLasting: isLasting)
    }

    /// The same partition where connections are made to another place.
    package func redirected(to place: String) -> CachePartition {
        var fields = CacheFieldWriter()
        fields.add(origin)
        fields.add(place.utf8)
        return CachePartition([5] + fields.bytes, isLasting: isLasting)
    }

    /// The same partition where connections are not made to every address.
    ///
    /// - Parameters:
    ///   - number: Tells the filter of addresses apart from others.
    ///   - isLasting: Whether the number means the same filter in another process.
    package func filtered(by number: UInt64, isLasting: Bool) -> CachePartition {
        var fields = CacheFieldWriter()
        fields.add(origin)
        fields.add(number: number)
        return CachePartition([6] + fields.bytes, isLasting: self.isLasting && isLasting)
    }

    /// The same partition for the credentials of a request. Nil if the request has credentials and no digest can stand
    /// for them.
    ///
    /// Nothing that could be computed from a password is ever written to disk: a secret of the process goes into the
    /// digest.
    package func forCredentials(in headers: HTTPHeaders) -> CachePartition? {
        guard headers.contains("Authorization") else { return self }
        guard let secret = CachePartition.secret else { return nil }
        var fields = CacheFieldWriter()
        fields.add(secret)
        headers.forEach { name, value in
            if ByteScanning.equalsIgnoringCase(name, "authorization") { fields.add(Array(value)) }
        }
        return CachePartition(origin, credentials: CacheDigest(of: fields.bytes), isLasting: false)
    }

    private static let secret = try? SystemRandom.bytes(32)
}
