import AFLoop
import Dispatch
import Foundation

/// Runs each callback on the queue of the program that it names. That queue may be concurrent, so callbacks do not wait
/// for each other.
struct NamedQueueExecutor: CallbackExecutor {
    private typealias Block = @Sendable () -> Void

    let loop: EventLoop
    let hops = true

    func run(_ callbacks: consuming [Callback]) {
        loop.expectEcho()
        let batch = ScatteredBatch(count: callbacks.count)
        var (latest, blocks): (DispatchQueue?, [Block]) = (nil, [])
        for case .onQueue(let queue, let body) in callbacks {
            if queue !== latest {
                NamedQueueExecutor.run(blocks, on: latest)
                (latest, blocks) = (queue, [])
            }
            blocks.append { [loop] in loop.batchingWakes(in: batch, callback: body) }
        }
        NamedQueueExecutor.run(blocks, on: latest)
    }

    /// The first block enqueues the others: if the network thread did, the queue's thread would wake for each of them.
    private static func run(_ blocks: [Block], on queue: DispatchQueue?) {
        queue?.async { [blocks] in
            for block in blocks.dropFirst() { queue?.async(execute: block) }
            blocks.first?()
        }
    }
}
