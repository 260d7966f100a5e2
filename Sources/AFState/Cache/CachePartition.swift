/// The requests that a stored response may answer: those that the same server, trusted by the same rules, would have
/// answered with it, and that ask for the same user.
package struct CachePartition: Sendable, Hashable {
    /// For whom the response is.
    package enum Audience: Sendable, Hashable {
        /// For every request: the server has said `public`.
        case everyone
        /// For requests that name the same user, or none.
        case only(RequestIdentity)
    }

    /// How the server was reached and why it was trusted.
    package let scope: TrustScope
    package let audience: Audience

    private init(_ scope: TrustScope, _ audience: Audience) {
        self.scope = scope
        self.audience = audience
    }

    /// The partition of responses to requests that ask for this user.
    package init(_ scope: TrustScope, for identity: RequestIdentity) {
        self.init(scope, .only(identity))
    }

    /// The same for every user.
    package var shared: CachePartition { CachePartition(scope, .everyone) }

    /// Whether it means the same in another process.
    ///
    /// - Parameter keepsIdentities: Whether digests of identities do.
    package func isLasting(keepsIdentities: Bool) -> Bool {
        guard case .only(.named) = audience else { return scope.isLasting }
        return scope.isLasting && keepsIdentities
    }

    /// Whether its responses are for requests that ask for this user.
    package func admits(_ identity: RequestIdentity) -> Bool {
        switch audience {
        case .everyone: true
        case .only(let own): own == identity
        }
    }

    // MARK: - On the disk

    /// One that was stored.
    init(_ scope: TrustScope, stored audience: Audience) {
        self.init(scope, audience)
    }
}

extension CachePartition.Audience {
    var storedBytes: [UInt8] {
        switch self {
        case .everyone: [0]
        case .only(.unnamed): [1]
        case .only(.named(let digest)): [2] + digest.bytes
        }
    }

    init?(stored bytes: [UInt8]) {
        switch (bytes.first, ShortDigest(bytes: bytes.dropFirst())) {
        case (0, nil): self = .everyone
        case (1, nil): self = .only(.unnamed)
        case (2, let digest?): self = .only(.named(digest))
        default: return nil
        }
    }
}
