/// What an evaluation checks.
///
/// No policy checks revocation: neither lists nor OCSP, also not what a server staples.
/// `SecPolicyCreateRevocation` of `AFSecurity` says what that means for the policies of Apple's Security framework.
@nonexhaustive
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
