import AFBase
import AFLoop
import AFRequest
import AFState
package import AFWire
import Dispatch
public import Foundation
import Synchronization

/// Keeps cookies, and selects those that go with a request.
///
/// Safe to use from any thread. A store is in memory, and ends with its last reference, unless it was made with
/// ``init(fileURL:)``: no file is written that the program did not ask for.
///
/// ```swift
/// let configuration = URLSessionConfiguration.default
/// configuration.httpCookieStorage = HTTPCookieStorage(fileURL: folder.appendingPathComponent("cookies"))
/// ```
///
/// A store takes 50 cookies for each domain and 3000 in all, of 4096 bytes each, for 400 days. Beyond that, cookies
/// that are not secured are dropped first, and of those the ones that were not used for longest.
public final class HTTPCookieStorage: NSObject, Sendable {
    /// The store of all sessions with a default configuration, in memory.
    public static let shared = HTTPCookieStorage()

    private static let groups = Lock<[String: HTTPCookieStorage]>([:])

    // MARK: Constants

    private let source: PublicSuffixSource
    private let clock: @Sendable () -> Int64
    private let writer: CookieWriter?

    // MARK: Guarded

    private let state: Lock<CookieState>
    /// How many cookies there are, including those that wait. Read before the lock is taken: most programs never get a
    /// cookie.
    private let count = Atomic<Int>(0)
    /// How many responses wait for the public suffix list.
    private let waitingCount = Atomic<Int>(0)
    private let epochNumber: Atomic<UInt32>

    /// Makes a store in memory.
    public convenience override init() {
        self.init(file: nil)
    }

    /// Makes a store that also keeps its cookies in a file, except those that end with their session.
    ///
    /// The file is read here, on the calling thread, and written on another: half a second after a change, or when
    /// ``flush()`` is called. Only its owner may read and write it (mode 0600). It is never changed but replaced, so
    /// that at any moment the old or the new file is there. Where two processes use one file, the last that writes
    /// wins.
    ///
    /// If the file exists and cannot be used, the store begins empty, and ``fileError`` says why.
    ///
    /// - Parameter fileURL: The file, which need not exist. Its folder must exist.
    public convenience init(fileURL: URL) {
        self.init(file: fileURL)
    }

    package convenience init(
        file: URL?,
        delay: DispatchTimeInterval = .milliseconds(500),
        clock: @escaping @Sendable () -> Int64 = { Date.nowInSeconds }
    ) {
        self.init(file: file, delay: delay, source: .system, clock: clock)
    }

    package init(
        file: URL? = nil,
        delay: DispatchTimeInterval = .milliseconds(500),
        limits: CookieLimits = .standard,
        source: PublicSuffixSource,
        clock: @escaping @Sendable () -> Int64 = { Date.nowInSeconds }
    ) {
        self.source = source
        self.clock = clock
        writer = file.map { file in
            CookieWriter(
                path: file.isFileURL ? file.absoluteURL.path : file.absoluteString,
                isFile: file.isFileURL,
                delay: delay
            )
        }
        var jar = CookieJar(limits: limits)
        let kept = writer?.read() ?? []
        // Most programs never get a cookie, and need no list.
        let suffixes = kept.isEmpty ? source.known : source.loaded
        for cookie in kept { jar.restore(cookie, now: clock(), suffixes: suffixes) }
        count.store(jar.count, ordering: .relaxed)
        epochNumber = Atomic(jar.epoch.number)
        state = Lock(CookieState(jar: jar, suffixes: suffixes))
        super.init()
    }

