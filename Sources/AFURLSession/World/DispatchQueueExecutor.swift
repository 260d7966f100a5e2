import AFLoop
import Dispatch
import Foundation

/// Runs batches on a serial queue of the session's own, which no code of the program can block.
struct DispatchQueueExecutor: CallbackExecutor {
    private let queue: DispatchQueue
    private let loop: EventLoop
    let hops = true

    init(label: String, for loop: EventLoop) {
        queue = DispatchQueue(label: label)
        self.loop = loop
    }

    func run(_ callbacks: consuming [Callback]) {
        loop.expectEcho()
        let batch = CallbackBatch(callbacks)
        queue.async { [loop] in loop.batchingWakes { batch.run() } }
    }
}
