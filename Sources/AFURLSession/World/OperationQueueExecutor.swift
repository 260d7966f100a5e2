import AFLoop
import Dispatch
import Foundation

/// Runs batches on a delegate queue.
struct OperationQueueExecutor: CallbackExecutor {
    private let queue: OperationQueue
    /// The dispatch queue beneath the operation queue, if the session made that: it avoids the operations, each of
    /// which costs as much as a request.
    private let shortcut: DispatchQueue?
    private let loop: EventLoop
    /// A queue that runs several operations at once must still see the events of
    /// this executor's clients one at a time and in order.
    private let lane = SerialLane()
    let hops = true
    /// An operation counts until it has finished. What runs on the shortcut is not counted.
    var isIdle: Bool { shortcut == nil && queue.operationCount == 0 && !queue.isSuspended }

    init(queue: OperationQueue, shortcut: DispatchQueue?, for loop: EventLoop) {
        self.queue = queue
        self.shortcut = shortcut
        self.loop = loop
    }

    func run(_ callbacks: consuming [Callback]) {
        loop.expectEcho()
        // Not while operations wait: the callbacks would overtake them.
        if let shortcut, queue.operationCount == 0, !queue.isSuspended {
            let batch = CallbackBatch(callbacks)
            return shortcut.async { [loop] in loop.batchingWakes { batch.run() } }
        }
        guard queue.maxConcurrentOperationCount != 1 else {
            let batch = CallbackBatch(callbacks)
            return queue.addOperation(CallbackOperation(block: { [loop] in loop.batchingWakes { batch.run() } }))
        }
        guard lane.add(callbacks) else { return }
        queue.addOperation(CallbackOperation(block: { [lane, loop] in loop.batchingWakes { lane.drain() } }))
    }
}
