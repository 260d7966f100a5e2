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