    /// The store of a group of programs, the same one for the same name within a process. It is in memory: processes
    /// share no cookies.
    public class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
        let storage = HTTPCookieStorage()
        return groups.withLock { groups in
            if let first = groups[identifier] { return first }
            groups[identifier] = storage
            return storage
        }
    }

    // MARK: - Working on the jar

    /// Runs `body` under the lock, by these rules, and posts a notification afterwards if the cookies have changed.
    ///
    /// - Parameter suffixes: Nil while the list is being read. The jar is empty then, and cookies that arrive have to
    ///   wait.
    private func work<Value>(
        by suffixes: PublicSuffixes?,
        body: (inout CookieState) -> Value,
        isChange: (Value) -> Bool
    ) -> Value {
        let (value, mustAnnounce) = state.withLock { state in
            let hasAdopted = suffixes.map { state.adopt($0) } ?? false
            let value = body(&state)
            count.store(state.jar.count + state.waitingCount, ordering: .relaxed)
            waitingCount.store(state.waitingCount, ordering: .relaxed)
            epochNumber.store(state.jar.epoch.number, ordering: .relaxed)
            let hasChanged = isChange(value) || hasAdopted
            let mustAnnounce = hasChanged && !state.isAnnounced
            if mustAnnounce { state.isAnnounced = true }
            // Under the lock, so that a thread that sees the change, and flushes, has it written.
            if hasChanged { writer?.scheduleWrite { self.snapshot() } }
            return (value, mustAnnounce)
        }
        if mustAnnounce { announceChange() }
        return value
    }

    /// The cookies, sorted without the lock.
    private func snapshot() -> [StoredCookie] { state.withLock { $0.jar }.cookies }

    private func announceChange() {
        CookieNotifications.queue.async {
            self.state.withLock { $0.isAnnounced = false }
            NotificationCenter.default.post(name: .NSHTTPCookieManagerCookiesChanged, object: self)
        }
    }

    /// How many cookies there are. It contains no names and no values.
    public override var description: String {
        let (cookies, domains) = state.withLock { ($0.jar.count, $0.jar.domains.count) }
        return "HTTPCookieStorage(\(cookies) cookies, \(domains) domains)"
    }

    /// Whether the store has no cookies. Takes no lock.
    package var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// Another one after a cookie was removed and none took its place. Takes no lock.
    package var epoch: CookieEpoch { CookieEpoch(number: epochNumber.load(ordering: .relaxed)) }

    /// Whether cookies wait for the public suffix list. Takes no lock.
    package var hasWaiting: Bool { waitingCount.load(ordering: .relaxed) > 0 }

    /// Makes sure that no cookie has to wait from now on. Waits for the disk, once in a process.
    package func readSuffixes() { _ = source.loaded }

    /// Judges the cookies that wait for the public suffix list. Waits for the disk, if there are any.
    package func judgeWaiting() {
        if hasWaiting { judge(by: source.loaded) }
    }

    /// Calls back, on a queue of the library's own, when all waiting cookies are judged. Never waits.
    package func whenJudged(_ body: @escaping @Sendable () -> Void) {
        source.whenLoaded { [self] in
            judge(by: source.current)
            body()
        }
    }

    private func judge(by suffixes: PublicSuffixes?) {
        work(by: suffixes) { _ in
        } isChange: {
            false
        }
    }
}

// MARK: - For the network thread

extension HTTPCookieStorage {
    /// The value of the `Cookie` field of a request, byte for byte as the cookies were received; nil if none is sent.
    /// It reads memory only, and takes a few instructions if there are no cookies.
    package func cookieFieldBytes(for question: CookieQuestion, now: Int64) -> [UInt8]? {
        if isEmpty { return nil }
        return work(by: source.current) { state in
            state.field(for: question, now: now)
        } isChange: {
            $0.hasEnded
        }.field
    }

    /// ``cookieFieldBytes(for:now:)`` as text. The bytes are UTF-8 unless a server has sent cookies that are not.
    package func cookieField(for question: CookieQuestion, now: Int64) -> String? {
        cookieFieldBytes(for: question, now: now).map { HTTPText.decode($0) }
    }

    /// Stores the cookies of a response, each line separately.
    ///
    /// - Returns: How many were refused.
    @discardableResult
    package func receive(_ lines: [[UInt8]], for question: CookieQuestion, now: Int64) -> Int {
        CookieArrival(lines, from: question, at: now).map { store($0) } ?? 0
    }

    /// Stores the cookies of a response. Takes a few instructions if it has none.
    ///
    /// - Returns: How many were refused.
    @discardableResult
    package func receive(_ headers: HTTPHeaders, for question: CookieQuestion, now: Int64) -> Int {
        CookieArrival(headers, from: question, at: now).map { store($0) } ?? 0
    }

