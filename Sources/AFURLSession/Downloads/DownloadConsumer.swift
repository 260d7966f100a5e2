import AFBase
import AFLoop
import AFTransport
import Foundation

/// Writes the body to a file, away from the loop, and delivers the file. `DownloadMachine` decides what comes next.
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

    /// What the timer runs for.
    private enum Countdown {
        /// To write what is gathered. The offset of the gatherer shows whether a write has begun since.
        case writing(TimerID, from: Int64)
        /// To complete the task with this error, if the disk does nothing.
        case saving(TimerID, URLError)

        var timer: TimerID {
            switch self {
            case .writing(let timer, _), .saving(let timer, _): timer
            }
        }
    }

    /// What the task ends with, beside its error.
    enum Outcome {
        case nothing
        case file(PublishedFile)
        case resumeData(Data)
    }

    private typealias Naming = Result<PublishedFile, FileFailure>

    /// How many bytes may wait for the disk or be written at a time. With the pages that were lent for them it stays
    /// below 4 MiB.
    static let highWater = 7 << 18
    /// How long bytes wait until there are enough for a write of full size.
    private static let patience = LoopInterval(.milliseconds(100))
    /// How long a task that has ended waits for the disk to save a part or finish the file.
    private static let savingPatience = LoopInterval(.seconds(60))

    private(set) var receiver: Receiver?
    private var machine = DownloadMachine()
    private var resumption: DownloadResumption
    private(set) var file: DownloadFile?
    private var gatherer = DownloadGatherer()
    /// How many bytes the write under way has.
    private var inFlight = 0
    /// The result of naming the file together with its last write.
    private var naming: Naming?
    private var countdown: Countdown?
    /// The load, while a timer needs it.
    private weak var owner: (any DownloadOwner)?
    let progress = Lock(WriteProgress())
    private(set) var outcome = Outcome.nothing
    var resumeReceivers: [ResumeReceiver] = []

    init(receiver: Receiver, after origin: DownloadResumption.Origin = .nothing) {
        self.receiver = receiver
        resumption = DownloadResumption(after: origin)
    }

    var isHolding: Bool { machine.isHolding }
    /// The response is in a file already.
    var caching: ResponseCaching { .never }
    var mayStartOver: Bool { resumption.mayStartOver && machine.mayStartOver }

    /// Tells the machine what happens.
    ///
    /// - Returns: What the consumer has to do.
    func take(_ event: DownloadMachine.Event, for owner: any DownloadOwner) -> DownloadMachine.Action {
        let former = machine.state
        let action = machine.handle(event)
        if action == .impossible {
            owner.downloadFails(with: .fault(DownloadMachine.objection(to: event, in: former)))
        }
        return action
    }

    // MARK: - The request

    func prepare(for load: Load) -> ConsumerPreparation {
        switch resumption.origin {
        case .nothing, .nothingOnce:
            _ = take(.begin, for: load)
            return .nothing
        case .flawed(let flaw): load.downloadFails(with: .resumeData(flaw))
        case .part(let part):
            if take(.look, for: load) == .lookForPart { reopen(part, for: load) }
        }
        return .later
    }

    /// Takes the response and the bytes that arrived for the former task.
    func begin(with chunks: [Data], after response: URLResponse, of load: Load) {
        _ = take(.begin, for: load)
        receivedResponse(response, of: load)
        for chunk in chunks { chunk.withUnsafeBytes { receivedBody($0, of: load) } }
    }

    private func reopen(_ part: EarlierPart, for owner: any DownloadOwner) {
        let (consumer, bound) = travelling(with: owner)
        fileOpened(owner).perform {
            (store: inout DownloadStore) -> Bool in
            store.reopen(part.record)
        } then: {
            consumer.value.reopened($0 ? part : nil, for: bound.value)
        }
    }

    private func reopened(_ part: EarlierPart?, for owner: any DownloadOwner) {
        guard let part else {
            if take(.missing, for: owner) == .askForWhole { askForWhole(owner) }
            return
        }
        if take(.found, for: owner) == .askForRest, !owner.ask(forRestOf: part) { judged(.unusable, for: owner) }
    }

    private func askForWhole(_ owner: any DownloadOwner) {
        resumption.startOver()
        owner.askForWhole()
    }

    func startOver(of load: Load) {
        guard take(.again, for: load) == .startOver else { return }
        endCountdown(load)
        resumption.startOver()
        file?.discard()
        file = nil
        inFlight = 0
        gatherer = DownloadGatherer()
        progress.withLock { $0.startOver() }
    }

    // MARK: - The response

    func receivedResponse(_ response: URLResponse, of load: Load) {
        guard let question = load.downloadQuestion else { return }
        do throws(LoadError) {
            judged(try resumption.judge(response, to: question), for: load, response: response)
        } catch {
            load.downloadFails(with: error)
        }
    }

    private func judged(_ event: DownloadMachine.Event, for owner: any DownloadOwner, response: URLResponse? = nil) {
        switch take(event, for: owner) {
        case .append:
            guard let point = resumption.ground?.point else { return }
            progress.withLock { $0 = WriteProgress(from: point.offset) }
            goOn(behind: point, showing: nil, for: owner)
        // The part was the whole file, and only the end of the message had been missing. The task shows its owner the
        // response that the server would have given to a request for the whole.
        case .showWhole:
            guard var point = resumption.ground?.point else { return }
            point.total = point.offset
            goOn(behind: point, showing: (response as? HTTPURLResponse)?.presented(asWholeOf: point.offset), for: owner)
        case .dropPart: file?.discard()
        case .leavePart: file?.putBack()
        case .askAnew:
            file?.discard()
            askForWhole(owner)
        default: break
        }
    }

    private func goOn(behind point: ResumePoint, showing whole: URLResponse?, for owner: any DownloadOwner) {
        gatherer = DownloadGatherer(at: point.offset)
        owner.downloadContinues(from: point.offset, of: point.total, showing: whole)
        announceResumption(at: point.offset, of: owner)
    }

    // MARK: - The body

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        switch take(.bytes, for: load) {
        case .gather:
            // Bytes beyond the end would be added to a file that the program trusts.
            guard !resumption.isTooLong(arrived + Int64(bytes.count)) else { return breakOff(load) }
            gatherer.add(bytes, from: load.session.world.readBuffer.value)
            weigh(load)
        // The page of a 416 is no part of the file.
        case .skip: load.downloadContinues(from: gatherer.offset, of: gatherer.offset, showing: nil)
        default: break
        }
    }

    /// Looks at how much is gathered.
    private func weigh(_ owner: any DownloadOwner) {
        let waits = gatherer.count + inFlight >= DownloadConsumer.highWater
        let action = take(waits ? .tooMuch : gatherer.isFull ? .enough : .little, for: owner)
        switch action {
        case .writeLater: writeLater(owner)
        case .write, .writeAndPause: write(gatherer.takeFull(owner.session.world.readBuffer.value), for: owner)
        default: break
        }
        if action == .pause || action == .writeAndPause { owner.downloadWaits(true) }
    }

    func receivedEnd(of load: Load) {
        guard resumption.isComplete(arrived) else { return breakOff(load) }
        let action = take(.end, for: load)
        guard action == .flush || action == .wait else { return }
        endCountdown(load)
        // The transfer has ended, and its deadline with it.
        load.watchTime()
        if action == .flush { flush(load) }
    }

    /// RFC 9110 §14.4 leaves this to the client.
    private func breakOff(_ owner: any DownloadOwner) {
        if take(.broken, for: owner) == .breakOff { owner.downloadFails(with: .brokenRest) }
    }

    /// How many bytes of the file have arrived, written or not.
    private var arrived: Int64 { gatherer.offset + Int64(gatherer.count) }

    // MARK: - Writing

    /// - Parameter naming: Whether the file gets its name in the same job: nothing follows these bytes.
    private func write(_ pieces: [LentBytes], naming: Bool = false, for owner: any DownloadOwner) {
        let count = pieces.reduce(0) { $0 + $1.range.count }
        inFlight = count
        let (consumer, bound) = travelling(with: owner)
        let file = fileOpened(owner)
        file.perform {
            (store: inout DownloadStore) -> Result<Naming?, FileFailure> in
            do throws(FileFailure) {
                try store.append(pieces)
            } catch {
                return .failure(error)
            }
            return .success(naming ? DownloadConsumer.publish(&store) : nil)
        } then: {
            consumer.value.wrote(count, to: file, result: $0, for: bound.value)
        }
    }

    private func writeAll(_ owner: any DownloadOwner, naming: Bool = false) {
        write(gatherer.takeAll(owner.session.world.readBuffer.value), naming: naming, for: owner)
    }

    private func wrote(
        _ count: Int,
        to file: DownloadFile,
        result: Result<Naming?, FileFailure>,
        for owner: any DownloadOwner
    ) {
        // The download may have started over with another file.
        guard file === self.file else { return }
        switch result {
        case .success(let naming): self.naming = naming
        case .failure(let failure): return failed(failure, for: owner)
        }
        let action = take(.written, for: owner)
        guard action == .goOn || action == .flush else { return }
        inFlight = 0
        announce(Int64(count), of: owner)
        if action == .flush { return flush(owner) }
        weigh(owner)
        if machine.state != .behind { owner.downloadWaits(false) }
    }

    private func failed(_ failure: FileFailure, for owner: any DownloadOwner) {
        guard take(.diskFailed, for: owner) == .fail else { return }
        inFlight = 0
        owner.downloadFails(with: .file(failure))
    }

    private func fileOpened(_ owner: any DownloadOwner) -> DownloadFile {
        if let file { return file }
        let made = DownloadFile(in: owner.session.downloadPlace, world: owner.session.world)
        file = made
        return made
    }

    private func travelling(
        with owner: any DownloadOwner
    ) -> (LoopBound<DownloadConsumer>, LoopBound<any DownloadOwner>) {
        let loop = owner.session.loop
        return (LoopBound(confined: self, on: loop), LoopBound(confined: owner, on: loop))
    }

    // MARK: - The end of the body

    private func flush(_ owner: any DownloadOwner) {
        guard gatherer.count == 0 else { return writeAll(owner, naming: isWanted(by: owner)) }
        if take(.flushed, for: owner) == .name { name(owner) }
    }

    private func name(_ owner: any DownloadOwner) {
        guard isWanted(by: owner) else { return named(nil, for: owner) }
        if let naming { return took(naming, for: owner) }
        let (consumer, bound) = travelling(with: owner)
        fileOpened(owner).perform {
            DownloadConsumer.publish(&$0)
        } then: {
            consumer.value.took($0, for: bound.value)
        }
    }

    private static func publish(_ store: inout DownloadStore) -> Naming {
        Result { () throws(FileFailure) in try store.publish() }
    }

    private func took(_ naming: Naming, for owner: any DownloadOwner) {
        switch naming {
        case .success(let file): named(file, for: owner)
        case .failure(let failure): failed(failure, for: owner)
        }
    }

    private func isWanted(by owner: any DownloadOwner) -> Bool {
        guard case .delegate = receiver else { return receiver != nil }
        return owner.downloadDelegate(for: .delegate) != nil
    }

    private func named(_ file: PublishedFile?, for owner: any DownloadOwner) {
        guard take(.named, for: owner) == .handOver else { return }
        if let file {
            outcome = .file(file)
            if case .delegate = receiver { show(file, to: owner) }
        }
        owner.downloadEnds(with: nil)
    }

    // MARK: - Time

    /// Starts a timer, so that a slow body is written now and then and its progress can be seen.
    private func writeLater(_ owner: any DownloadOwner) {
        guard countdown == nil, gatherer.count > 0 else { return }
        countdown = .writing(startTimer(DownloadConsumer.patience, for: owner), from: gatherer.offset)
    }

    /// Reports the error after a while, even if the disk hangs.
    private func beginSaving(_ reported: URLError, for owner: any DownloadOwner) {
        if case .saving = countdown { return }
        endCountdown(owner)
        countdown = .saving(startTimer(DownloadConsumer.savingPatience, for: owner), reported)
    }

    private func startTimer(_ interval: LoopInterval, for owner: any DownloadOwner) -> TimerID {
        self.owner = owner
        let loop = owner.session.loop
        return loop.startTimer(at: loop.now + interval, for: self)
    }

    private func endCountdown(_ owner: any DownloadOwner) {
        if let countdown { owner.session.loop.cancelTimer(countdown.timer) }
        countdown = nil
    }

    func timerFired(_ timer: TimerID) {
        guard let owner, let former = countdown else { return }
        countdown = nil
        switch former {
        case .saving(_, let reported): if take(.overdue, for: owner) == .giveUp { owner.downloadEnds(with: reported) }
        // What is gathered now came after that write.
        case .writing(_, let offset) where offset != gatherer.offset: writeLater(owner)
        case .writing:
            switch take(.waited, for: owner) {
            case .writeAll: writeAll(owner)
            case .writeLater: writeLater(owner)
            default: break
            }
        }
    }

    // MARK: - The end of the load

    func settle(_ error: LoadError, reported: URLError, of load: Load) -> Bool {
        var action = take(failure(error), for: load)
        if action == .save, !save(after: error, reporting: reported, for: load) {
            action = take(.nothingToSave, for: load)
        }
        if action == .finishFile { beginSaving(reported, for: load) }
        return action == .save || action == .finishFile || action == .wait
    }

    private func failure(_ error: LoadError) -> DownloadMachine.Event {
        if error.isCancelled { return resumeReceivers.isEmpty ? .dropped : .cancelled }
        if error.isOutOfTime { return .timedOut }
        return error.leavesPart || !resumeReceivers.isEmpty ? .failed : .spoilt
    }

    /// - Returns: Whether there is something to save.
    private func save(after error: LoadError, reporting reported: URLError, for owner: any DownloadOwner) -> Bool {
        if file == nil, let part = resumption.part {
            // The part was not opened: its resume data is still valid.
            saved(part.data, reporting: reported, for: owner)
            return true
        }
        guard let ground = resumption.ground, arrived > 0 || resumption.part != nil,
            let request = owner.downloadQuestion?.request
        else { return false }
        beginSaving(reported, for: owner)
        // The bytes of a rest that broke the rules are dropped.
        let isBroken = if case .brokenRest = error { true } else { false }
        let pieces = isBroken ? [] : gatherer.takeAll(owner.session.world.readBuffer.value)
        let (consumer, bound) = travelling(with: owner)
        fileOpened(owner).perform {
            (store: inout DownloadStore) -> Data? in
            // Bytes that cannot be written are not kept, but those that were written before are.
            if !pieces.isEmpty { try? store.append(pieces) }
            return store.keep(upTo: isBroken ? ground.point.offset : nil) {
                ResumeRecord(request: request, at: ground.point, part: $0, under: ground.scope).encodedIfSane()
            }
        } then: {
            consumer.value.saved($0, reporting: reported, for: bound.value)
        }
        return true
    }

    private func saved(_ data: Data?, reporting error: URLError, for owner: any DownloadOwner) {
        guard take(.saved, for: owner) == .report else { return }
        guard let data else { return owner.downloadEnds(with: error) }
        outcome = .resumeData(data)
        var details = error.userInfo
        details[NSURLSessionDownloadTaskResumeData] = data
        owner.downloadEnds(with: URLError(reporting: error.code, details: details))
    }

    func completed(_ error: (any Error)?, of load: Load) -> Bool {
        let action = take(.completed, for: load)
        endCountdown(load)
        if action == .deliver, case .file = outcome {
            // Its callback removes it.
        } else {
            file?.discard(withPart: action == .discardPart)
        }
        deliver(error, of: load)
        file = nil
        receiver = nil
        // The program gets a file or resume data: with the file on its way, a cancel comes too late.
        return false
    }
}
