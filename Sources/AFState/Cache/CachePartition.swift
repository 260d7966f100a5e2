package import AFWire

/// The requests that a stored response may answer: those that the same server, trusted by the same rules, would have
/// answered with it, sent with the same credentials.
package struct CachePartition: Sendable, Hashable {
    /// How the server was reached and why it was trusted.
    package let scope: TrustScope
    /// The digest of the value of `Authorization`, if one was sent.
    package let credentials: CacheDigest?

    /// The partition of requests without credentials.
    package init(_ scope: TrustScope) {
        self.init(scope, nil)
    }

    private init(_ scope: TrustScope, _ credentials: CacheDigest?) {
        self.scope = scope
        self.credentials = credentials
    }

    /// The partition of responses that the program itself stored. Every session of the cache sees them.
    package static let caller = CachePartition(.program)

    /// Whether it means the same in another process. Only then a response may go to disk.
    package var isLasting: Bool { scope.isLasting && credentials == nil }

    /// The same partition for the credentials of a request. Nil if the request has credentials and no digest can stand
    /// for them.
    ///
    /// Nothing that could be computed from a password is ever written to disk: a secret of the process goes into the
    /// digest.
    package func forCredentials(in headers: HTTPHeaders) -> CachePartition? {
        guard headers.contains("Authorization") else { return self }
        guard let secret = ProcessSecret.bytes else { return nil }
        var fields = FieldWriter()
        fields.add(secret)
        headers.forEach { name, value in
            if ByteScanning.equalsIgnoringCase(name, "authorization") { fields.add(Array(value)) }
        }
        return CachePartition(scope, CacheDigest(of: fields.bytes))
    }
}
