import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

/// Writes the body to a file, away from the loop, and delivers the file.
///
/// One write is under way at a time, while bytes are gathered for the next. When both are full, the session stops
/// reading the connection, so the peer has to wait for the disk.
final class DownloadConsumer: TaskConsumer, TimerTarget {
    /// The receiver of the file.
    enum Receiver {
        case delegate
        case handler(DownloadCompletion)
        /// A caller that awaits, and then owns the file.
        case waiter(DownloadCompletion)
    }

    /// How the download begins.
    enum Origin {
        case nothing
        /// With an earlier part, to resume it.
        case part(EarlierPart)
        case flawed(ResumeFlaw)
    }

    private enum Stage {
        case receiving
        /// The whole body has arrived, and its last bytes are being written.
        case finishing
        /// The download has failed, and the bytes that arrived are being saved.
        case saving
        /// The file is complete and has its name.
        case done
        case over
    }

    /// How many bytes may wait for the disk or be written at a time. With the pages that were lent for them it stays
    /// below 4 MiB.
    static let highWater = 7 << 18
    /// How long bytes wait until there are enough for a write of full size.
    private static let patience = LoopInterval(.milliseconds(100))
    /// How long a task that has ended waits for the disk to save a part or finish the file.
    private static let savingPatience = LoopInterval(.seconds(60))

    private(set) var receiver: Receiver?
    private var origin: Origin
    private var stage = Stage.receiving
    private var gatherer = DownloadGatherer()
    private(set) var file: DownloadFile?
    private var published: PublishedFile?
    /// How many bytes the write under way has.
    private var inFlight = 0
    /// The delegate got the response while the task was a data task.
    var hasShownResponse = false
    private var patienceTimer: TimerID?
    /// A write has begun since the timer was started.
    private var hasWritten = false
    /// The error to report when the disk takes too long to save.
    private var reported: URLError?
    /// The load, while a timer needs it.
    private weak var load: Load?
    let progress = Lock(WriteProgress())

    // MARK: Resuming
    /// The point from which the download can be resumed, if it can be.
    private var point: ResumePoint?
    /// The digest of the scope under which the bytes came; nil if none can be kept.
    private var scope: [UInt8]?
    /// Where the rest that is being received must end.
    private var restEnd: Int64?
    /// The rest broke the rules, so its bytes are dropped.
    private var isRestBroken = false
    /// The request asked for the rest, and the download has let go of the part. Sent again, it would bring the rest alone.
    private var hasDroppedPart = false
    /// The body that arrives is not part of the file.
    private var ignoresBody = false
    private(set) var resumeData: Data?
    var resumeReceivers: [ResumeReceiver] = []
    /// The task was cancelled after the whole body had arrived: it makes the file, and ends with it.
    private var isOvertaken = false

    init(_ receiver: Receiver, after origin: Origin = .nothing) {
        self.receiver = receiver
        self.origin = origin
    }

    var isHolding: Bool { stage == .receiving || stage == .finishing }
    /// The response is in a file already.
    var caching: ResponseCaching { .never }

