/// Why something that was offered as a client identity was refused.
///
/// Says which input, what is wrong with it, and what to do. Never holds a passphrase or anything that was in a file.
public struct ClientIdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong.
    public struct Rule: RawRepresentable, Hashable, Sendable {
        /// A stable word for it.
        public let rawValue: String

        /// A rule by its word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A file is missing, cannot be read, or is too large.
        public static let unreadable = Rule(rawValue: "unreadable")
        /// There are no bytes in it.
        public static let empty = Rule(rawValue: "empty")
        /// The bytes are not what they should be: cut short, damaged, or something else.
        public static let malformed = Rule(rawValue: "malformed")
        /// There is no certificate.
        public static let noCertificate = Rule(rawValue: "noCertificate")
        /// A certificate cannot be read.
        public static let brokenCertificate = Rule(rawValue: "brokenCertificate")
        /// There is no private key.
        public static let noKey = Rule(rawValue: "noKey")
        /// There is more than one private key.
        public static let severalKeys = Rule(rawValue: "severalKeys")
        /// The private key is not that of the first certificate.
        public static let keyMismatch = Rule(rawValue: "keyMismatch")
        /// The private key is damaged, too large, or of a kind that cannot sign.
        public static let unusableKey = Rule(rawValue: "unusableKey")
        /// It is encrypted, and no passphrase was given.
        public static let passphraseRequired = Rule(rawValue: "passphraseRequired")
        /// The passphrase does not open it.
        public static let wrongPassphrase = Rule(rawValue: "wrongPassphrase")
        /// Nothing protects the file against changes.
        public static let unprotected = Rule(rawValue: "unprotected")
        /// It is encrypted in a way this OpenSSL does not know.
        public static let unsupportedEncryption = Rule(rawValue: "unsupportedEncryption")
        /// It is encrypted in an old way, for which OpenSSL's legacy provider is missing.
        public static let legacyProviderMissing = Rule(rawValue: "legacyProviderMissing")
        /// Turning the passphrase into a key would take too long.
        public static let excessiveWork = Rule(rawValue: "excessiveWork")
    }

    /// Which of the inputs it is about.
    @nonexhaustive
    public enum Input: Hashable, Sendable {
        /// The certificates given.
        case certificates
        /// The private key given.
        case privateKey
        /// The PEM with certificates and key.
        case pem
        /// The PKCS#12 file.
        case pkcs12
    }

    /// What was wrong.
    public let rule: Rule
    /// Which of the inputs it is about.
    public let input: Input
    /// The file it came from; nil for bytes.
    public let path: String?
    /// What is wrong and what to do, for people.
    public let message: String

    init(_ rule: Rule, input: Input, message: String, path: String? = nil) {
        self.rule = rule
        self.input = input
        self.path = path
        self.message = message
    }

    /// Which input, what is wrong with it, and what to do.
    public var description: String {
        "\(inputText)\(path.map { " \(ByteText.escaped($0, limit: 1024))" } ?? ""): \(message)"
    }

    private var inputText: String {
        switch input {
        case .certificates: "certificates of a client identity"
        case .privateKey: "private key of a client identity"
        case .pem: "PEM of a client identity"
        case .pkcs12: "PKCS#12 of a client identity"
        }
    }

    func from(_ path: String?) -> ClientIdentityError {
        ClientIdentityError(rule, input: input, message: message, path: self.path ?? path)
    }
}
