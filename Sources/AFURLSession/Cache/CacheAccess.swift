import AFBase
import AFLoop
import AFState
import AFTransport
import AFWire
import Foundation

/// Asks and fills the cache for the tasks of a session. Confined to the loop, and never waits: its own worker does what
/// may wait for the disk.
///
/// One per `SessionCore`. `CacheStep` looks each request up, and judges the answers of servers that it asked about stored
/// responses. `Load+Storing` stores what the task gets. `CacheRefresh` does both for a response that was served stale.
///
/// A 304 to a request that was sent without conditions of the cache goes to the task as it is. Do not give responses
/// from the cache to `note` or `beginStore`, nor their `Set-Cookie` to the cookie storage. Bodies are stored as the task
/// gets them: a hit passes by the decoder (`hit.isDecoded`).
final class CacheAccess: TimerTarget {
    /// How long stored responses wait until they are written.
    private static let patience = LoopInterval(.milliseconds(500))

    let cache: URLCache?
    private let world: World
    private var worker: (any BlockingWorker)?
    /// An inquiry gave up waiting for the disk, and the disk has answered none since.
    private var isDiskHanging = false
    private var isWritingSoon = false
    /// The worker has been told to bring the disk up to date and has not begun.
    private let isCatchingUp = Lock(false)

    init(cache: URLCache?, in world: World) {
        self.cache = cache
        self.world = world
    }

    deinit {
        // The session ends before its time to write.
        if isWritingSoon, let store { ownWorker().run { store.catchUp() } }
    }

    private var store: CacheStore? { cache?.store }

    private var now: CacheInstant { CacheAccess.now(in: world) }

    private static func now(in world: World) -> CacheInstant {
        CacheInstant(wall: world.wallClock().seconds, monotonic: world.loop.now.nanoseconds / 1_000_000_000)
    }

    /// Take it before a request is sent, to store the response.
    var ticket: CacheTicket { store?.ticket ?? .none }

    /// Whether the cache might have an answer to a request. Quick: for the requests of most programs it has none.
    func mayHelp(_ request: WireRequest, policy: URLRequest.CachePolicy) -> Bool {
        guard !request.opensWebSocket else { return false }
        guard policy == .useProtocolCachePolicy else { return true }
        guard request.head.method == "GET" || request.head.method == "HEAD" else { return false }
        // A request that only the cache may answer (`only-if-cached`) must fail even if nothing is stored.
        if request.mentionsCaches { return true }
        guard let store, !store.isInert else { return false }
        return store.mayAnswer(CacheRequest.of(request).key)
    }

    /// Whether the response to a request might have to be stored, or might replace a stored one. Quick as well.
    func mayStore(answerTo request: WireRequest) -> Bool {
        guard let store, request.head.method == "GET", !request.opensWebSocket else { return false }
        return store.bodyLimit > 0 || store.mayHoldOutdated
    }

    /// The time of an instant of the loop's clock, on both clocks.
    func moment(of instant: LoopInstant?) -> CacheInstant {
        guard let instant else { return now }
        let elapsed = instant.nanoseconds(to: world.loop.now)
        return CacheInstant(
            wall: world.wallClock().second(before: elapsed),
            monotonic: instant.nanoseconds / 1_000_000_000
        )
    }

    /// The time when a request is sent: pass it to ``confirm(_:_:sent:mayStore:)`` and to `beginStore`.
    func moment() -> CacheInstant { now }

    // MARK: - 1, 2: before a request is sent

    /// What a look-up comes to at once.
    enum Glance {
        case known(CacheFinding)
        /// Only the disk can tell: ask it.
        case onDisk(CacheLookUp)
    }