    // MARK: - From the task

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        guard stage == .receiving else { return }
        // The page of a 416 is no part of the file.
        if ignoresBody { return load.count(from: gatherer.offset, total: gatherer.offset) }
        if let restEnd, arrived + Int64(bytes.count) > restEnd { return breakOff(load) }
        gatherer.add(bytes, from: load.session.world.readBuffer.value)
        proceed(load)
    }

    private func proceed(_ load: Load) {
        if gatherer.isFull { writeFull(load) } else { beginPatience(load) }
        if gatherer.count + inFlight >= DownloadConsumer.highWater { load.pause(.backPressure) }
    }

    func receivedEnd(of load: Load) {
        guard stage == .receiving else { return }
        if let restEnd, arrived != restEnd { return breakOff(load) }
        stage = .finishing
        endPatience(load)
        // The transfer has ended, and its deadline with it.
        load.watchTime()
        if inFlight == 0 { finish(load) }
    }

    func completed(_ error: (any Error)?, of load: Load) -> Bool {
        let published = stage == .done ? published : nil
        let isAbandoned = stage == .saving
        stage = .over
        endPatience(load)
        if published == nil { file?.discard(withPart: isAbandoned) }
        deliver(published, error, of: load)
        file = nil
        receiver = nil
        // The program gets a file or resume data: with the file on its way, a cancel comes too late.
        return false
    }

    /// Only a download that began without a part starts over: a part can be resumed another time.
    var mayStartOver: Bool {
        guard case .nothing = origin, case .receiving = stage else { return false }
        return !hasShownResponse && !hasDroppedPart
    }

    func startOver(of load: Load) {
        endPatience(load)
        file?.discard()
        file = nil
        inFlight = 0
        gatherer = DownloadGatherer()
        point = nil
        progress.withLock { $0.startOver() }
    }

    /// How many bytes of the file have arrived, written or not.
    private var arrived: Int64 { gatherer.offset + Int64(gatherer.count) }

    // MARK: - Writing

    private func writeFull(_ load: Load) {
        guard inFlight == 0 else { return }
        write(gatherer.takeFull(load.session.world.readBuffer.value), of: load)
    }

    private func write(_ pieces: [LentBytes], of load: Load) {
        let count = pieces.reduce(0) { $0 + $1.range.count }
        inFlight = count
        hasWritten = true
        let (consumer, bound) = travelling(with: load)
        let file = fileOpened(load)
        file.perform {
            (store: inout DownloadStore) -> FileFailure? in
            do throws(FileFailure) {
                try store.append(pieces)
                return nil
            } catch {
                return error
            }
        } then: {
            consumer.value.wrote(count, to: file, $0, of: bound.value)
        }
    }

    private func wrote(_ count: Int, to file: DownloadFile, _ failure: FileFailure?, of load: Load) {
        // The download may have started over with another file.
        guard stage == .receiving || stage == .finishing, file === self.file else { return }
        inFlight = 0
        if let failure { return fail(failure, load) }
        announce(Int64(count), of: load)
        if stage == .finishing { return finish(load) }
        if gatherer.isFull { writeFull(load) } else { beginPatience(load) }
        if gatherer.count + inFlight < DownloadConsumer.highWater { load.unpause(.backPressure) }
    }

    private func fileOpened(_ load: Load) -> DownloadFile {
        if let file { return file }
        let made = DownloadFile(in: load.session.settings.folderForDownloads, world: load.session.world)
        file = made
        return made
    }

    private func travelling(with load: Load) -> (LoopBound<DownloadConsumer>, LoopBound<Load>) {
        let loop = load.session.loop
        return (LoopBound(confined: self, on: loop), LoopBound(confined: load, on: loop))
    }

    // MARK: - The end of the body

    private func finish(_ load: Load) {
        guard gatherer.count == 0 else {
            return write(gatherer.takeAll(load.session.world.readBuffer.value), of: load)
        }
        guard isWanted(by: load) else {
            stage = .done
            return isOvertaken ? load.end(nil) : load.completeIfHeld()
        }
        let (consumer, bound) = travelling(with: load)
        fileOpened(load).perform {
            (store: inout DownloadStore) -> Result<PublishedFile, FileFailure> in
            Result { () throws(FileFailure) in try store.publish() }
        } then: {
            consumer.value.finished($0, of: bound.value)
        }
    }

    private func isWanted(by load: Load) -> Bool {
        if case .delegate = receiver { load.downloadDelegate != nil } else { receiver != nil }
    }

    private func finished(_ result: Result<PublishedFile, FileFailure>, of load: Load) {
        // A task that was cancelled meanwhile has already removed the file.
        guard stage == .finishing else { return }
        switch result {
        case .failure(let failure): fail(failure, load)
        case .success(let file):
            published = file
            stage = .done
            if case .delegate = receiver { show(file, to: load) }
            if isOvertaken { load.end(nil) } else { load.completeIfHeld() }
        }
    }

    private func fail(_ failure: FileFailure, _ load: Load) {
        let error = LoadError.file(failure)
        if isOvertaken { load.end(load.urlError(error)) } else { load.fail(error) }
    }

    // MARK: - Patience

    /// Starts a timer, so that a slow body is written now and then and its progress can be seen.
    private func beginPatience(_ load: Load) {
        guard patienceTimer == nil, gatherer.count > 0 else { return }
        self.load = load
        hasWritten = false
        let loop = load.session.loop
        patienceTimer = loop.startTimer(at: loop.now + DownloadConsumer.patience, for: self)
    }

    private func endPatience(_ load: Load) {
        if let patienceTimer { load.session.loop.cancelTimer(patienceTimer) }
        patienceTimer = nil
    }

    func timerFired(_ timer: TimerID) {
        patienceTimer = nil
        guard let load else { return }
        if let reported { return load.end(reported) }
        guard stage == .receiving else { return }
        guard !hasWritten, inFlight == 0, gatherer.count > 0 else { return beginPatience(load) }
        write(gatherer.takeAll(load.session.world.readBuffer.value), of: load)
    }
}

