import AFBase
import AFLoop
import AFRequest
import AFState
import AFWire
public import Foundation

/// Keeps responses, in memory and on disk, to answer later requests.
///
/// ```swift
/// let configuration = URLSessionConfiguration.default
/// configuration.urlCache = URLCache(memoryCapacity: 8 << 20, diskCapacity: 100 << 20, directory: folder)
/// let session = URLSession(configuration: configuration)
/// ```
///
/// Sessions use it by the rules of HTTP (RFC 9111) as the private cache of one user. The methods here ignore all dates.
/// Responses of more than a twentieth of the capacity are not stored, and those used longest ago are removed first.
/// Several caches, and several processes, may share a folder.
///
/// A request whose field `Host` names another host than its URL asks for another resource, so it has entries of its
/// own. This also holds for the methods here, if the request itself has the field.
///
/// A response answers only requests that name the same user, in whatever field, unless its server calls it `public`. One for
/// a user is never written to disk, unless ``keepsPersonalResponsesOnDisk`` is set.
///
/// Safe to use from any thread. Methods that look at the disk wait for it. Not open to subclasses: sessions store more
/// than these methods could be given, and would not call methods that were overridden.
public final class URLCache: NSObject, Sendable {
    package let store: CacheStore
    /// Why there is no folder, although the program asked for room on the disk.
    private let refusal: CacheHome.Refusal?

    /// The capacities of the shared cache of a program.
    private static let sharedCapacities = (memory: 4 << 20, disk: 20 << 20)
    private static let replacement = Lock<URLCache?>(nil)
    private static let standard = URLCache(
        memoryCapacity: sharedCapacities.memory,
        diskCapacity: sharedCapacities.disk,
        directory: nil
    )

    /// The cache of sessions whose configuration names no other: 4 MiB in memory, and 20 MiB on disk in a folder of the
    /// program's in the user's folder for caches.
    ///
    /// A cache that you set is used by sessions that you make later, and by loads that begin later in
    /// ``/AFURLSession/URLSession/shared``, in connections and in operations.
    public class var shared: URLCache {
        get { replacement.withLock { $0 } ?? standard }
        set { replacement.withLock { $0 = newValue } }
    }

