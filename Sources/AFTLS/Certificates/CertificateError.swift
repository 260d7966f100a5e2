/// Why something that was offered as certificates was refused.
public struct CertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong.
    public struct Rule: RawRepresentable, Hashable, Sendable {
        /// A stable word for it.
        public let rawValue: String

        /// A rule by its word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// There is no such file or folder.
        public static let missing = Rule(rawValue: "missing")
        /// The file or folder cannot be read.
        public static let unreadable = Rule(rawValue: "unreadable")
        /// It is larger than any certificate file.
        public static let tooLarge = Rule(rawValue: "tooLarge")
        /// There are no bytes in it.
        public static let empty = Rule(rawValue: "empty")
        /// It holds no certificate.
        public static let noCertificate = Rule(rawValue: "noCertificate")
        /// The bytes are no certificate in DER.
        public static let malformed = Rule(rawValue: "malformed")
        /// Bytes follow the certificate.
        public static let trailingBytes = Rule(rawValue: "trailingBytes")
        /// A PEM block is cut short, not base64, or does not begin on a line of its own.
        public static let brokenBlock = Rule(rawValue: "brokenBlock")
        /// A PEM block is something else than a certificate.
        public static let otherBlock = Rule(rawValue: "otherBlock")
        /// There is a private key in it.
        public static let privateKey = Rule(rawValue: "privateKey")
    }

    /// What was wrong.
    public let rule: Rule
    /// The file or folder it came from; nil for bytes.
    public let path: String?
    /// Which PEM block it was, counted from 0; nil if it is not about one.
    public let block: Int?
    /// What was wrong, for people.
    public let message: String

    init(_ rule: Rule, message: String, block: Int? = nil, path: String? = nil) {
        self.rule = rule
        self.path = path
        self.block = block
        self.message = message
    }

    /// Which input, and what is wrong with it.
    public var description: String {
        path.map { "certificates from \(ByteText.escaped($0, limit: 1024)): \(message)" } ?? message
    }

    func from(_ path: String) -> CertificateError { CertificateError(rule, message: message, block: block, path: path) }
}

/// Why there is nothing to trust.
public struct TrustAnchorsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, what happened, what to change.
    public let message: String

    /// The message.
    public var description: String { message }
}
