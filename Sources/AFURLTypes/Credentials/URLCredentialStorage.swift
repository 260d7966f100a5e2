import AFBase
public import Foundation
import Synchronization

/// Keeps credentials for protection spaces.
///
/// Safe to use from any thread. Credentials are kept in memory only, as long as the process runs, whatever their
/// persistence says beyond `none`: Linux has no key ring that a library could rely on, and a file of our own would
/// leave passwords readable to every program of the user. Programs that have a place for secrets read them there and
/// set them here.
///
/// A session adds a credential that its delegate gave to its storage when a server accepted it, unless its persistence
/// is `none`. A credential that is removed or replaced here is not sent any more, even if a server has accepted it
/// before.
///
/// Spaces, users, realms and passwords are told apart by their bytes, hosts without regard to the case of ASCII
/// letters.
public final class URLCredentialStorage: NSObject, Sendable {
    private struct Key: Hashable {
        let host: String
        let port: Int
        let scheme: String?
        let proxyType: String?
        let realm: [UInt8]?
        let method: String

        init(_ space: URLProtectionSpace) {
            host = ASCII.lowered(space.host)
            port = space.port
            scheme = space.protocol
            proxyType = space.proxyType
            realm = space.realm.map { Array($0.utf8) }
            method = space.authenticationMethod
        }
    }

    private struct Entry {
        let space: URLProtectionSpace
        var credentials: [URLCredential] = []
        var preferred: URLCredential?

        func index(of user: [UInt8]) -> Int? {
            credentials.firstIndex { URLCredentialStorage.name(of: $0) == user }
        }
    }

    /// A type of its own: a lock of a dictionary is made with a look at all conformances of the program, whether or not it
    /// ever has an entry.
    private struct Entries {
        var bySpace: [Key: Entry] = [:]
    }

    private let entries = Lock(Entries())
    /// How often the storage was changed, so that a session can tell whether it must look again.
    private let changes = Atomic<Int>(0)
    /// How many credentials there are, so that a session that finds none does not take the lock.
    private let count = Atomic<Int>(0)
    private static let notifying = DispatchQueue(label: "AFURLSession.credentials")

    /// The storage of sessions whose configuration names no other.
    public static let shared = URLCredentialStorage()

    /// An empty storage of its own.
    public override init() {}

    // MARK: - Reading