    private func store(_ arrival: CookieArrival) -> Int {
        let suffixes = source.current
        let refused = work(by: suffixes) { state -> (refused: Int, hasChanged: Bool) in
            if suffixes != nil { return state.take(arrival) }
            state.postpone(arrival)
            return (0, false)
        } isChange: {
            $0.hasChanged
        }.refused
        if suffixes == nil { whenJudged {} }
        return refused
    }
}

// MARK: - For programs

extension HTTPCookieStorage {
    /// The sites whose cookies are stored and sent: all, unless set. The session has a policy of its own
    /// (``/AFURLSession/URLSessionConfiguration/httpCookieAcceptPolicy``), and the stricter one counts.
    public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { HTTPCookie.AcceptPolicy(state.withLock { $0.policy }) }
        set {
            let policy = CookiePolicy(newValue)
            let isNew = state.withLock { state in
                defer { state.policy = policy }
                return state.policy != policy
            }
            guard isNew else { return }
            CookieNotifications.queue.async {
                NotificationCenter.default.post(name: .NSHTTPCookieManagerAcceptPolicyChanged, object: self)
            }
        }
    }

    /// All cookies, in the order in which they were first stored. Never nil.
    public var cookies: [HTTPCookie]? {
        if isEmpty { return [] }
        let now = clock()
        return work(by: source.loaded) { state -> (cookies: [StoredCookie], hasEnded: Bool) in
            let hasEnded = state.jar.advance(to: now)
            return (state.jar.cookies, hasEnded)
        } isChange: {
            $0.hasEnded
        }.cookies.map { HTTPCookie($0.content) }
    }

    /// The cookies that would be sent to a URL, in that order. Nil if the session could not load the URL.
    public func cookies(for url: URL) -> [HTTPCookie]? {
        CookieQuestion(url).map { cookies(for: $0) }
    }

    package func cookies(for question: CookieQuestion) -> [HTTPCookie] {
        if isEmpty { return [] }
        let now = clock()
        return work(by: source.loaded) { state in
            state.cookies(for: question, now: now)
        } isChange: {
            $0.hasEnded
        }.cookies.map { HTTPCookie($0.content) }
    }

    /// Stores a cookie of the program's own, in place of the one with its name, domain and path. A cookie that has
    /// ended removes that one.
    ///
    /// Does nothing if the policy is `never`, or if the domain is a public suffix (`.com`, `.co.uk`).
    public func setCookie(_ cookie: HTTPCookie) {
        store([cookie], for: nil)
    }

    /// Stores cookies that came with a response.
    ///
    /// Cookies that ``cookieAcceptPolicy`` forbids, or that a server at that URL may not set, are not stored.
    ///
    /// - Parameters:
    ///   - cookies: The cookies, for example of ``HTTPCookie/cookies(withResponseHeaderFields:for:)``.
    ///   - url: The URL of the response. Nil: the cookies are the program's own.
    ///   - mainDocumentURL: The main document of the response; nil if the response is its own.
    public func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        guard let url else { return store(cookies, for: nil) }
        guard let question = CookieQuestion(url, mainDocument: .init(mainDocumentURL)) else { return }
        store(cookies, for: question)
    }

    private func store(_ cookies: [HTTPCookie], for question: CookieQuestion?) {
        let now = clock()
        _ = work(by: source.loaded) { state in
            state.store(cookies.map(\.content), for: question, now: now)
        } isChange: {
            $0
        }
    }

    /// Removes the cookie of the same name, domain and path.
    public func deleteCookie(_ cookie: HTTPCookie) {
        if isEmpty { return }
        _ = work(by: source.loaded) {
            $0.jar.remove(cookie.content.key) != nil
        } isChange: {
            $0
        }
    }

    /// Removes all cookies that were first stored at that time or later, to the second.
    public func removeCookies(since date: Date) {
        let first = date.wholeSeconds
        if isEmpty { return }
        // `SessionCore.reset` calls this on the network thread too: cookies that wait are removed without being judged.
        _ = work(by: source.current) { state in
            state.removeAll(since: first)
        } isChange: {
            $0
        }
    }

    /// All cookies in the order you name, for example `[NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: true)]`.
    public func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
        (cookies ?? []).sorted { one, other in
            for descriptor in sortOrder {
                switch descriptor.compare(one, to: other) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }

    /// How many cookies were refused since the store was made, because no server may set them, they are malformed or
    /// too large, or a policy forbids them.
    public var refusedCookieCount: Int {
        judgeWaiting()
        return state.withLock { $0.refused }
    }
}