    /// Finds out where the answer comes from, as far as memory can tell.
    func glance(_ question: CacheQuestion) -> Glance {
        let frozen = question.request
        let isPlain =
            (store?.isInert ?? true) && question.policy == .useProtocolCachePolicy
            && !frozen.mentionsCaches
        if isPlain { return .known(.network(HTTPHeaders())) }
        let request = CacheRequest.of(frozen)
        let look = CacheLookUp(request: request, question: question, store: request.mayBeAnswered ? store : nil)
        guard let store, request.mayBeAnswered, look.mayBeAnswered else { return .known(look.finding(nil, now: now)) }
        return switch store.glance(at: request.key, choose: look.choose) {
        case .nothing: .known(look.finding(nil, now: now))
        case .found(let entry): .known(look.finding(entry, now: now))
        case .unknown: .onDisk(look)
        }
    }

    /// Asks the disk.
    ///
    /// - Parameter done: Called once, on the loop, when a worker has asked the disk or the disk takes too long.
    func ask(_ look: CacheLookUp, done: @escaping (CacheFinding) -> Void) {
        guard let store else { return done(look.finding(nil, now: now)) }
        let inquiry = DiskInquiry(on: world.loop, done: done)
        // A request that may not be sent to the server waits for the disk, however long it takes.
        if case .network(let fields) = look.finding(nil, now: now) {
            guard !isDiskHanging else { return done(.network(fields)) }
            inquiry.doWithout { [self] in
                isDiskHanging = true
                return .network(fields)
            }
        }
        let bound = LoopBound(confined: (access: self, inquiry: inquiry), on: world.loop)
        ownWorker().run { [world] in
            let entry = store.load(look.request.key, choose: look.choose)
            world.enqueue {
                let (access, inquiry) = bound.value
                access.isDiskHanging = false
                inquiry.answer(look.finding(entry, now: CacheAccess.now(in: world)))
            }
        }
    }

    private func ownWorker() -> any BlockingWorker {
        if let worker { return worker }
        let made = world.workers.ownWorker("AFURLSession.cache")
        worker = made
        return made
    }

    // MARK: - 3: the server was asked about a hit

    enum Confirmation: Sendable {
        /// Answer with this hit.
        case serve(CacheHit)
        /// The 304 meant another response than this one, which is removed now. Ask for the whole response.
        case ask
    }

    /// Takes the 304 of the server.
    ///
    /// - Parameters:
    ///   - sent: When the request was sent.
    ///   - mayStore: Whether every session that shares the hit would have trusted the server.
    func confirm(
        _ hit: CacheHit,
        headers: HTTPHeaders,
        sent: CacheInstant,
        mayStore: Bool = true
    ) -> Confirmation {
        let merged = CacheRules.merge(
            hit.entry.head,
            with: headers,
            for: hit.request,
            requestTime: sent,
            responseTime: now
        )
        guard case .confirmed(let head) = merged else {
            store?.forget(hit.entry.id)
            catchUp()
            return .ask
        }
        let storage = CacheRules.mayKeep(head)
        let entry = hit.entry.updated(head, mayGoToDisk: storage == .anywhere)
        if storage == .no {
            store?.forget(hit.entry.id)
        } else if mayStore, let store {
            store.insert(entry, ticket: hit.ticket, inPlaceOf: hit.entry) { $0.id == hit.entry.id }
        }
        catchUp()
        return .serve(CacheHit(entry: entry, for: hit.request, at: hit.url, ticket: hit.ticket))
    }

    /// Whether a hit may be the answer although its server has failed.
    ///
    /// - Parameter status: The status of the server's response; nil if there is none.
    func mayReplaceError(_ status: Int?, with hit: CacheHit) -> Bool {
        CacheRules.mayReplaceError(status, with: hit.entry.head, for: hit.request, now: now)
    }

    // MARK: - 4: something came from the network

    /// Removes the stored responses that the response to a request shows to be outdated.
    func note(_ status: Int, headers: HTTPHeaders, to frozen: WireRequest) {
        guard status < 400, let store else { return }
        let request = CacheRequest.of(frozen)
        if request.method == .head { return noteHead(status, headers: headers, to: request, store: store) }
        let isUrgent = CacheRules.invalidated(by: request, status: status, headers: headers)
            .reduce(false) { store.forget($1) || $0 }
        if isUrgent { catchUp() }
    }

