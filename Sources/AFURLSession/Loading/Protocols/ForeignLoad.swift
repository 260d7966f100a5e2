import AFLoop
import AFState
import AFTransport
import Foundation

/// A load without a connection of the session: by a URL protocol class, of a `data:` URL, or of a file. It takes the
/// place of a `Transfer` in its task. Confined to the loop.
///
/// While the task is not paused, the load asks its source for events. Pieces have 64 KiB at most, and a turn of the
/// loop delivers 1 MiB. The deadlines are those of a transfer.
final class ForeignLoad: TransferSubstitute, DeadlineClient {
    private enum Stage {
        /// No class has taken the request yet.
        case asking
        case loading
        /// The delegate decides about a redirect.
        case redirected
        case over
    }

    private static let workPerTurn = 1 << 20
    private static let pieceSize = 64 << 10

    let load: Load
    private let loop: EventLoop
    private let idleInterval: LoopInterval
    private(set) var times: TransferTimes
    private var stage = Stage.asking
    private var pauses: Transfer.Pauses = []
    private var source: (any LoadSource)?
    /// The source's events, from `next` on. The load has delivered `offset` bytes of the data there.
    private var events: [LoadEvent] = []
    private var next = 0
    private var offset = 0
    private var hasResponse = false
    private var isFromCache = false
    private var storage: ProtocolStorage?
    /// Under which judgement its source answers.
    private(set) var scope = TrustScope.program
    /// Challenges without an answer yet. The load waits for them, not for its source.
    private var challenges: [URLAuthenticationChallenge] = []
    private var isScheduled = false

    // MARK: Time
    private var time: TaskTime
    private var lastProgress: LoopInstant
    private var watchPlace: Int?

    /// - Parameter request: The request whose timeout counts.
    init(request: URLRequest, of load: Load) {
        let session = load.session
        self.load = load
        loop = session.loop
        idleInterval = request.contents.explicitTimeout.map { LoopInterval(timeout: $0) } ?? session.requestTimeout
        time = load.time
        lastProgress = loop.now
        times = TransferTimes(fetchStarted: loop.now)
        watchPlace = session.deadlines.add(self)
        noteProgress()
    }

    var isAsking: Bool { stage == .asking }
    var hasBegun: Bool { times.requestStarted != nil }

    // MARK: - From the task

    /// - Parameters:
    ///   - source: The source, made for this load.
    ///   - scope: Under which judgement it answers.
    func begin(_ source: any LoadSource, under scope: TrustScope) {
        // The load may have ended while its class or its body was asked for.
        guard stage == .asking else { return source.stop() }
        stage = .loading
        self.source = source
        self.scope = scope
        times.requestStarted = loop.now
        noteProgress()
        goOnSoon()
    }

    func pause(_ reason: Transfer.Pauses) {
        guard !pauses.contains(reason) else { return }
        pauses.insert(reason)
        if reason == .suspended { time.suspend(at: loop.now) }
    }

    func unpause(_ reason: Transfer.Pauses) {
        guard pauses.remove(reason) != nil else { return }
        if reason == .suspended { time.resume(at: loop.now) }
        noteProgress()
        if pauses.isEmpty { goOnSoon() }
    }

    /// Ends the load: the task hears no more of it.
    func stop() {
        guard stage != .over else { return }
        stage = .over
        letGo()
    }

    /// The record for the metrics.
    func record(of request: URLRequest, response: URLResponse?) -> ExchangeRecord {
        ExchangeRecord(.times(times, isFromCache ? .localCache : .unknown), request: request, response: response)
    }

    private func letGo() {
        if let place = watchPlace.take() { load.session.deadlines.remove(at: place) }
        source?.stop()
        source = nil
        events = []
        next = 0
        storage = nil
        challenges = []
    }

    // MARK: - Delivering

    /// Called by the source when it has more events, and by the code that resumes the load.
    func goOnSoon() {
        guard !isScheduled else { return }
        isScheduled = true
        // In a later turn: the caller may be in the middle of an event, or of ending the load.
        let load = LoopBound(confined: self, on: loop)
        loop.enqueue { load.value.goOn() }
    }

    func goOn() {
        isScheduled = false
        var work = ForeignLoad.workPerTurn
        // Asked before each event: the one before may have ended or paused the load.
        while stage == .loading, pauses.isEmpty {
            guard work > 0 else { return goOnSoon() }
            guard next < events.count else {
                events = source?.take() ?? []
                next = 0
                if events.isEmpty { return }
                noteProgress()
                continue
            }
            let event = events[next]
            if needsResponse(event) {
                events.insert(.response(placeholder, .notAllowed), at: next)
            } else if perform(event, work: &work), stage == .loading {
                // A load that has ended has let go of its events, and is at 0 again.
                next += 1
            }
        }
    }