/// The number of written bytes that the delegate has not been told of yet.
struct WriteProgress: Sendable {
    private var unreported: Int64 = 0
    private var total: Int64 = 0
    /// A callback that will report them is posted and has not run.
    private var isAnnounced = false

    init(from offset: Int64 = 0) {
        total = offset
    }

    /// Returns whether a callback must be posted.
    mutating func add(_ count: Int64) -> Bool {
        unreported += count
        total += count
        defer { isAnnounced = true }
        return !isAnnounced
    }

    /// A posted callback stays posted, and has nothing to report.
    mutating func startOver() {
        unreported = 0
        total = 0
    }

    mutating func take() -> (written: Int64, total: Int64) {
        defer {
            unreported = 0
            isAnnounced = false
        }
        return (unreported, total)
    }
}

// MARK: - Resuming a part

/// A part, and the request for the rest of it.
struct EarlierPart: Sendable {
    let record: ResumeRecord
    /// The resume data as the program gave it.
    let data: Data
    let rest: Result<WireRequest, RequestRejection>
    /// The request that `rest` was made from.
    let restRequest: URLRequest
}

extension DownloadConsumer {
    func prepare(for load: Load) -> ConsumerPreparation {
        switch origin {
        case .nothing: return .nothing
        case .flawed(let flaw): load.fail(.resumeData(flaw))
        case .part(let part): reopen(part.record, load)
        }
        return .later
    }

    private func reopen(_ record: ResumeRecord, _ load: Load) {
        let (consumer, bound) = travelling(with: load)
        fileOpened(load).perform {
            (store: inout DownloadStore) -> Bool in
            store.reopen(record)
        } then: {
            consumer.value.reopened($0, of: bound.value)
        }
    }

    private func reopened(_ isThere: Bool, of load: Load) {
        guard stage == .receiving, case .part(let part) = origin else { return }
        guard isThere, let rest = rest(of: part, load) else {
            origin = .nothing
            // If the part is there, the request for the rest is too long: the whole must not be written behind it.
            fileOpened(load).discard()
            return load.restart()
        }
        point = part.record.point
        load.restart(with: rest.wire, madeFrom: rest.request)
    }

    /// The request for the rest. Nil if it cannot be sent.
    private func rest(of part: EarlierPart, _ load: Load) -> (wire: WireRequest, request: URLRequest)? {
        guard let replacement = load.memory?.replacement?.request, let handle = load.handle else {
            return (try? part.rest.get()).map { ($0, part.restRequest) }
        }
        let request = part.record.restRequest(of: replacement)
        return (try? RequestFreezer.freeze(request, defaults: handle.session.headers)).map { ($0, request) }
    }

    func receivedResponse(_ response: URLResponse, of load: Load) {
        guard let request = load.ownRequest else { return }
        guard let response = response as? HTTPURLResponse else {
            // This response cannot be resumed, and continues no part.
            if case .part = origin { drop(load) { $0.discard() } }
            return
        }
        scope = load.presentScope?.digest
        guard case .part(let part) = origin else {
            guard load.asksForPart || !response.isPartial else { return load.fail(.unaskedPart(response.statusCode)) }
            // The resumed request would ask for its own part again, and not for the missing bytes.
            return point = load.asksForPart ? nil : ResumePoint(response, to: request)
        }
        let length = response.expectedContentLength
        var answer = ResumeAnswer.judge(
            response.statusCode,
            headers: response.headers,
            length: length,
            at: part.record.point
        )
        // The part came under another judgement: an impostor may have sent it.
        if answer.continuesPart, scope != part.record.scope { answer = .unusable }
        switch answer {
        case .rest(let end, let total): goOn(to: end, of: total, load)
        case .complete: beComplete(response, load)
        case .whole:
            drop(load) { $0.discard() }
            point = ResumePoint(response, to: request)
        case .other:
            // Keep the part: the same resume data may resume it another time.
            drop(load) { _ = $0.keep { $0 } }
        case .unusable:
            drop(load) { $0.discard() }
            hasDroppedPart = false
            load.restart()
        }
    }

