import AFBase
import AFLoop
import Dispatch

/// Runs what may block, away from the loop. Jobs of one worker come one at a time and
/// in order.
package protocol BlockingWorker: Sendable {
    func run(_ job: @escaping @Sendable () -> Void)
}

package protocol BlockingWorkers: Sendable {
    /// One of a few, for what takes long, but not for ever: reading files.
    func sharedWorker() -> any BlockingWorker
    /// One for itself, for what must hold up nobody else: streams, whose code is the
    /// user's and may block for ever, and downloads, whose disk may be full or hang.
    func ownWorker(_ label: String) -> any BlockingWorker
}

/// Queues of Dispatch: a thread exists only while a worker has work, and a moment after.
package struct DispatchWorkers: BlockingWorkers {
    private let shared = (0..<4).map { DispatchWorker("AFURLSession.files.\($0)") }
    private let turn = Lock(0)

    package init() {}

    package func sharedWorker() -> any BlockingWorker {
        let turn = turn.withLock { turn in
            defer { turn = (turn + 1) % shared.count }
            return turn
        }
        return shared[turn]
    }

    package func ownWorker(_ label: String) -> any BlockingWorker { DispatchWorker(label) }
}

private struct DispatchWorker: BlockingWorker {
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: CurrentWorker.key, value: label)
    }

    func run(_ job: @escaping @Sendable () -> Void) {
        queue.async(execute: job)
    }
}

/// Where the calling thread is, if that is on a worker.
package enum CurrentWorker {
    fileprivate static let key = DispatchSpecificKey<String>()

    package static var label: String? { DispatchQueue.getSpecific(key: key) }
}
