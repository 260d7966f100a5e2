/// The result of judging a chain.
public struct TrustEvaluation: Sendable, Hashable {
    /// Why it is not trusted; nil if it is.
    public let failure: TrustFailure?

    /// The chain that was built, the server's certificate first.
    ///
    /// With its root if it is trusted; otherwise as far as one could be built, or
    /// what the server sent if nothing could.
    public let chain: [Certificate]

    /// The server's certificate and those above it that are proven: each signed the
    /// one below with its key, and may do so. The only place where a pin may be looked for.
    ///
    /// All of `chain` if it is trusted. Otherwise the proven beginning of it: a
    /// certificate that was merely sent along, or named as issuer, is not in it.
    public let verifiedChain: [Certificate]

    /// Whether it is trusted.
    public var isTrusted: Bool { failure == nil }
}

/// What an evaluation checks.
///
/// No policy checks revocation: neither lists nor OCSP, also not what a server staples.
/// `SecPolicyCreateRevocation` of `AFSecurity` says what that means for the policies of Apple's Security framework.
public enum TrustPolicy: Hashable, Sendable {
    /// The chain, the dates, that it may serve TLS, and the name if one is given.
    case tlsServer(PeerName?)
    /// The chain and the dates only.
    case basicX509

    /// The host name that is asked for; nil for an address, or none.
    var hostName: String? {
        guard case .tlsServer(.dns(let name)) = self else { return nil }
        return name
    }
}
