import AFBase
import AFLoop
import AFState
import AFTLS
import AFTransport
import AFURLTypes
import AFWire
import Foundation

/// Loads one file by several requests at a time. Confined to the loop.
///
/// The first request asks for the whole. When its response says how long the file is and what it is known by, the other
/// requests ask for parts of it, and the first one ends where the second begins (`PartPlan`). Each part is a task of the
/// session, and so under all its rules: what a server, a proxy or a redirect may do to a request is said there.
final class PartedDownload: TimerTarget {
    /// The file that the bytes are of: only responses that say the same add to it.
    fileprivate struct Ground: Equatable {
        let total: Int64
        let validator: ResumeValidator
        /// The digest of the scope under which the bytes came.
        let scope: [UInt8]
    }

    private enum Stage {
        /// The worker looks for what an earlier download has left.
        case opening
        /// The first response is on its way.
        case asking
        case loading
        /// The bytes are there, and the file gets its name.
        case naming
        /// The parts end, and the worker leaves the file for another download.
        case leaving(any Error)
        case over
    }

    /// How often missing parts are asked for again, and the record is written.
    private static let pulse = LoopInterval(.milliseconds(500))
    /// How long a download that has failed waits for the disk.
    private static let patience = LoopInterval(.seconds(60))
    /// How many requests in a row may bring nothing while no other request runs, and how often the file may change.
    private static let mostFailures = 3

    private typealias Part = (task: URLSessionTask, consumer: PartConsumer?)

    private let handle: URLSession
    let session: SessionCore
    private let request: URLRequest
    private let options: DownloadParts
    private let progress: Progress?
    private let delegate: (any URLSessionTaskDelegate)?
    private let context: CallerContext
    private let answer: AwaitedResult<URLResponse>
    let file: FileWork<PartsStore>
    private var stage = Stage.opening
    private var plan = PartPlan(total: .max, count: 1, smallest: 1)
    /// Nil if the file cannot be told from another one of the server, or the server does not say how long it is.
    private var ground: Ground?
    /// The response that the caller gets.
    private var response: URLResponse?
    /// What the server says that the file adds up to.
    private var announced: FileDigest?
    private var parts: [Int: Part] = [:]
    private var lastNumber = 0
    /// How many requests may run at a time: fewer than the caller asks for where the server refuses some of them.
    private var limit: Int
    private var failures = 0
    private var changes = 0
    private var time: TaskTime
    private var timer: TimerID?
    private var isPaused = false
    /// Whether bytes were written since the record was.
    private var isAhead = false

    init(
        _ call: PartedCall,
        in session: SessionCore,
        answer: AwaitedResult<URLResponse>
    ) {
        handle = call.session
        (request, options, progress) = (call.request, call.parts, call.progress)
        (delegate, context) = (call.delegate, call.context)
        self.session = session
        self.answer = answer
        file = FileWork(PartsStore(path: call.path), world: session.world)
        limit = max(1, min(call.parts.count, session.settings.pool.maximumConnectionsPerHost))
        let now = session.loop.now
        let most = LoopInterval.limit(call.request.timeoutIntervalForResource) ?? session.resourceTimeout
        time = TaskTime(from: now, until: now + most)
    }

    var loop: EventLoop { session.loop }
    private var bound: LoopBound<PartedDownload> { LoopBound(confined: self, on: loop) }
    private var source: [UInt8] { SHA256Digest.of(Array((request.url?.absoluteString ?? "").utf8)) }

    // MARK: - The beginning

    func begin() {
        // The caller may have cancelled it before.
        guard case .opening = stage else { return }
        let (download, source) = (bound, source)
        file.perform {
            (store: inout PartsStore) in
            Result { () throws(PartsFailure) in try store.open(from: source) }
        } then: {
            download.value.opened($0)
        }
        followPause()
    }

