/// How a server or proxy of a test does Digest authentication (RFC 7616).
///
/// ```swift
/// var rules = DigestRules(user: "ann", password: "secret")
/// rules.algorithm = .sha256
/// rules.usesPerNonce = 1
/// ```
public struct DigestRules: Sendable, Hashable {
    /// How a client computes its response.
    @nonexhaustive
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// MD5, the only algorithm of RFC 2069.
        case md5 = "MD5"
        /// MD5 with a key for each session.
        case md5Session = "MD5-sess"
        /// SHA-256.
        case sha256 = "SHA-256"
        /// SHA-256 with a key for each session.
        case sha256Session = "SHA-256-sess"
        /// SHA-512/256.
        case sha512_256 = "SHA-512-256"
        /// SHA-512/256 with a key for each session.
        case sha512_256Session = "SHA-512-256-sess"

        /// The algorithm of that name; case does not matter.
        public init?(named name: String) {
            guard let match = Self.allCases.first(where: { $0.rawValue.equalsIgnoringCase(name) }) else { return nil }
            self = match
        }
    }

    /// What a response covers.
    @nonexhaustive
    public enum Quality: String, Sendable, Hashable, CaseIterable {
        /// The method and the target.
        case request = "auth"
        /// The method, the target and the body.
        case body = "auth-int"
    }

    /// The user.
    public var user: String
    /// The password.
    public var password: String
    /// The realm of the challenge.
    public var realm = "me@example.test"
    /// The algorithm that the challenge asks for.
    public var algorithm = Algorithm.md5
    /// The `qop` that the challenge offers; none for a challenge as in RFC 2069, without counts.
    public var qualities: [Quality] = [.request]
    /// How often a client may use a nonce before it is stale and the next challenge has a new one. Nil for no limit.
    public var usesPerNonce: Int?
    /// Whether the reply to good credentials has the nonce for the next request (`nextnonce`).
    public var givesNextNonce = false

    /// Accepts this user and password.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    var hashName: String {
        switch algorithm {
        case .md5, .md5Session: "MD5"
        case .sha256, .sha256Session: "SHA256"
        case .sha512_256, .sha512_256Session: "SHA512-256"
        }
    }

    var isForSession: Bool {
        switch algorithm {
        case .md5Session, .sha256Session, .sha512_256Session: true
        case .md5, .sha256, .sha512_256: false
        }
    }

    func challenge(nonce: String, isStale: Bool) -> String {
        var parts = ["realm=\(Self.quoted(realm))", "nonce=\"\(nonce)\"", "opaque=\"\(Self.opaque)\""]
        if !qualities.isEmpty { parts.append("qop=\"\(qualities.map(\.rawValue).joined(separator: ", "))\"") }
        parts.append("algorithm=\(algorithm.rawValue)")
        if isStale { parts.append("stale=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// Clients must send it back unchanged.
    static let opaque = "5ccc069c403ebaf9f0171e9517f40e41"

    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        return "\"" + String(decoding: bytes, as: UTF8.self) + "\""
    }
}
