import AFLoop
import Dispatch
import Foundation

/// Runs batches on a delegate queue.
struct OperationQueueExecutor: CallbackExecutor {
    private let queue: DelegateQueue
    private let loop: EventLoop
    /// A queue that runs several operations at once must still see the events of
    /// this executor's clients one at a time and in order.
    private let lane = SerialLane()
    let hops = true
    /// An operation counts until it has finished.
    var isIdle: Bool { queue.isIdle }

    init(queue: DelegateQueue, for loop: EventLoop) {
        self.queue = queue
        self.loop = loop
    }

    func run(_ callbacks: consuming [Callback]) {
        loop.expectEcho()
        if let shortcut = queue.shortcut {
            let batch = CallbackBatch(callbacks)
            return shortcut.async { [loop] in loop.batchingWakes { batch.run() } }
        }
        let queue = queue.queue
        guard queue.maxConcurrentOperationCount != 1 else {
            let batch = CallbackBatch(callbacks)
            return queue.addOperation(CallbackOperation(block: { [loop] in loop.batchingWakes { batch.run() } }))
        }
        guard lane.add(callbacks) else { return }
        queue.addOperation(CallbackOperation(block: { [lane, loop] in loop.batchingWakes { lane.drain() } }))
    }
}