    private func opened(_ result: Result<PartsRecord?, PartsFailure>) {
        guard case .opening = stage else { return }
        switch result {
        case .failure(let failure): return fail(.parts(failure))
        case .success(let record?):
            ground = Ground(total: record.total, validator: record.validator, scope: record.scope)
            plan = PartPlan(total: record.total, missing: record.missing, smallest: options.smallestSize)
            report()
            response = asWhole(nil)
            guard !record.missing.isEmpty else { return name() }
        case .success(nil): break
        }
        stage = .asking
        startTimer(PartedDownload.pulse)
        startPart()
    }

    /// - Returns: Whether something was missing that is worth a request.
    @discardableResult
    private func startPart() -> Bool {
        guard let range = plan.begin(lastNumber + 1, at: loop.now) else { return false }
        lastNumber += 1
        var request = request
        // RFC 9110 §14.2: offsets count bytes of the content as it is coded.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        if let ground {
            request.setValue("bytes=\(range.lowerBound)-\(range.upperBound - 1)", forHTTPHeaderField: "Range")
            request.setValue(ground.validator.fieldValue, forHTTPHeaderField: "If-Range")
        }
        let (number, asked, owner, question) = (lastNumber, ground == nil ? nil : range, bound, request)
        let task = handle.make {
            URLSessionDataTask(
                question,
                identifier: $0,
                in: handle,
                consumer: PartConsumer(number, asking: asked, for: owner),
                completion: nil
            )
        }
        if let delegate { task.delegate = delegate }
        parts[number] = (task, nil)
        task.resume(in: context)
        if isPaused { task.suspend() }
        return true
    }

    /// The session begins with a request.
    func begins(_ part: PartConsumer) {
        parts[part.number]?.consumer = part
    }

    /// Asks for what is missing, as far as the server and the caller let it.
    private func startParts() {
        guard case .loading = stage, !isPaused else { return }
        if parts.isEmpty, plan.isComplete { return name() }
        guard ground != nil else { return }
        // A session that was invalidated takes no new tasks, and lets those that run end.
        while parts.count < limit, parts.isEmpty || !handle.isInvalidated, startPart() {}
    }

    // MARK: - The responses

    func received(_ response: URLResponse, of part: PartConsumer, load: Load) {
        guard parts[part.number] != nil else { return part.leave(.dropped) }
        guard let response = response as? HTTPURLResponse else { return begin(with: response, being: nil, of: part) }
        guard let ground, let asked = part.asked else { return receivedWhole(response, of: part, load: load) }
        let judged = ResumeAnswer.judge(response, for: asked, of: ground.total, validator: ground.validator)
        // The file came under another judgement: an impostor may have sent it.
        let isImpostors = judged.continuesPart && load.presentScope?.digest != ground.scope
        switch isImpostors ? .unusable : judged {
        case .rest(let end, _):
            if case .asking = stage { show(asWhole(response), headers: response.headers) }
            part.take(from: asked.lowerBound, to: end, writingAt: asked.lowerBound)
            startParts()
        case .whole: receivedWhole(response, of: part, load: load)
        case .complete, .unusable: beginAnew()
        case .other where parts.count > 1: part.leave(.unwilling)
        case .other: part.refuse(response, of: load)
        }
    }

    private func receivedWhole(_ response: HTTPURLResponse, of part: PartConsumer, load: Load) {
        guard 200..<300 ~= response.statusCode else { return part.refuse(response, of: load) }
        guard response.statusCode != 206 else { return load.fail(.unaskedPart(206)) }
        let found = Ground(response, to: request, under: load.presentScope)
        if ground == nil { return begin(with: response, being: found, of: part) }
        if found != ground { return beginAnew(with: (response, found, part)) }
        // It is the same file, and the server does not give parts of it.
        guard parts.count == 1, let asked = part.asked else { return part.leave(.unwilling) }
        limit = 1
        if case .asking = stage { show(response, headers: response.headers) }
        part.take(from: 0, to: plan.total, writingAt: asked.lowerBound)
    }

    /// The first response is there: the caller gets it in the end.
    private func show(_ response: URLResponse?, headers: HTTPHeaders?) {
        stage = .loading
        self.response = response
        announced = headers.flatMap { $0.hasCodedContent ? nil : FileDigest($0) }
    }

    /// Begins with the first byte of the file.
    private func begin(with response: URLResponse, being found: Ground?, of part: PartConsumer) {
        ground = found
        show(response, headers: (response as? HTTPURLResponse)?.headers)
        let total = found?.total ?? .max
        plan = PartPlan(total: total, count: found == nil ? 1 : limit, smallest: options.smallestSize)
        _ = plan.begin(part.number, at: loop.now)
        part.take(from: 0, to: total, writingAt: 0)
        guard let record else { return }
        perform { (store: inout PartsStore) throws(PartsFailure) in try store.prepare(record) }
        startParts()
    }

    /// The server has another file by now: what is there is worth nothing.
    ///
    /// - Parameter next: A response with that file.
    private func beginAnew(with next: (response: HTTPURLResponse, ground: Ground?, part: PartConsumer)? = nil) {
        changes += 1
        guard changes <= PartedDownload.mostFailures else { return fail(.parts(.changing(times: changes))) }
        // One request gets the whole of whatever there is by then, also of a server whose ranges are wrong.
        if changes > 1 { limit = 1 }
        for (number, part) in parts where number != next?.part.number {
            parts[number] = nil
            part.consumer?.leave(.dropped)
            part.task.cancel()
        }
        let source = source
        perform { (store: inout PartsStore) throws(PartsFailure) in
            store.discard()
            _ = try store.open(from: source)
        }
        ground = nil
        if let next { return begin(with: next.response, being: next.ground, of: next.part) }
        plan = PartPlan(total: .max, count: 1, smallest: 1)
        stage = .asking
        startPart()
    }

    /// The response that a request for the whole would have got.
    private func asWhole(_ response: HTTPURLResponse?) -> URLResponse? {
        if let response { return response.presented(asWholeOf: plan.total) }
        return request.url.flatMap {
            HTTPURLResponse(
                url: $0,
                statusCode: 200,
                httpVersion: "HTTP/1.1",
                headerFields: ["Content-Length": "\(plan.total)"]
            )
        }
    }

    // MARK: - The bodies

    /// The bytes of the file that a part waits for; nil if it waits for none.
    ///
    /// - Parameter end: Where its response ends.
    func wanted(until end: Int64, by part: PartConsumer) -> Range<Int64>? {
        guard part.farewell == nil, parts[part.number] != nil, var awaited = plan.awaited(by: part.number) else {
            return nil
        }
        if awaited.isEmpty, awaited.upperBound < end, plan.extend(part.number) {
            awaited = plan.awaited(by: part.number) ?? awaited
        }
        return awaited.isEmpty || awaited.lowerBound >= end
            ? nil : awaited.lowerBound..<min(awaited.upperBound, end)
    }

    func arrived(_ count: Int, of part: PartConsumer) {
        failures = 0
        plan.arrived(count, of: part.number)
    }

    func wrote(_ count: Int, of part: PartConsumer) {
        guard parts[part.number] != nil else { return }
        plan.wrote(count, of: part.number)
        isAhead = true
        report()
    }

    private func report() {
        guard let progress else { return }
        progress.totalUnitCount = plan.total < .max ? plan.total : response?.expectedContentLength ?? -1
        progress.completedUnitCount = plan.total - plan.missingCount
    }

    /// The body of the whole has ended, and nothing had said where.
    func ended(at position: Int64, by part: PartConsumer) {
        plan.end(of: part.number, makes: position)
    }

    /// A part has ended, and all its bytes are written.
    func ended(_ part: PartConsumer) {
        guard parts.removeValue(forKey: part.number) != nil else { return }
        plan.end(part.number)
        switch stage {
        case .leaving where parts.isEmpty: leave()
        case .asking, .loading: goOn(after: part)
        default: break
        }
    }

    private func goOn(after part: PartConsumer) {
        if part.farewell == .unwilling { limit = max(1, parts.count) }
        guard part.farewell == nil, let failure = part.failure else { return startParts() }
        if case .brokenRest = failure { return beginAnew() }
        guard case .loading = stage, ground != nil, failure.leavesPart, !failure.isOutOfTime else {
            return end(with: part.reported ?? failure.urlError(for: request.url))
        }
        // The next pulse asks for the rest.
        guard !part.hasArrived else { return }
        limit = max(1, parts.count)
        failures += parts.isEmpty ? 1 : 0
        if failures == PartedDownload.mostFailures { end(with: part.reported ?? failure.urlError(for: request.url)) }
    }

    // MARK: - The file

    private var record: PartsRecord? {
        ground.map { ground in
            PartsRecord(
                source: source,
                validator: ground.validator,
                total: ground.total,
                scope: ground.scope,
                missing: plan.missing
            )
        }
    }

    /// Does work on the file, and ends the download if that fails.
    private func perform(_ work: @escaping @Sendable (inout PartsStore) throws(PartsFailure) -> Void) {
        let download = bound
        file.perform {
            (store: inout PartsStore) -> PartsFailure? in
            do throws(PartsFailure) {
                try work(&store)
                return nil
            } catch {
                return error
            }
        } then: {
            if let failure = $0 { download.value.fail(.parts(failure)) }
        }
    }

    private func name() {
        stage = .naming
        stopTimer()
        let (length, digest, record, download) = (plan.total, options.digest ?? announced, record, bound)
        file.perform {
            (store: inout PartsStore) in
            Result { () throws(PartsFailure) in try store.publish(length: length, digest: digest, record: record) }
        } then: {
            download.value.named($0)
        }
    }

    private func named(_ result: Result<Void, PartsFailure>) {
        report()
        switch (result, response) {
        case (.success, let response?): finish(.success(response))
        case (.success, nil): finish(.failure(LoadError.fault("no response").urlError(for: request.url)))
        case (.failure(let failure), _): finish(.failure(LoadError.parts(failure).urlError(for: request.url)))
        }
    }

    // MARK: - Time

    private func startTimer(_ interval: LoopInterval) {
        stopTimer()
        timer = loop.startTimer(at: loop.now + interval, for: self)
    }

    private func stopTimer() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        if case .leaving(let error) = stage { return finish(.failure(error)) }
        if time.deadline <= loop.now { return fail(.transfer(.outOfTime(.receivingBody))) }
        for part in parts.values { part.consumer?.write() }
        if isAhead, let record {
            isAhead = false
            perform { (store: inout PartsStore) throws(PartsFailure) in try store.save(record) }
        }
        startTimer(PartedDownload.pulse)
        startParts()
    }

    /// Suspends the parts while the progress is paused.
    func followPause() {
        guard let progress, progress.isPaused != isPaused else { return }
        isPaused.toggle()
        for part in parts.values { if isPaused { part.task.suspend() } else { part.task.resume() } }
        if isPaused { time.suspend(at: loop.now) } else { time.resume(at: loop.now) }
        startParts()
    }

    // MARK: - The end

    func fail(_ error: LoadError) { end(with: error.urlError(for: request.url)) }

    private func end(with error: any Error) {
        switch stage {
        case .naming, .leaving, .over: return
        case .opening, .asking, .loading: break
        }
        stage = .leaving(error)
        startTimer(PartedDownload.patience)
        for part in parts.values { part.task.cancel() }
        if parts.isEmpty { leave() }
    }

    private func leave() {
        let (record, download) = (record, bound)
        file.perform {
            (store: inout PartsStore) in
            store.leave(record)
        } then: {
            if case .leaving(let error) = download.value.stage { download.value.finish(.failure(error)) }
        }
    }

    private func finish(_ result: Result<URLResponse, any Error>) {
        stopTimer()
        stage = .over
        answer.give(result)
    }
}

extension PartedDownload.Ground {
    fileprivate init?(_ response: HTTPURLResponse, to request: URLRequest, under scope: TrustScope?) {
        guard let point = ResumePoint(response, to: request), let total = point.total, total > 0,
            let scope = scope?.digest
        else { return nil }
        self.init(total: total, validator: point.validator, scope: scope)
    }
}
