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

    /// What is wrong with the form of the root, and was tolerated because the program itself named it as an anchor.
    /// Empty if the chain is not trusted.
    public let toleratedFlaws: [AuthorityFlaw]

    /// Whether it is trusted.
    public var isTrusted: Bool { failure == nil }
}

/// Why a chain is not trusted.
public struct TrustFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of reason.
    public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// A stable word for it.
        public let rawValue: String

        /// A reason by its word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The word.
        public var description: String { rawValue }

        /// The chain ends at an authority that is not among the anchors.
        public static let unknownRoot = Reason(rawValue: "unknownRoot")
        /// The server's own certificate signed itself and is no anchor.
        public static let selfSigned = Reason(rawValue: "selfSigned")
        /// The server did not send the certificate of its issuer, and no anchor is it.
        public static let incompleteChain = Reason(rawValue: "incompleteChain")
        /// A certificate is past its last day.
        public static let expired = Reason(rawValue: "expired")
        /// A certificate is not valid yet.
        public static let notYetValid = Reason(rawValue: "notYetValid")
        /// The certificate is for another host.
        public static let name = Reason(rawValue: "name")
        /// A certificate is for something else than serving TLS.
        public static let purpose = Reason(rawValue: "purpose")
        /// A key or a signature's digest is too weak, or a key too large.
        public static let weakKey = Reason(rawValue: "weakKey")
        /// A certificate was not signed by the key of its issuer.
        public static let signature = Reason(rawValue: "signature")
        /// A certificate was signed by one that may not, or not that deep.
        public static let invalidAuthority = Reason(rawValue: "invalidAuthority")
        /// An authority may not issue for that name.
        public static let nameConstraint = Reason(rawValue: "nameConstraint")
        /// A certificate has a critical extension that is not understood.
        public static let criticalExtension = Reason(rawValue: "criticalExtension")
        /// A certificate breaks the rules of X.509.
        public static let malformed = Reason(rawValue: "malformed")
        /// The chain has too many links or bytes.
        public static let tooLong = Reason(rawValue: "tooLong")
        /// It had to be known that no certificate was revoked, and is not.
        public static let revocation = Reason(rawValue: "revocation")
        /// The server showed no certificate.
        public static let noCertificate = Reason(rawValue: "noCertificate")
        /// Something that is not supported, or that could not be checked.
        public static let other = Reason(rawValue: "other")
    }

    /// The kind of reason.
    public let reason: Reason
    /// The certificate it is about.
    public let certificate: Certificate?
    /// Where that stands in the chain: 0 is the server's own.
    public let depth: Int
    /// OpenSSL's number for it, `X509_V_ERR_…`.
    public let verifyResult: Int32
    /// What is wrong, with which certificate.
    public let message: String

    /// The message.
    public var description: String { message }

    /// Whether a session tolerates it in a root that the program itself names as an anchor.
    package var isForgivenIfNamed: Bool { certificate.map { VerifyResult.isFlaw(verifyResult, of: $0) } ?? false }
}
