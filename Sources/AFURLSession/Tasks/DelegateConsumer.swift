import AFBase
import AFLoop
import AFTransport
import Foundation

/// Hands a response to the delegate as it arrives.
///
/// Body bytes collect in a mailbox between the loop and the delegate queue. A page of them leaves at once, and the loop
/// reads the next one while the delegate has the first. When the delegate is behind by `highWater`, two pages, the loop
/// stops reading the connection; the kernel's buffers fill, and the server has to wait. It goes on when the delegate has
/// taken the mail.
///
/// With a receiver of the task in place of the delegate (``TaskReceiver``) it collects the body, and hands it over with
/// the end of the task.
final class DelegateConsumer: TaskConsumer {
    static let highWater = 2 * ReadBuffer.size
    static let chunkSize = 64 << 10

    private struct Mailbox {
        var chunks: [Data] = []
        var count = 0
        /// Whether a callback that will empty the mailbox is on its way.
        var isAnnounced = false
        /// Whether the delegate has said that it wants the response, which the loop may not have heard yet.
        var isWanted = false
        /// Whether the last chunk is the mailbox's own, and may grow.
        private var hasOpenChunk = false
        /// The loop has stopped reading until there is room.
        var isFull: Bool { count >= DelegateConsumer.highWater }

        mutating func add(_ pieces: [Data], count: Int) {
            self.count += count
            chunks += pieces
            hasOpenChunk = false
        }

        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            count += bytes.count
            var rest = bytes[...]
            while !rest.isEmpty {
                let last = chunks.count - 1
                let room = hasOpenChunk ? chunkSize - chunks[last].count : 0
                if room == 0 {
                    chunks.append(Data(rest.prefix(chunkSize)))
                    hasOpenChunk = true
                } else {
                    chunks[last].append(contentsOf: rest.prefix(room))
                }
                rest = rest.dropFirst(room == 0 ? chunkSize : room)
            }
        }
    }

    private let mailbox = Lock(Mailbox())
    /// Whether the task's receiver takes the response; nil as long as there is none.
    @exclusivity(unchecked) private var isForReceiver: Bool?
    /// The body for the receiver.
    @exclusivity(unchecked) private var body = CollectedBody()

    var caching: ResponseCaching { .ifDelegateAdmits }
    var collected: Data? { isForReceiver == true ? body.data : nil }

    /// Not once the program has judged the response, which it would get twice.
    var mayStartOver: Bool { isForReceiver == true && !hasShownResponse }

    func startOver(of load: Load) {
        isForReceiver = nil
        body = CollectedBody()
    }

    private var hasShownResponse = false
    /// Whether the delegate has got the response and has not answered yet.
    private(set) var isHolding = false
    var missingAnswer: MissingAnswer? { isHolding ? .response : nil }

    func receivedResponse(_ response: URLResponse, of load: Load) {
        isForReceiver = load.responseReceiver != nil
        guard let (delegate, task) = load.dataDelegate,
            !load.session.isMissing(.receivedResponse, in: delegate)
        else { return }
        hasShownResponse = true
        guard !load.session.settings.allowsEveryResponse else {
            return load.session.outbox.post(
                .block { delegate.urlSession(task.session, dataTask: task, didReceive: response) { _ in } }
            )
        }
        isHolding = true
        load.pause(.unanswered)
        let (loop, mailbox) = (load.session.loop, mailbox)
        let consumer = LoopBound(confined: self, on: loop)
        let bound = LoopBound(confined: load, on: loop)
        load.session.outbox.post(
            .block {
                delegate.urlSession(task.session, dataTask: task, didReceive: response) { disposition in
                    if disposition == .allow { mailbox.withLock { $0.isWanted = true } }
                    loop.enqueue { consumer.value.answered(disposition, of: bound.value) }
                }
            }
        )
    }

    private func answered(_ disposition: URLSession.ResponseDisposition, of load: Load) {
        guard isHolding else { return }
        isHolding = false
        switch disposition {
        case .cancel: load.fail(.cancelled)
        case .allow:
            if let listener = load.dataDelegate { announce(of: load, to: listener) }
            load.unpause(.unanswered)
            load.completeIfHeld()
        case .becomeDownload: load.becomeDownload(after: takeChunks())
        case .becomeStream: load.becomeStream(after: takeChunks())
        }
    }

    private func takeChunks() -> [Data] {
        isForReceiver == true ? [body.take()] : mailbox.withLock { $0.chunks }
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        if isForReceiver == true {
            body.append(bytes, of: load)
            return reportAdvance(of: load)
        }
        guard let listener = load.dataDelegate else { return }
        let loan = load.session.world.readBuffer.value.lend(bytes)
        let (count, isFull) = mailbox.withLock { mailbox in
            if let loan {
                mailbox.add(loan.pieces(of: DelegateConsumer.chunkSize), count: bytes.count)
            } else {
                mailbox.append(bytes)
            }
            return (mailbox.count, mailbox.isFull)
        }
        if isFull { load.pause(.backPressure) }
        guard !isHolding else { return }
        announce(of: load, to: listener)
        // The server goes on sending, so it would be long before the loop is quiet.
        if count >= ReadBuffer.size { load.session.outbox.hurry() }
    }

    func settle(_ error: LoadError, reported: URLError, of load: Load) -> Bool {
        if isHolding, !error.isCancelled { announceIfWanted(of: load) }
        return false
    }

    func completed(_ error: (any Error)?, of load: Load) -> Bool {
        guard isForReceiver ?? (load.responseReceiver != nil), let task = load.handle, let receiver = task.receiver
        else {
            return load.reportEnd()
        }
        load.reportEnd(body.take(), to: receiver, of: task)
        return true
    }

    private func reportAdvance(of load: Load) {
        guard let task = load.handle, let receiver = task.receiver, receiver.isWatched else { return }
        load.session.outbox.post(.block { receiver.advanced(task) })
    }

    // MARK: - The mailbox

    private func announce(of load: Load, to listener: (delegate: any URLSessionDataDelegate, task: URLSessionDataTask))
    {
        let needsAnnouncement = mailbox.withLock { mailbox in
            guard mailbox.count > 0, !mailbox.isAnnounced else { return false }
            mailbox.isAnnounced = true
            return true
        }
        guard needsAnnouncement else { return }
        let (delegate, task) = listener
        let bound = LoopBound(confined: load, on: load.session.loop)
        load.session.outbox.post(
            .block { [mailbox] in
                for chunk in DelegateConsumer.empty(mailbox, of: bound) {
                    delegate.urlSession(task.session, dataTask: task, didReceive: chunk)
                }
            }
        )
    }

    /// The load has failed before the loop heard what the delegate wants. By the time that the delegate queue comes to this,
    /// a delegate that answers at once has said so.
    private func announceIfWanted(of load: Load) {
        guard mailbox.withLock({ $0.count > 0 }), let (delegate, task) = load.dataDelegate else { return }
        load.session.outbox.post(
            .block { [mailbox] in
                for chunk in mailbox.withLock({ $0.isWanted ? $0.chunks : [] }) {
                    delegate.urlSession(task.session, dataTask: task, didReceive: chunk)
                }
            }
        )
    }

    private static func empty(_ mailbox: Lock<Mailbox>, of load: LoopBound<Load>) -> [Data] {
        let (chunks, wasFull) = mailbox.withLock { mailbox in
            defer { mailbox = Mailbox() }
            return (mailbox.chunks, mailbox.isFull)
        }
        if wasFull { load.loop.enqueue { load.value.unpause(.backPressure) } }
        return chunks
    }
}
