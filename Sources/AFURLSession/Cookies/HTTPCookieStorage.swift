import AFBase
import AFLoop
import AFWire
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
    struct State {
        var jar: CookieJar
        var policy = HTTPCookie.AcceptPolicy.always
        /// The rules by which the cookies in the jar were judged.
        var suffixes: PublicSuffixes
        /// The cookies that arrived before the public suffix list was read. They are judged once the list was read, or
        /// could not be.
        var waiting: [CookieArrival] = []
        var refused = 0
        /// A notification of a change is about to be posted.
        var isAnnounced = false
    }

    /// The store of all sessions with a default configuration, in memory.
    public static let shared = HTTPCookieStorage()

    private static let groups = Lock<[String: HTTPCookieStorage]>([:])

    // MARK: Constants

    private let source: PublicSuffixSource
    private let clock: @Sendable () -> Int64
    private let writer: CookieWriter?

    // MARK: Guarded

    private let state: Lock<State>
    /// How many cookies there are, including those that wait. Read before the lock is taken: most programs never get a
    /// cookie.
    private let count = Atomic<Int>(0)
    /// How many responses wait for the public suffix list.
    private let waitingCount = Atomic<Int>(0)

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

    init(
        file: URL? = nil,
        delay: DispatchTimeInterval = .milliseconds(500),
        limits: CookieLimits = .standard,
        source: PublicSuffixSource,
        clock: @escaping @Sendable () -> Int64 = { Date.nowInSeconds }
    ) {
        self.source = source
        self.clock = clock
        writer = file.map { CookieWriter($0, delay: delay) }
        var jar = CookieJar(limits: limits)
        let kept = writer?.read() ?? []
        // Most programs never get a cookie, and need no list.
        let suffixes = kept.isEmpty ? source.known : source.loaded
        for cookie in kept { jar.restore(cookie, now: clock(), suffixes: suffixes) }
        count.store(jar.count, ordering: .relaxed)
        state = Lock(State(jar: jar, suffixes: suffixes))
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
        _ body: (inout State) -> Value,
        isChange: (Value) -> Bool
    ) -> Value {
        let (value, hasChanged, mustAnnounce) = state.withLock { state in
            let hasAdopted = suffixes.map { state.adopt($0) } ?? false
            let value = body(&state)
            count.store(state.jar.count + state.waiting.count, ordering: .relaxed)
            waitingCount.store(state.waiting.count, ordering: .relaxed)
            let hasChanged = isChange(value) || hasAdopted
            let mustAnnounce = hasChanged && !state.isAnnounced
            if mustAnnounce { state.isAnnounced = true }
            return (value, hasChanged, mustAnnounce)
        }
        if mustAnnounce { announceChange() }
        if hasChanged { writer?.scheduleWrite { self.snapshot() } }
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
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// Whether cookies wait for the public suffix list. Takes no lock.
    var hasWaiting: Bool { waitingCount.load(ordering: .relaxed) > 0 }

    /// Makes sure that no cookie has to wait from now on. Waits for the disk, once in a process.
    package func readSuffixes() { _ = source.loaded }

    /// Judges the cookies that wait for the public suffix list. Waits for the disk, if there are any.
    func judgeWaiting() {
        if hasWaiting { judge(by: source.loaded) }
    }

    /// Calls back, on a queue of the library's own, when all waiting cookies are judged. Never waits.
    func whenJudged(_ body: @escaping @Sendable () -> Void) {
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

extension HTTPCookieStorage.State {
    /// Uses these rules from now on: drops the cookies that they forbid, and judges those that wait.
    fileprivate mutating func adopt(_ suffixes: PublicSuffixes) -> Bool {
        var hasChanged = false
        if suffixes !== self.suffixes {
            self.suffixes = suffixes
            let before = jar.count
            jar.judge(by: suffixes)
            hasChanged = jar.count != before
        }
        guard !waiting.isEmpty else { return hasChanged }
        for arrival in waiting where take(arrival).hasChanged { hasChanged = true }
        waiting = []
        return hasChanged
    }
}

// MARK: - For the network thread

extension HTTPCookieStorage {
    /// The value of the `Cookie` field of a request, byte for byte as the cookies were received; nil if none is sent.
    /// It reads memory only, and takes a few instructions if there are no cookies.
    func cookieFieldBytes(for question: CookieQuestion, now: Int64) -> [UInt8]? {
        if isEmpty { return nil }
        return work(by: source.current) { state -> (field: [UInt8]?, hasEnded: Bool) in
            let hasEnded = state.jar.advance(to: now)
            guard question.isAllowed(by: state.policy, state.suffixes) else { return (nil, hasEnded) }
            return (state.jar.field(for: question, now: now, suffixes: state.suffixes), hasEnded)
        } isChange: {
            $0.hasEnded
        }.field
    }

    /// ``cookieFieldBytes(for:now:)`` as text. The bytes are UTF-8 unless a server has sent cookies that are not.
    func cookieField(for question: CookieQuestion, now: Int64) -> String? {
        cookieFieldBytes(for: question, now: now).map { HTTPText.decode($0) }
    }

    /// Stores the cookies of a response, each line separately.
    ///
    /// - Returns: How many were refused.
    @discardableResult
    func receive(_ lines: [[UInt8]], for question: CookieQuestion, now: Int64) -> Int {
        if lines.isEmpty { return 0 }
        var batch = CookieBatch()
        for line in lines { line.withUnsafeBytes { batch.add($0) } }
        return store(batch, question, now)
    }

    /// Stores the cookies of a response. Takes a few instructions if it has none.
    ///
    /// - Returns: How many were refused.
    @discardableResult
    func receive(_ headers: HTTPHeaders, for question: CookieQuestion, now: Int64) -> Int {
        var batch = CookieBatch()
        headers.forEachValue(of: "Set-Cookie") { batch.add($0) }
        return batch.isEmpty ? 0 : store(batch, question, now)
    }

    private func store(_ batch: CookieBatch, _ question: CookieQuestion, _ now: Int64) -> Int {
        let arrival = CookieArrival(batch: batch, question: question, time: now)
        let suffixes = source.current
        let refused = work(by: suffixes) { state -> (refused: Int, hasChanged: Bool) in
            if suffixes != nil { return state.take(arrival) }
            state.waiting.append(arrival)
            return (0, false)
        } isChange: {
            $0.hasChanged
        }.refused
        if suffixes == nil { whenJudged {} }
        return refused
    }
}

extension HTTPCookieStorage.State {
    fileprivate mutating func take(_ arrival: CookieArrival) -> (refused: Int, hasChanged: Bool) {
        var refused = arrival.batch.refused
        var hasChanged = jar.advance(to: arrival.time)
        let isAllowed = arrival.question.isAllowed(by: policy, suffixes)
        for cookie in arrival.batch.cookies {
            do throws(CookieRefusal) {
                guard isAllowed else { throw CookieRefusal.policy }
                if try store(cookie, arrival.question, arrival.time) { hasChanged = true }
            } catch {
                refused += 1
            }
        }
        self.refused += refused
        return (refused, hasChanged)
    }

    fileprivate mutating func store(
        _ cookie: SetCookie,
        _ question: CookieQuestion,
        _ now: Int64
    ) throws(CookieRefusal) -> Bool {
        let content = try CookieAdmission.admit(
            cookie,
            from: question,
            now: now,
            suffixes: suffixes,
            limits: jar.limits
        )
        return try jar.store(content, isSecured: question.isSecured, now: now, suffixes: suffixes)
    }
}

/// The cookies of a response, the time it was received, and where it came from.
struct CookieArrival: Sendable {
    fileprivate let batch: CookieBatch
    fileprivate let question: CookieQuestion
    fileprivate let time: Int64
}

/// The cookies of one response, parsed before the lock is taken.
private struct CookieBatch {
    private(set) var cookies: [SetCookie] = []
    private(set) var refused = 0

    var isEmpty: Bool { cookies.isEmpty && refused == 0 }

    mutating func add(_ line: UnsafeRawBufferPointer) {
        guard cookies.count < CookieLimits.standard.perResponse, let cookie = try? SetCookieParser.parse(line) else {
            refused += 1
            return
        }
        cookies.append(cookie)
    }
}

// MARK: - For programs

extension HTTPCookieStorage {
    /// The sites whose cookies are stored and sent: all, unless set. The session has a policy of its own
    /// (``URLSessionConfiguration/httpCookieAcceptPolicy``), and the stricter one counts.
    public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { state.withLock { $0.policy } }
        set {
            let isNew = state.withLock { state in
                defer { state.policy = newValue }
                return state.policy != newValue
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

    func cookies(for question: CookieQuestion) -> [HTTPCookie] {
        if isEmpty { return [] }
        let now = clock()
        return work(by: source.loaded) { state -> (cookies: [StoredCookie], hasEnded: Bool) in
            let hasEnded = state.jar.advance(to: now)
            guard question.isAllowed(by: state.policy, state.suffixes) else { return ([], hasEnded) }
            return (state.jar.cookies(for: question, now: now, suffixes: state.suffixes), hasEnded)
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
        _ = work(by: source.loaded) { state -> Bool in
            var hasChanged = state.jar.advance(to: now)
            for cookie in cookies {
                let isNew = try? state.store(cookie.content, question, now)
                if isNew == nil { state.refused += 1 }
                if isNew == true { hasChanged = true }
            }
            return hasChanged
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
        _ = work(by: source.current) { state -> Bool in
            let before = state.jar.count
            state.waiting.removeAll { $0.time >= first }
            state.jar.removeAll { $0.created >= first }
            return state.jar.count != before
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

extension HTTPCookieStorage.State {
    fileprivate mutating func store(
        _ content: CookieContent,
        _ question: CookieQuestion?,
        _ now: Int64
    ) throws(CookieRefusal) -> Bool {
        guard let question else {
            if policy == .never { throw .policy }
            try CookieAdmission.check(content, suffixes: suffixes)
            return try jar.store(content, isSecured: true, now: now, suffixes: suffixes)
        }
        guard question.isAllowed(by: policy, suffixes) else { throw .policy }
        try CookieAdmission.check(content, from: question, suffixes: suffixes)
        return try jar.store(content, isSecured: question.isSecured, now: now, suffixes: suffixes)
    }
}

// MARK: - The file

extension HTTPCookieStorage {
    /// The error of the last reading or writing of the file; nil if that succeeded, or there is no file.
    public var fileError: CookieFileError? { writer?.error }

    /// Writes the file now, if there are changes. Waits for the disk.
    ///
    /// Throws a ``CookieFileError`` if the file does not hold the cookies afterwards. Does nothing for a store in
    /// memory.
    public func flush() throws {
        guard let writer else { return }
        judgeWaiting()
        try writer.flush { self.snapshot() }
    }
}