    /// True if the event needs no further turn.
    private func perform(_ event: LoadEvent, work: inout Int) -> Bool {
        switch event {
        case .response(let response, let policy): begin(response, policy: policy)
        case .data(let data): return deliver(data, work: &work)
        case .finished: finish()
        case .failed(let error): fail(error)
        case .cachedResponse(let cached):
            isFromCache = true
            events = [.response(cached.response, .notAllowed), .data(cached.data), .finished]
            next = 0
            return false
        case .redirect(let request, let response):
            stage = .redirected
            times.responseEnded = loop.now
            // Before the judgement, which may ask a delegate: meanwhile nothing more comes of this class.
            source?.stop()
            source = nil
            load.judge(response: .foreignRedirect(request, response, self))
        case .challenge(let challenge): ask(challenge)
        case .challengeWithdrawn(let challenge): challenges.removeAll { $0 === challenge }
        }
        return true
    }

    private func needsResponse(_ event: LoadEvent) -> Bool {
        switch event {
        case .data, .finished: !hasResponse
        case .response, .failed, .cachedResponse, .redirect, .challenge, .challengeWithdrawn: false
        }
    }

    /// The response of a load that ends without one: a task that succeeds always has a response.
    private var placeholder: URLResponse {
        let url = load.presentRequest?.url ?? URL(fileURLWithPath: "/")
        return URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }

    private func begin(_ response: URLResponse, policy: URLCache.StoragePolicy) {
        guard !hasResponse, let request = load.presentRequest else { return }
        hasResponse = true
        times.responseStarted = loop.now
        storage = ProtocolStorage(response: response, to: request, policy: policy, under: scope, of: load)
        load.judge(response: .foreignResponse(response, self))
    }

    private func deliver(_ data: Data, work: inout Int) -> Bool {
        // Once: behind a pause the same data comes here again.
        if offset == 0 { storage?.append(data) }
        while offset < data.count {
            guard stage == .loading, pauses.isEmpty, work > 0 else { return false }
            let start = data.startIndex + offset
            let piece = data[start..<min(start + ForeignLoad.pieceSize, data.endIndex)]
            offset += piece.count
            work -= piece.count
            times.responseBodyBytes += Int64(piece.count)
            noteProgress()
            piece.withUnsafeBytes { load.deliver($0) }
        }
        offset = 0
        return true
    }

    // MARK: - The end

    private func finish() {
        stage = .over
        times.responseEnded = loop.now
        // The load takes it at its end, if the consumer does not hold that up (`takeStorage`).
        let storage = storage
        letGo()
        self.storage = storage
        load.finishReceiving()
    }

    /// Takes the complete response for the cache. Nil if it is not to be stored, or not by what the task has become.
    func takeStorage() -> ProtocolStorage? {
        defer { storage = nil }
        if load.consumer.caching.storesNothing { return nil }
        return storage
    }

    private func fail(_ error: LoadError) {
        stage = .over
        letGo()
        load.judge(error)
    }

    // MARK: - Challenges

    private func ask(_ challenge: URLAuthenticationChallenge) {
        challenges.append(challenge)
        guard let task = load.handle else { return }
        let method = challenge.protectionSpace.authenticationMethod
        let isOfServer = [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate]
            .contains(method)
        let levels: [ChallengeDelivery.Level] =
            isOfServer ? [.session, .task] : CredentialChallenges.levels(for: method)
        ChallengeDelivery(task, taskDelegate: load.taskDelegate?.delegate, in: load.session).ask(levels) { sender in
            URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender)
        } answer: { [weak self, weak challenge] given in
            guard let self, let challenge else { return }
            let disposition = given?.disposition ?? .performDefaultHandling
            answered(challenge, disposition: disposition, credential: given?.credential)
        }
    }

    private func answered(
        _ challenge: URLAuthenticationChallenge,
        disposition: URLSession.AuthChallengeDisposition,
        credential: URLCredential?
    ) {
        guard let place = challenges.firstIndex(where: { $0 === challenge }) else { return }
        challenges.remove(at: place)
        noteProgress()
        // Before the load ends, which stops the source: the class gets each answer.
        source?.answer(challenge, disposition: disposition, credential: credential)
        if disposition == .cancelAuthenticationChallenge { load.fail(.cancelled) }
    }

    // MARK: - Time

    private func noteProgress() {
        lastProgress = loop.now
        if watchPlace != nil { load.session.deadlines.deadlineChanged(to: deadline) }
    }

    var deadline: LoopInstant {
        if pauses.contains(.suspended) || stage == .over { return .distantFuture }
        let isHeldUp = !pauses.isEmpty || !challenges.isEmpty || stage == .redirected
        return isHeldUp ? time.deadline : min(lastProgress + idleInterval, time.deadline)
    }

    func deadlinePassed() {
        let phase: TransferPhase = hasResponse ? .receivingBody : .waitingForHead
        let idle = lastProgress.duration(to: loop.now)
        fail(.transfer(time.deadline <= loop.now ? .outOfTime(phase) : .timedOut(phase, idle)))
    }

    func cancel() {
        stop()
    }
}

extension LoadMemory {
    /// The load that takes the place of a transfer.
    var foreign: ForeignLoad? {
        get { self[ForeignLoad.self] }
        set { self[ForeignLoad.self] = newValue }
    }
}