    /// Goes on without the part.
    private func drop(_ load: Load, _ work: @escaping @Sendable (inout DownloadStore) -> Void) {
        origin = .nothing
        hasDroppedPart = true
        point = nil
        fileOpened(load).perform(work) {}
    }

    private func goOn(to end: Int64, of total: Int64?, _ load: Load) {
        guard let offset = point?.offset else { return }
        point?.total = total
        restEnd = end
        gatherer = DownloadGatherer(at: offset)
        progress.withLock { $0 = WriteProgress(from: offset) }
        load.count(from: offset, total: total)
        announceResumption(at: offset, of: load)
    }

    /// The part was the whole file, and only the end of the message had been missing. The task shows its owner the
    /// response that the server would have given to a request for the whole.
    private func beComplete(_ response: HTTPURLResponse, _ load: Load) {
        guard let offset = point?.offset else { return }
        ignoresBody = true
        load.content = nil
        gatherer = DownloadGatherer(at: offset)
        if let whole = response.presented(asWholeOf: offset) { load.present(whole) }
        load.count(from: offset, total: offset)
        announceResumption(at: offset, of: load)
    }

    /// RFC 9110 §14.4 leaves this to the client. Bytes beyond the end would be added to a file that the program trusts.
    private func breakOff(_ load: Load) {
        isRestBroken = true
        load.fail(.brokenRest)
    }
}

// MARK: - Keeping a part

extension DownloadConsumer {
    func settle(_ error: LoadError, reported: URLError, of load: Load) -> Bool {
        // No byte was added yet, so whatever went wrong is not the part's fault.
        let isUntouched = reopenedPoint != nil && restEnd == nil && !ignoresBody && !error.isCancelled
        guard !resumeReceivers.isEmpty || error.leavesPart || isUntouched else { return false }
        switch stage {
        case .finishing where error.isCancelled || error.isOutOfTime && inFlight == 0 && gatherer.count == 0:
            // The cancelled task must deliver a file or resume data, and the file is almost made.
            isOvertaken = true
            beginLastPatience(reported, load)
            return true
        case .receiving, .finishing: return keepPart(reported, load)
        // The caller that cancelled waits for the part that is being saved.
        case .saving: return true
        case .done, .over: return false
        }
    }

    /// Reports the error after a while, even if the disk hangs.
    private func beginLastPatience(_ reported: URLError, _ load: Load) {
        guard self.reported == nil else { return }
        endPatience(load)
        self.load = load
        self.reported = reported
        let loop = load.session.loop
        patienceTimer = loop.startTimer(at: loop.now + DownloadConsumer.savingPatience, for: self)
    }

    private func keepPart(_ reported: URLError, _ load: Load) -> Bool {
        if file == nil, case .part(let part) = origin {
            // The part was not opened: its resume data is still valid.
            end(with: part.data, reported, load)
            return true
        }
        guard let point = point ?? reopenedPoint, arrived > 0 || reopenedPoint != nil,
            let scope = restEnd == nil ? reopenedScope ?? scope : scope,
            let request = load.ownRequest
        else { return false }
        stage = .saving
        beginLastPatience(reported, load)
        let limit = isRestBroken ? point.offset : nil
        let pieces = isRestBroken ? [] : gatherer.takeAll(load.session.world.readBuffer.value)
        let (consumer, bound) = travelling(with: load)
        fileOpened(load).perform {
            (store: inout DownloadStore) -> Data? in
            // Bytes that cannot be written are not kept, but those that were written before are.
            if !pieces.isEmpty { try? store.append(pieces) }
            return store.keep(upTo: limit) { ResumeRecord(request, at: point, part: $0, under: scope).encodedIfSane() }
        } then: {
            consumer.value.end(with: $0, reported, bound.value)
        }
        return true
    }

    /// The point of the part that was opened, or is about to be.
    private var reopenedPoint: ResumePoint? { reopened?.point }
    private var reopenedScope: [UInt8]? { reopened?.scope }

    private var reopened: ResumeRecord? {
        if case .part(let part) = origin, file != nil { part.record } else { nil }
    }

    private func end(with data: Data?, _ error: URLError, _ load: Load) {
        guard stage != .over else { return }
        stage = .over
        resumeData = data
        guard let data else { return load.end(error) }
        var details = error.userInfo
        details[NSURLSessionDownloadTaskResumeData] = data
        load.end(URLError(reporting: error.code, details: details))
    }
}
