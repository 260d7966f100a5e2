import AFLoop
import Foundation

/// Writes the body to a file, away from the loop, and hands the file over.
///
/// One write is under way at a time, while the next gathers. When both are full, the
/// connection is not read, and the peer has to wait for the disk.
final class DownloadConsumer: TaskConsumer, TimerTarget {
    /// Who gets the file.
    enum Receiver {
        case delegate
        case handler(DownloadCompletion)
        /// Somebody who awaits, and then owns the file.
        case waiter(DownloadCompletion)
    }

    private enum Stage {
        case receiving
        /// All has arrived, and is on its way to the disk.
        case finishing
        /// The file has its name.
        case done
        case over
    }

    /// Bytes that may wait for the disk or be on their way to it. With the pages that
    /// were lent for them it stays below 4 MiB.
    static let highWater = 7 << 18
    /// How long bytes wait for a write of full size.
    private static let patience = LoopInterval(.milliseconds(100))

    private(set) var receiver: Receiver?
    private var stage = Stage.receiving
    private var gatherer = DownloadGatherer()
    private var file: DownloadFile?
    private var published: PublishedFile?
    /// Bytes of the write that is under way.
    private var inFlight = 0
    private var patienceTimer: TimerID?
    /// A write was begun since the timer was started.
    private var hasWritten = false
    /// The core, while a timer needs it.
    private weak var core: TaskCore?
    let progress = Lock(WriteProgress())

    init(_ receiver: Receiver) {
        self.receiver = receiver
    }

    var isHolding: Bool { stage == .receiving || stage == .finishing }

    // MARK: - From the task

    func receivedResponse(_ response: HTTPURLResponse, of core: TaskCore) {
        if response.isPartialUnasked(by: core.handle?.originalRequest) { core.fail(.unaskedPart(response.statusCode)) }
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of core: TaskCore) {
        guard stage == .receiving else { return }
        gatherer.add(bytes, from: core.session.world.readBuffer.value)
        if gatherer.isFull { writeFull(core) } else { beginPatience(core) }
        if gatherer.count + inFlight >= DownloadConsumer.highWater { core.pause(.backPressure) }
    }

    func receivedEnd(of core: TaskCore) {
        guard stage == .receiving else { return }
        stage = .finishing
        endPatience(core)
        if inFlight == 0 { finish(core) }
    }

    func completed(_ error: (any Error)?, of core: TaskCore) {
        let published = stage == .done ? published : nil
        stage = .over
        endPatience(core)
        if published == nil { file?.discard() }
        file = nil
        deliver(published, error, of: core)
        receiver = nil
    }

    // MARK: - Writing

    private func writeFull(_ core: TaskCore) {
        guard inFlight == 0 else { return }
        write(gatherer.takeFull(core.session.world.readBuffer.value), of: core)
    }

    private func write(_ pieces: [LentBytes], of core: TaskCore) {
        let count = pieces.reduce(0) { $0 + $1.range.count }
        inFlight = count
        hasWritten = true
        let (consumer, bound) = travelling(with: core)
        fileOpened(core).perform {
            (store: inout DownloadStore) -> FileFailure? in
            do throws(FileFailure) {
                try store.append(pieces)
                return nil
            } catch {
                return error
            }
        } then: {
            consumer.value.wrote(count, $0, of: bound.value)
        }
    }

    private func wrote(_ count: Int, _ failure: FileFailure?, of core: TaskCore) {
        guard stage == .receiving || stage == .finishing else { return }
        inFlight = 0
        if let failure { return core.fail(.file(failure)) }
        announce(Int64(count), of: core)
        if stage == .finishing { return finish(core) }
        if gatherer.isFull { writeFull(core) } else { beginPatience(core) }
        if gatherer.count + inFlight < DownloadConsumer.highWater { core.unpause(.backPressure) }
    }

    private func fileOpened(_ core: TaskCore) -> DownloadFile {
        if let file { return file }
        let world = core.session.world
        let made = DownloadFile(in: core.session.settings.folderForDownloads, disk: world.disk, loop: world.loop)
        file = made
        return made
    }

    private func travelling(with core: TaskCore) -> (LoopBound<DownloadConsumer>, LoopBound<TaskCore>) {
        let loop = core.session.world.loop
        return (LoopBound(confined: self, on: loop), LoopBound(confined: core, on: loop))
    }

    // MARK: - The end of the body

    private func finish(_ core: TaskCore) {
        guard gatherer.count == 0 else {
            return write(gatherer.takeAll(core.session.world.readBuffer.value), of: core)
        }
        guard isWanted(by: core) else {
            stage = .done
            return core.completeIfHeld()
        }
        let (consumer, bound) = travelling(with: core)
        fileOpened(core).perform {
            (store: inout DownloadStore) -> Result<PublishedFile, FileFailure> in
            Result { () throws(FileFailure) in try store.publish() }
        } then: {
            consumer.value.finished($0, of: bound.value)
        }
    }

    private func isWanted(by core: TaskCore) -> Bool {
        if case .delegate = receiver { core.downloadDelegate != nil } else { receiver != nil }
    }

    private func finished(_ result: Result<PublishedFile, FileFailure>, of core: TaskCore) {
        // A task that was cancelled meanwhile has seen to it that the file is removed.
        guard stage == .finishing else { return }
        switch result {
        case .failure(let failure): core.fail(.file(failure))
        case .success(let file):
            published = file
            stage = .done
            if case .delegate = receiver { show(file, to: core) }
            core.completeIfHeld()
        }
    }

    // MARK: - Patience

    /// A slow body is written now and then, so that its progress can be seen.
    private func beginPatience(_ core: TaskCore) {
        guard patienceTimer == nil, gatherer.count > 0 else { return }
        self.core = core
        hasWritten = false
        let loop = core.session.world.loop
        patienceTimer = loop.startTimer(at: loop.now + DownloadConsumer.patience, for: self)
    }

    private func endPatience(_ core: TaskCore) {
        if let patienceTimer { core.session.world.loop.cancelTimer(patienceTimer) }
        patienceTimer = nil
    }

    func timerFired(_ timer: TimerID) {
        patienceTimer = nil
        guard stage == .receiving, let core else { return }
        guard !hasWritten, gatherer.count > 0 else { return beginPatience(core) }
        write(gatherer.takeAll(core.session.world.readBuffer.value), of: core)
    }
}