    /// A cache with limits in bytes; 0 keeps nothing there.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The most bytes that are kept in memory.
    ///   - diskCapacity: The most bytes that are kept on disk.
    ///   - directory: The folder in which the cache makes a folder of its own, for this user alone. It is made at first
    ///     use if it is missing, with the folders above it. Nil is a folder of this program's in the user's folder for
    ///     caches: that of `XDG_CACHE_HOME`, or `.cache` in the user's home. Nothing above these is ever made, and a
    ///     home that is missing or another user's is not used. If the folder cannot be used, or other users could
    ///     access it, the cache stays in memory only.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity) { () throws(CacheHome.Refusal) in
            guard let directory else { return try CacheHome.ofThisProgram.get() }
            return directory.isFileURL ? CacheHome(namedByProgram: directory.absoluteURL.path) : nil
        }
    }

    /// A cache with limits in bytes, and a folder by its path. A relative path is in this program's folder for caches.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity) { () throws(CacheHome.Refusal) in
            guard let path, path.utf8.first == UInt8(ascii: "/") else {
                return try CacheHome.ofThisProgram.get().folder(at: path ?? "")
            }
            return CacheHome(namedByProgram: path)
        }
    }

    /// - Parameter chooseHome: The folder to use, if the cache is to have one.
    private init(
        memoryCapacity: Int,
        diskCapacity: Int,
        chooseHome: () throws(CacheHome.Refusal) -> CacheHome?
    ) {
        let home = Result { () throws(CacheHome.Refusal) in diskCapacity > 0 ? try chooseHome() : nil }
        if case .failure(let refusal) = home { self.refusal = refusal } else { refusal = nil }
        let usable = try? home.get()
        store = CacheStore(
            memoryCapacity: memoryCapacity,
            diskCapacity: diskCapacity,
            home: usable,
            refused: { MissingCacheFolderWarning.shared.say(why: .unusable(usable?.path ?? "", $0)) }
        )
        super.init()
    }

    package init(store: CacheStore) {
        self.store = store
        refusal = nil
        super.init()
    }

    /// Called when a response is stored that a folder could keep.
    package func warnIfWithoutFolder() {
        if let refusal { MissingCacheFolderWarning.shared.say(why: refusal) }
    }

    // MARK: - Limits

    /// The most bytes that are kept in memory. Lowering it releases the responses that no longer fit.
    public var memoryCapacity: Int {
        get { store.memoryCapacity }
        set { store.setMemoryCapacity(newValue) }
    }

    /// The most bytes that are kept on disk. Lowering it removes the responses that no longer fit. A cache that was
    /// made without a capacity on disk has no folder, and stays in memory.
    public var diskCapacity: Int {
        get { store.diskCapacity }
        set { store.setDiskCapacity(newValue) }
    }

    /// How many bytes are kept in memory.
    public var currentMemoryUsage: Int { store.memoryUsage }

    /// How many bytes are kept on disk.
    public var currentDiskUsage: Int { store.diskUsage }

    /// The use and the capacity of memory. It contains no path and no URL, which may tell too much.
    public override var description: String {
        "URLCache(\(currentMemoryUsage) of \(memoryCapacity) bytes in memory, \(diskCapacity) on disk at most)"
    }

    // MARK: - What is kept

    /// Whether the cache guesses how long a response is fresh that does not say so: a tenth of the time since it was last
    /// modified, and a day at most (RFC 9111 §4.2.2), as browsers do. False unless set: the cache asks the server about such a
    /// response each time, and a change shows at once. It concerns responses that come from then on.
    public var guessesFreshness: Bool {
        get { store.options.contains(.guessesLifetimes) }
        set { store.choose(.guessesLifetimes, isChosen: newValue) }
    }

    /// Whether responses may go to disk that are for one user: those to requests that said who they are, by credentials,
    /// cookies, or any other field that may name a user. False unless set: such a response is in memory only. The folder
    /// then has a digest of what the request said, from which a short password can be found by trying.
    public var keepsPersonalResponsesOnDisk: Bool {
        get { store.options.contains(.keepsUsersOnDisk) }
        set { store.choose(.keepsUsersOnDisk, isChosen: newValue) }
    }

    /// Whether the program acts for one user, as an app or a command does. False unless set: the program may act for
    /// many, and any field of a request that is not known to say nothing of a user tells users apart, so that requests with
    /// a number in a field of their own (`X-Count: 7`) get no hits. If set, only credentials, cookies and fields with the
    /// names of secrets (``/AFState/SecretNames``) do. Set it before the first request: setting it back removes all
    /// responses.
    public var servesOneUser: Bool {
        get { store.options.contains(.servesOneUser) }
        set { store.choose(.servesOneUser, isChosen: newValue) }
    }

    // MARK: - Looking, storing, removing

    /// The stored response for a request, however old; nil if there is none.
    ///
    /// Of several responses to different header fields, the latest that matches those of the request. The cache does
    /// not answer requests for parts (`Range`).
    public func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let question = CacheRequest.of(request), question.method == .get || question.method == .head,
            !question.hasBody, !question.isPartial, let url = request.url
        else { return nil }
        let choose: ([CacheEntry]) -> CacheEntry? = { URLCache.latest($0, for: question) }
        let entry: CacheEntry? =
            switch store.glance(at: question.key, choose: choose) {
            case .nothing: nil
            case .found(let entry): entry
            case .unknown: store.load(question.key, choose: choose)
            }
        return entry?.cachedResponse(for: url)
    }

    /// Stores a response, in place of the stored one for such a request.
    ///
    /// It answers GET and HEAD requests for the URL. Responses to other methods and to requests for parts are not
    /// stored, nor is partial content (206), a response that forbids it, or one that depends on more than header fields
    /// (`Vary: *`).
    public func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        store(cachedResponse, for: request, under: .program)
    }

    /// Stores what was learned under this scope: it answers tasks that would have learned it under the same one.
    package func store(_ cachedResponse: CachedURLResponse, for request: URLRequest, under scope: TrustScope) {
        guard let question = CacheRequest.of(request),
            let entry = CacheEntry(cachedResponse, for: request, under: scope, at: store.now, options: store.options)
        else { return }
        if entry.mayGoToDisk { warnIfWithoutFolder() }
        store.insert(entry) { former in
            CacheRules.matches(former.head, request: question, under: scope, decodes: true)
        }
        store.catchUp()
    }

    /// Removes all stored responses for the URL of a request, and for its field `Host` if it has one, whatever its
    /// other header fields.
    public func removeCachedResponse(for request: URLRequest) {
        guard let url = request.url, let target = try? RequestURL(url.absoluteString) else { return }
        store.forget(CacheRequest.of(request)?.key ?? CacheKey(target))
        store.catchUp()
    }

    /// Removes all responses, also those that are being stored at this moment.
    public func removeAllCachedResponses() {
        store.forgetAll()
        store.catchUp()
    }

    /// Removes the responses that were received at a time or later.
    public func removeCachedResponses(since date: Date) {
        store.removeAll(since: date.wholeSeconds)
    }

    /// The program decides which of its requests a response may answer, so how a server was trusted does not count here.
    /// For whom a request asks does.
    private static func latest(_ entries: [CacheEntry], for question: CacheRequest) -> CacheEntry? {
        let mentioned = entries.filter { entry in
            let head = entry.head
            return head.key == question.key
                && head.partition.admits(question.identities)
                && head.vary.allSatisfy { field in
                    !question.headers.contains(field.name) || VaryField(field.name, of: question.headers) == field
                }
        }
        // The caller cannot use a body that still has its content coding.
        let readable = mentioned.filter { $0.head.isDecoded || !$0.head.headers.contains("Content-Encoding") }
        // Of two that were received in the same second, the one that is further behind is the later.
        return readable.reversed().max {
            ($0.head.responseTime, $0.head.requestTime) < ($1.head.responseTime, $1.head.requestTime)
        }
    }
}

extension URLCache {
    /// Where a response may be kept.
    @nonexhaustive
    public enum StoragePolicy: UInt, Sendable {
        /// In memory and on disk.
        case allowed = 0
        /// In memory.
        case allowedInMemoryOnly = 1
        /// Nowhere.
        case notAllowed = 2
    }
}
