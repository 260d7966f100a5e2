internal import CAFOpenSSL

/// A rule of RFC 5280 about the form of an authority's certificate that a root breaks.
///
/// A session refuses such a root, unless the program itself named it as an anchor: commands that make an authority for
/// tests or for one company leave these fields out. The flaw takes no protection away, but other clients may refuse the
/// certificate. Whatever says that a certificate may not issue counts for every anchor, and certificates below an anchor
/// must obey all rules.
public struct AuthorityFlaw: Hashable, Sendable, CustomStringConvertible {
    /// The kind of flaw. An open set: expect others than you know.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// A stable word for it.
        public let rawValue: String

        /// A kind by its word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// It does not say what its key is for (`keyUsage`).
        public static let missingKeyUsage = Kind(rawValue: "missingKeyUsage")
        /// It says that it is an authority (`basicConstraints`) in a way that a client may overlook: not as critical.
        public static let uncriticalConstraints = Kind(rawValue: "uncriticalConstraints")
        /// It has no identifier of its key (`subjectKeyIdentifier`).
        public static let missingKeyIdentifier = Kind(rawValue: "missingKeyIdentifier")
    }

    /// What is wrong.
    public let kind: Kind
    /// The root.
    public let certificate: Certificate

    /// What is wrong with which certificate, and the line of an OpenSSL configuration that mends it.
    public let message: String

    /// The message.
    public var description: String { message }
}

extension AuthorityFlaw {
    private static let rules: [(bit: Int, kind: Kind, problem: String, line: String)] = [
        (
            CAF_FLAW_NO_KEY_USAGE, .missingKeyUsage,
            "does not say what its key is for", "keyUsage = critical, keyCertSign, cRLSign"
        ),
        (
            CAF_FLAW_CONSTRAINTS_NOT_CRITICAL, .uncriticalConstraints,
            "does not mark as critical that it is one", "basicConstraints = critical, CA:TRUE"
        ),
        (
            CAF_FLAW_NO_KEY_IDENTIFIER, .missingKeyIdentifier,
            "has no identifier of its key", "subjectKeyIdentifier = hash"
        ),
    ]

    /// - Parameter bits: `CAF_FLAW_…`
    static func flaws(_ bits: Int32, of root: Certificate?) -> [AuthorityFlaw] {
        guard let root else { return [] }
        return rules.filter { Int(bits) & $0.bit != 0 }.map { rule in
            let message = "the authority \"\(root.subject)\" \(rule.problem); make it anew with \(rule.line)"
            return AuthorityFlaw(kind: rule.kind, certificate: root, message: message)
        }
    }
}

extension Certificate {
    /// What is wrong with the form of its fields, if it is an authority that signed itself. Empty for any other
    /// certificate.
    public var authorityFlaws: [AuthorityFlaw] { AuthorityFlaw.flaws(caf_root_flaws(handle), of: self) }
}

extension TrustAnchors {
    /// The flaws of the roots that the program itself named, which a session tolerates. Worth a look before you give the
    /// certificate to others.
    public func lint() -> [AuthorityFlaw] { named.flatMap(\.authorityFlaws) }
}
