public import AFTLS
public import Foundation

/// An answer to a challenge: a user with a password, a token, an identity of the client, or the decision to trust a
/// server.
///
/// Immutable. Its description names no password and no token, and both are overwritten in memory when the last
/// reference to the credential ends. The text you get from ``password`` is a copy, and yours to keep safe.
public final class URLCredential: NSObject, NSCopying, NSSecureCoding, Sendable {
    /// How long a credential is kept.
    @nonexhaustive
    public enum Persistence: UInt, Sendable {
        /// For one challenge.
        case none = 0
        /// As long as the process runs.
        case forSession = 1
        /// For good, where there is a store for it. On Linux there is none: as long as the process runs.
        case permanent = 2
        /// For good, on all devices of the user, where there is a store for it. On Linux there is none: as long as
        /// the process runs.
        case synchronizable = 3
    }

    private enum Content: Hashable, Sendable {
        case password(user: SecretBytes, password: SecretBytes)
        case token(SecretBytes)
        case identity(ClientIdentity)
        case trust(ServerTrust)
        case nothing
    }

    private let content: Content
    /// How long it is kept.
    public let persistence: Persistence

    private init(_ content: Content, persistence: Persistence) {
        self.content = content
        self.persistence = persistence
        super.init()
    }

    /// A user and a password.
    public convenience init(user: String, password: String, persistence: Persistence) {
        self.init(.password(user: SecretBytes(user), password: SecretBytes(password)), persistence: persistence)
    }

    /// A bearer token (RFC 6750), for challenges of `NSURLAuthenticationMethodHTTPBearer`. Ours: Apple's loader has
    /// no such credential.
    ///
    /// Kept in a ``URLCredentialStorage`` for a space with a realm it is sent once that realm asks. Kept for a space
    /// *without* a realm it is sent with every request to that host and port, unasked, over https or to this machine:
    ///
    /// ```swift
    /// let space = URLProtectionSpace(
    ///     host: "api.example.com",
    ///     port: 443,
    ///     protocol: "https",
    ///     realm: nil,
    ///     authenticationMethod: NSURLAuthenticationMethodHTTPBearer
    /// )
    /// storage.setDefaultCredential(URLCredential(bearerToken: token), for: space)
    /// ```
    public convenience init(bearerToken: String, persistence: Persistence = .forSession) {
        self.init(.token(SecretBytes(bearerToken)), persistence: persistence)
    }

    /// The decision to trust the server. It is valid only for the certificates that this server showed, and only for
    /// the handshake that asked.
    public convenience init(trust: ServerTrust) {
        self.init(.trust(trust), persistence: .none)
    }

    /// A certificate of the client, with its key.
    ///
    /// - Parameters:
    ///   - identity: The certificate and its key.
    ///   - certificates: The authorities to send after the identity's own certificate.
    ///     Nil, the default, sends those that the identity came with.
    ///   - persistence: How long it is kept.
    public convenience init(
        identity: ClientIdentity,
        certificates: [Certificate]? = nil,
        persistence: Persistence = .forSession
    ) {
        self.init(.identity(certificates.map { identity.followed(by: $0) } ?? identity), persistence: persistence)
    }

    /// Stands for the answer of a delegate that has no method for the question.
    package static let unanswered = URLCredential(.nothing, persistence: .none)

    /// The user; nil for a credential of another kind.
    public var user: String? {
        secretPassword?.user.text
    }

    /// The password; nil for a credential of another kind.
    public var password: String? {
        secretPassword?.password.text
    }

    /// Whether the credential has a password.
    public var hasPassword: Bool { secretPassword != nil }

    /// The token; nil for a credential of another kind.
    public var bearerToken: String? { secretToken?.text }

    /// The user and the password, without a copy of them.
    var secretPassword: (user: SecretBytes, password: SecretBytes)? {
        if case .password(let user, let password) = content { return (user, password) }
        return nil
    }

    var secretToken: SecretBytes? {
        if case .token(let token) = content { return token }
        return nil
    }

    /// The identity of the client; nil for a credential of another kind.
    public var identity: ClientIdentity? {
        if case .identity(let identity) = content { return identity }
        return nil
    }

    /// The authorities that are sent after the client's own certificate; empty if the credential is no identity.
    public var certificates: [Certificate] { Array(identity?.certificates.dropFirst() ?? []) }

    /// The server to trust; nil for a credential of another kind.
    public var trust: ServerTrust? {
        if case .trust(let trust) = content { return trust }
        return nil
    }

    // MARK: - Copying and coding

    /// Returns the credential itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Credentials can be archived securely.
    public static var supportsSecureCoding: Bool { true }

    private enum Key {
        static let user = "user"
        static let password = "password"
        static let persistence = "persistence"
    }

    /// Reads an archived credential, which can only be a user's, also one of FoundationNetworking; nil if the archive has
    /// another form.
    public convenience init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        guard coder.containsValue(forKey: Key.user) else {
            let archive = FoundationArchive(coder)
            guard let user = archive.user, let password = archive.password,
                let persistence = archive.persistence.flatMap({ Persistence(rawValue: $0) })
            else { return nil }
            self.init(user: user, password: password, persistence: persistence)
            return
        }
        guard let user = coder.decodeObject(of: NSString.self, forKey: Key.user),
            let password = coder.decodeObject(of: NSString.self, forKey: Key.password),
            let number = UInt(exactly: coder.decodeInt64(forKey: Key.persistence)),
            let persistence = Persistence(rawValue: number)
        else { return nil }
        self.init(user: String(describing: user), password: String(describing: password), persistence: persistence)
    }

    /// Archives user, password and persistence, so that anything that can read the archive has the password. Tokens,
    /// private keys and the trust in a server are not written.
    public func encode(with coder: NSCoder) {
        guard let user, let password else { return }
        coder.encode(NSString(string: user), forKey: Key.user)
        coder.encode(NSString(string: password), forKey: Key.password)
        coder.encode(Int64(persistence.rawValue), forKey: Key.persistence)
    }

    // MARK: - Comparing and describing

    /// Whether the other object is a credential with the same content, byte by byte.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLCredential else { return false }
        return content == other.content && persistence == other.persistence
    }

    /// The same for equal credentials.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(content)
        return hasher.finalize()
    }

    /// The kind of the credential, and the user it is for. It contains no password.
    public override var description: String {
        switch content {
        case .password(let user, _): "URLCredential(user: \(user.text), password: not shown)"
        case .token: "URLCredential(bearerToken: not shown)"
        case .identity(let identity): "URLCredential(identity: \(identity))"
        case .trust(let trust): "URLCredential(trust: \(trust.host))"
        case .nothing: "URLCredential()"
        }
    }
}

extension URLCredential: CustomReflectable {
    /// The description only: a dump shows no password either.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// Equality of text by its bytes. `==` of strings is Unicode's, for which different bytes can be the same name: two
/// realms, or two users, that are not the same.
enum ByteEquality {
    static func holds(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

    static func holds(_ one: String?, _ other: String?) -> Bool {
        switch (one, other) {
        case (nil, nil): true
        case (let one?, let other?): holds(one, other)
        case (nil, _?), (_?, nil): false
        }
    }
}
