/// The requests that a stored response may answer: those that the same server, trusted by the same rules, would have
/// answered with it, and that ask for the same user.
package struct CachePartition: Sendable, Hashable {
    /// For whom the response is.
    package enum Audience: Sendable, Hashable {
        /// For every request: the server has said `public`.
        case everyone
        /// For requests that name the same user, or none, in whatever field.
        case only(RequestIdentity)
        /// The same, of a program that acts for one user: fields that are no secrets name none.
        case onlyBySecrets(RequestIdentity)
    }

    /// How the server was reached and why it was trusted.
    package let scope: TrustScope
    package let audience: Audience

    private init(scope: TrustScope, audience: Audience) {
        self.scope = scope
        self.audience = audience
    }

    /// The partition of responses to requests that ask for this user.
    package init(_ scope: TrustScope, for identity: RequestIdentity) {
        self.init(scope: scope, audience: .only(identity))
    }

    /// The partition of responses to such a request.
    package init(_ scope: TrustScope, for identities: RequestIdentities, options: CacheOptions) {
        let isOfOne = options.contains(.servesOneUser)
        self.init(scope: scope, audience: isOfOne ? .onlyBySecrets(identities.bySecrets) : .only(identities.byAnyField))
    }

    /// The same for every user.
    package var shared: CachePartition { CachePartition(scope: scope, audience: .everyone) }

    /// Whether it means the same in another process.
    ///
    /// - Parameter keepsIdentities: Whether digests of identities do.
    package func isLasting(keepsIdentities: Bool) -> Bool {
        switch audience {
        case .everyone, .only(.unnamed), .onlyBySecrets(.unnamed): scope.isLasting
        case .only(.named), .onlyBySecrets(.named): scope.isLasting && keepsIdentities
        }
    }

    /// Whether its responses are for such a request.
    package func admits(_ identities: RequestIdentities) -> Bool {
        switch audience {
        case .everyone: true
        case .only(let own): own == identities.byAnyField
        case .onlyBySecrets(let own): own == identities.bySecrets
        }
    }

    // MARK: - On the disk

    /// One that was stored.
    init(_ scope: TrustScope, stored audience: Audience) {
        self.init(scope: scope, audience: audience)
    }
}

extension CachePartition.Audience {
    var storedBytes: [UInt8] {
        switch self {
        case .everyone: [0]
        case .only(.unnamed): [1]
        case .only(.named(let digest)): [2] + digest.bytes
        case .onlyBySecrets(.unnamed): [3]
        case .onlyBySecrets(.named(let digest)): [4] + digest.bytes
        }
    }

    /// Nil also for what another way of telling users apart has stored.
    init?(stored bytes: [UInt8], options: CacheOptions) {
        let isOfOne = options.contains(.servesOneUser)
        switch (bytes.first, ShortDigest(bytes: bytes.dropFirst())) {
        case (0, nil): self = .everyone
        case (1, nil): self = .only(.unnamed)
        case (2, let digest?): self = .only(.named(digest))
        case (3, nil) where isOfOne: self = .onlyBySecrets(.unnamed)
        case (4, let digest?) where isOfOne: self = .onlyBySecrets(.named(digest))
        default: return nil
        }
    }
}