// MARK: - The file

extension HTTPCookieStorage {
    /// The error of the last reading or writing of the file; nil if that succeeded, or there is no file.
    public var fileError: CookieFileError? { writer?.error }

    /// Writes the file now, if there are changes. Waits for the disk.
    ///
    /// Throws a ``/AFState/CookieFileError`` if the file does not hold the cookies afterwards. Does nothing for a store
    /// in memory.
    public func flush() throws {
        guard let writer else { return }
        // Asked under the lock: another thread may be judging them.
        if state.withLock({ $0.waitingCount > 0 }) { judge(by: source.loaded) }
        try writer.flush { self.snapshot() }
    }
}

extension NSNotification.Name {
    /// Cookies of an ``HTTPCookieStorage`` were stored, removed or have ended. One notification may stand for several
    /// changes. The object is the storage. Posted on a queue of the library's own.
    public static let NSHTTPCookieManagerCookiesChanged = NSNotification.Name(
        "NSHTTPCookieManagerCookiesChangedNotification"
    )
    /// The accept policy of an ``HTTPCookieStorage``, the object, has changed. Posted on a queue of the library's own.
    public static let NSHTTPCookieManagerAcceptPolicyChanged =
        NSNotification.Name("NSHTTPCookieManagerAcceptPolicyChangedNotification")
}

package enum CookieNotifications {
    /// Observers are code of the program: they run neither on the network thread nor under a lock.
    package static let queue = DispatchQueue(label: "AFURLSession.cookies.changed")
}

extension HTTPCookieStorage {
    /// The public suffix list that this process uses: it names the domains under which other parties register names, so
    /// that no server may set cookies for them. Nil before the first cookie of the process, which makes the library
    /// read the list. Nil also if no list is installed (`apt-get install publicsuffix`): then built-in rules apply.
    public static var publicSuffixList: URL? {
        switch PublicSuffixSource.system.origin {
        case .builtIn: nil
        case .file(let path): URL(fileURLWithPath: path)
        }
    }

    /// The errors of the installed lists, if none could be read. Each list is tried once.
    public static var publicSuffixListFailures: [PublicSuffixFailure] { PublicSuffixSource.system.failures }

    /// Uses another public suffix list from now on, for all stores of the process. Each store drops the cookies that
    /// the list forbids when it is next used. Waits for the disk.
    ///
    /// Throws a ``/AFState/PublicSuffixFailure`` if the file is no complete list; then nothing changes.
    public static func usePublicSuffixList(at url: URL) throws {
        guard url.isFileURL else { throw PublicSuffixFailure(path: url.absoluteString, fault: .notAFileURL) }
        try PublicSuffixSource.system.replace(withFileAt: url.absoluteURL.path)
    }
}

extension HTTPCookieStorage {
    /// Stores the cookies of a response from its `Set-Cookie` fields, as a session does.
    ///
    /// - Parameters:
    ///   - fields: The values of the fields, one for each line.
    ///   - url: The URL of the response. If the session could not load it, no cookie is stored.
    ///   - date: When the response was received: `Max-Age` counts from then.
    /// - Returns: How many were refused.
    @discardableResult
    public func storeCookies(fromFields fields: [String], of url: URL, at date: Date = Date()) -> Int {
        guard let question = CookieQuestion(url) else { return fields.count }
        readSuffixes()
        return receive(fields.map { Array($0.utf8) }, for: question, now: date.wholeSeconds)
    }

    /// The value of the `Cookie` field that a session would send to a URL. Nil if it would send none.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - date: When the request is sent: cookies that have ended by then are removed for good.
    public func cookieField(for url: URL, at date: Date = Date()) -> String? {
        judgeWaiting()
        return CookieQuestion(url).flatMap { cookieField(for: $0, now: date.wholeSeconds) }
    }
}