    /// All credentials: for each space, by user. A credential without a user, such as a token, has an empty name.
    public var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
        entries.withLock { entries in
            let spaces = entries.bySpace.values.map { ($0.space, URLCredentialStorage.byUser($0.credentials)) }
            return Dictionary(spaces) { first, _ in first }
        }
    }

    /// The credentials for a space by user, nil if there are none.
    public func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        entries.withLock { $0.bySpace[Key(space)].map { URLCredentialStorage.byUser($0.credentials) } }
    }

    /// The default of a space: the credential that was set as such, or else the first that was set.
    public func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        entries.withLock { $0.bySpace[Key(space)]?.preferred }
    }

    // MARK: - Changing

    /// Keeps a credential for a space, in place of the one of the same user. The first of a space is its default. A
    /// credential of persistence `none` and the decision to trust a server are not kept.
    public func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        if keep(credential, for: space, asDefault: false) { post() }
    }

    /// Keeps a credential for a space and makes it the default, which is used where no delegate chooses another.
    public func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        if keep(credential, for: space, asDefault: true) { post() }
    }

    /// Removes a credential, as ``remove(_:for:options:)`` does without options.
    public func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: nil)
    }

    /// Removes the credential of this user from a space.
    ///
    /// - Parameters:
    ///   - credential: Only its user is compared. A credential of persistence `synchronizable` is removed only with the
    ///     option for it.
    ///   - space: The space to remove it from.
    ///   - options: `NSURLCredentialStorageRemoveSynchronizableCredentials` with `true`, or nothing.
    public func remove(
        _ credential: URLCredential,
        for space: URLProtectionSpace,
        options: [String: AnyObject]? = [:]
    ) {
        let mayRemoveSynchronizable = options?[NSURLCredentialStorageRemoveSynchronizableCredentials] as? Bool ?? false
        let user = URLCredentialStorage.name(of: credential)
        // Released outside the lock.
        var removed: Entry?
        let hasChanged = entries.withLock { entries in
            let key = Key(space)
            guard var entry = entries.bySpace[key], let index = entry.index(of: user) else { return false }
            guard entry.credentials[index].persistence != .synchronizable || mayRemoveSynchronizable else {
                return false
            }
            removed = entry
            entry.credentials.remove(at: index)
            if entry.preferred.map(URLCredentialStorage.name) == user { entry.preferred = nil }
            entries.bySpace[key] = entry.credentials.isEmpty ? nil : entry
            return true
        }
        _ = removed
        guard hasChanged else { return }
        count.subtract(1, ordering: .relaxed)
        changes.add(1, ordering: .releasing)
        post()
    }

    /// - Returns: Whether the storage has changed.
    private func keep(_ credential: URLCredential, for space: URLProtectionSpace, asDefault: Bool) -> Bool {
        guard credential.persistence != .none, credential.trust == nil else { return false }
        let user = URLCredentialStorage.name(of: credential)
        var replaced: Entry?
        let (isNew, hasChanged) = entries.withLock { entries in
            let key = Key(space)
            var entry = entries.bySpace[key] ?? Entry(space: space)
            replaced = entry
            defer { entries.bySpace[key] = entry }
            let former = entry.preferred
            let becomesDefault = asDefault || former.map { URLCredentialStorage.name(of: $0) == user } ?? true
            if becomesDefault { entry.preferred = credential }
            guard let index = entry.index(of: user) else {
                entry.credentials.append(credential)
                return (true, true)
            }
            let isSame = entry.credentials[index] == credential && (!becomesDefault || former == credential)
            entry.credentials[index] = credential
            return (false, !isSame)
        }
        _ = replaced
        if isNew { count.add(1, ordering: .relaxed) }
        if hasChanged { changes.add(1, ordering: .releasing) }
        return hasChanged
    }

    private func post() {
        NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self)
    }

    /// Posts a change that a session makes, off the network thread: observers are code of the program.
    private func postElsewhere() {
        URLCredentialStorage.notifying.async { [self] in post() }
    }

    private static func byUser(_ credentials: [URLCredential]) -> [String: URLCredential] {
        Dictionary(credentials.map { ($0.user ?? "", $0) }) { first, _ in first }
    }

    private static func name(of credential: URLCredential) -> [UInt8] {
        credential.secretPassword?.user.withBytes { Array($0) } ?? []
    }
}

// MARK: - For the loading system

extension URLCredentialStorage {
    package var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    package func removeAll() {
        // Released outside the lock.
        var removed: [Key: Entry] = [:]
        entries.withLock { swap(&$0.bySpace, &removed) }
        guard !removed.isEmpty else { return }
        count.subtract(removed.values.reduce(0) { $0 + $1.credentials.count }, ordering: .relaxed)
        changes.add(1, ordering: .releasing)
        postElsewhere()
    }

    /// Rises with every change.
    package var generation: Int { changes.load(ordering: .acquiring) }

    /// Whether the storage still keeps exactly this credential for the space.
    func holds(_ credential: URLCredential, for space: URLProtectionSpace) -> Bool {
        entries.withLock { $0.bySpace[Key(space)]?.credentials.contains(credential) ?? false }
    }

    /// The credential to use where no delegate chooses: of this user if one is named, else the default, else the only
    /// one.
    package func choice(for space: URLProtectionSpace, user: [UInt8]?) -> URLCredential? {
        guard !isEmpty else { return nil }
        return entries.withLock { entries in
            guard let entry = entries.bySpace[Key(space)] else { return nil }
            if let user { return entry.index(of: user).map { entry.credentials[$0] } }
            return entry.preferred ?? (entry.credentials.count == 1 ? entry.credentials.first : nil)
        }
    }

    /// Keeps a credential that a delegate gave and a server accepted. The default stays.
    package func learn(_ credential: URLCredential, for space: URLProtectionSpace) {
        guard !holds(credential, for: space) else { return }
        if keep(credential, for: space, asDefault: false) { postElsewhere() }
    }
}

/// For ``URLCredentialStorage/remove(_:for:options:)``: whether credentials of persistence `synchronizable` are
/// removed.
public let NSURLCredentialStorageRemoveSynchronizableCredentials =
    "NSURLCredentialStorageRemoveSynchronizableCredentials"

extension NSNotification.Name {
    /// A ``URLCredentialStorage``, the object of the notification, has changed. Posted once for each change, before the
    /// method that makes it returns; setting an equal credential again changes nothing. Changes that a session makes
    /// are posted on a queue of the storages' own.
    public static let NSURLCredentialStorageChanged = NSNotification.Name("NSURLCredentialStorageChangedNotification")
}
