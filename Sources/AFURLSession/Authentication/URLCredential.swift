public import AFTLS

/// An answer to a challenge: a user with a password, an identity of our own, or
/// the word that a server is trusted.
///
/// Immutable. Its description names no password.
public final class URLCredential: Sendable {
    /// How long a credential is kept.
    public enum Persistence: UInt, Sendable {
        /// For one challenge.
        case none = 0
        /// As long as the process runs.
        case forSession = 1
        /// For good, where there is a store for it.
        case permanent = 2
        /// For good, on all devices of the user, where there is a store for it.
        case synchronizable = 3
    }

    private enum Content: Hashable, Sendable {
        case password(user: String, password: String)
        case identity(ClientIdentity)
        case trust(ServerTrust)
        case nothing
    }

    private let content: Content
    /// How long it is kept.
    public let persistence: Persistence

    private init(_ content: Content, _ persistence: Persistence) {
        self.content = content
        self.persistence = persistence
    }

    /// A user and a password.
    public convenience init(user: String, password: String, persistence: Persistence) {
        self.init(.password(user: user, password: password), persistence)
    }

    /// The word that the server is trusted. It holds for exactly what this server
    /// showed, and for the handshake that asked.
    public convenience init(trust: ServerTrust) {
        self.init(.trust(trust), .none)
    }

    /// A certificate of ours, with its key.
    public convenience init(identity: ClientIdentity, persistence: Persistence = .forSession) {
        self.init(.identity(identity), persistence)
    }

    /// Stands for the answer of a delegate that has no method for the question.
    static let unanswered = URLCredential(.nothing, .none)

    /// The user, if it is a user's.
    public var user: String? {
        if case .password(let user, _) = content { return user }
        return nil
    }

    /// The password, if it is a user's.
    public var password: String? {
        if case .password(_, let password) = content { return password }
        return nil
    }

    /// Whether it has a password.
    public var hasPassword: Bool { password != nil }

    /// Our identity, if it is one.
    public var identity: ClientIdentity? {
        if case .identity(let identity) = content { return identity }
        return nil
    }

    /// Our certificates, its own first, if it is an identity.
    public var certificates: [Certificate] { identity?.certificates ?? [] }

    /// The server that is trusted, if it is such a word.
    public var trust: ServerTrust? {
        if case .trust(let trust) = content { return trust }
        return nil
    }
}

extension URLCredential: Hashable, CustomStringConvertible, CustomReflectable {
    /// Equal if they say the same.
    public static func == (left: URLCredential, right: URLCredential) -> Bool {
        left.content == right.content && left.persistence == right.persistence
    }

    /// Hashes what it says.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(content)
    }

    /// What kind of credential it is, and for whom. No password.
    public var description: String {
        switch content {
        case .password(let user, _): "URLCredential(user: \(user), password: not shown)"
        case .identity(let identity): "URLCredential(identity: \(identity))"
        case .trust(let trust): "URLCredential(trust: \(trust.host))"
        case .nothing: "URLCredential()"
        }
    }

    /// The description alone: a dump shows no password either.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