    /// A response that is only on disk stays: once it is stale, its server is asked before it is used.
    private func noteHead(_ status: Int, headers: HTTPHeaders, to request: CacheRequest, store: CacheStore) {
        let outdated = store.known(of: request.key).filter { entry in
            CacheRules.mayAnswer(entry.head, request: request)
                && CacheRules.isOutdated(entry.head, byHead: status, headers: headers)
        }
        for entry in outdated { store.forget(entry.id) }
        if !outdated.isEmpty { catchUp() }
    }

    /// A writer for the body of a response, or nil if the response may not be stored.
    ///
    /// - Parameters:
    ///   - sent: When the request was sent.
    ///   - ticket: Taken before the request was sent.
    ///   - announced: The length of the body; negative if the response does not tell.
    ///   - isDecoded: Whether the body comes without the content coding that the fields name.
    func beginStore(
        _ status: Int,
        version: HTTPVersion,
        headers: HTTPHeaders,
        for question: CacheQuestion,
        sent: CacheInstant,
        ticket: CacheTicket,
        announced: Int64 = -1,
        isDecoded: Bool
    ) -> CacheWriter? {
        let facts = ResponseFacts(of: headers)
        guard let store, question.request.method == "GET",
            // A response of no use to the cache, or too long for it, may still replace a stored one.
            CacheRules.mayBeOfUse(status, facts: facts) && store.bodyLimit > 0 || store.mayHoldOutdated
        else { return nil }
        let request = CacheRequest.of(question.request)
        let (came, options) = (now, store.options)
        let names = facts.contains(.vary) ? VaryField.names(in: headers) ?? [] : []
        let head = StoredHead(
            key: request.key,
            partition: CachePartition(question.scope, for: request.identities, options: options),
            vary: names.map { VaryField($0, of: request.headers) },
            isDecoded: isDecoded,
            status: status,
            version: version,
            headers: headers,
            requestTime: sent.wall,
            responseTime: came.wall,
            responseMonotonic: came.monotonic,
            options: options,
            cookies: CookieOrigin(question.cookies, of: request, options: options),
            facts: facts
        )
        let storage = CacheRules.mayStore(head, for: request)
        guard storage != .no else {
            // RFC 9111 §4.3.3: the response that must not be stored has replaced the stored one.
            if CacheRules.replaces(status), !request.isPartial, !request.isConditional {
                forgetFormer(request, scope: question.scope, isDecoded: isDecoded, store: store)
            }
            return nil
        }
        return CacheWriter(
            head: head,
            request: request,
            under: question.scope,
            limit: store.bodyLimit,
            announced: announced,
            mayGoToDisk: storage == .anywhere,
            ticket: ticket,
            store: store,
            access: self
        )
    }

    private func forgetFormer(
        _ request: CacheRequest,
        scope: TrustScope,
        isDecoded: Bool,
        store: CacheStore
    ) {
        guard !request.control.noStore else { return }
        let isGone = store.forgetAnswer(request.key) { entries in
            CacheRules.select(
                from: entries,
                head: \.head,
                for: request,
                under: scope,
                decodes: isDecoded
            )
        }
        if isGone { catchUp() }
    }

    // MARK: - The disk

    /// Tells the worker to bring the disk up to date: at once where something is to be removed, and otherwise for all
    /// that comes within a while, so that of each URL only the latest is written.
    func catchUp() {
        guard let store else { return }
        switch store.work {
        case .nothing: break
        case .removing: work(store)
        case .writing:
            guard !isWritingSoon else { return }
            isWritingSoon = true
            _ = world.loop.startTimer(at: world.loop.now + CacheAccess.patience, for: self)
        }
    }

    func timerFired(_ timer: TimerID) {
        isWritingSoon = false
        if let store { work(store) }
    }

    /// Once for all changes until the worker begins.
    private func work(_ store: CacheStore) {
        let isCatchingUp = isCatchingUp
        let isFirst = isCatchingUp.withLock { isCatchingUp in
            defer { isCatchingUp = true }
            return !isCatchingUp
        }
        guard isFirst else { return }
        ownWorker().run {
            isCatchingUp.withLock { $0 = false }
            store.catchUp()
        }
    }
}
