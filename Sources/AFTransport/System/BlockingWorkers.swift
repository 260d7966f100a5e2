import AFBase
import AFLoop
import Dispatch

/// Runs what may block, away from the loop. A worker runs its jobs one at a time and in order.
package protocol BlockingWorker: Sendable {
    func run(_ job: @escaping @Sendable () -> Void)
}

package protocol BlockingWorkers: Sendable {
    /// A worker that several tasks share, for what takes long, but not for ever: reading files.
    func sharedWorker() -> any BlockingWorker
    /// A worker for one task alone, for what must not hold up other tasks: streams, whose code is the caller's and may
    /// block for ever, and downloads, whose disk may be full or hang.
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

    func run(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }
}

/// The worker that the calling thread works for, if any.
package enum CurrentWorker {
    fileprivate static let key = DispatchSpecificKey<String>()

    package static var label: String? { DispatchQueue.getSpecific(key: key) }
}
