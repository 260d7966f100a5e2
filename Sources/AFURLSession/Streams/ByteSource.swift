import AFBase
import AFLoop
import Foundation

/// The state that the readers of one body share. When the last of them is released, the load ends.
final class ByteSource: Sendable {
    let task: URLSessionDataTask
    private let mailbox: StreamMailbox
    /// How many iterators exist.
    private let readers = Lock(0)

    init(task: URLSessionDataTask, mailbox: StreamMailbox) {
        self.task = task
        self.mailbox = mailbox
    }

    deinit {
        cancel()
    }

    private func cancel() {
        // A task that has ended needs no cancelling; looking is cheaper than waking the loop.
        if !mailbox.hasEnded { task.cancel() }
    }

    // MARK: - Readers

    func readerCame() {
        readers.withLock { $0 += 1 }
    }

    /// Stops the load when the last reader is released, as after a `break`.
    func readerLeft() {
        let isLast = readers.withLock { readers in
            readers -= 1
            return readers == 0
        }
        if isLast { cancel() }
    }

    // MARK: - Reading

    func response() async throws -> URLResponse {
        try await withTaskCancellationHandler {
            while true {
                if let answer = mailbox.answer { return try answer.get() }
                await mailbox.wait(forResponse: true)
            }
        } onCancel: {
            task.cancel()
        }
    }

    /// The next piece; nil at the end. What had arrived before an error comes before it.
    func next() async throws -> StreamPiece? {
        if Task.isCancelled { task.cancel() }
        while true {
            let (mail, makesRoom) = mailbox.take()
            if makesRoom { goOn() }
            switch mail {
            case .piece(let piece): return piece
            case .end: return nil
            case .failed(let error): throw error
            case .nothing: await wait()
            }
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await mailbox.wait()
        } onCancel: {
            task.cancel()
        }
    }

    private func goOn() {
        task.session.world.enqueue { [load = task.load, mailbox] in
            // More of the same read may have come meanwhile.
            if !mailbox.isFull { load.value.unpause(.backPressure) }
        }
    }
}

/// Counts one iterator among the readers for as long as it, or a copy of it, exists.
final class ByteReader: Sendable {
    let source: ByteSource

    init(_ source: ByteSource) {
        self.source = source
        source.readerCame()
    }

    deinit {
        source.readerLeft()
    }
}
