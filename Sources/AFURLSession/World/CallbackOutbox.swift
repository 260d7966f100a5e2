import AFLoop
package import Dispatch
package import Foundation

/// The end of a task, until it has reached the task's owner.
package protocol DeliveredEnd: AnyObject, Sendable {
    /// The end reaches the owner now, who may have cancelled the task since the loop was done with it.
    ///
    /// - Returns: The error to report.
    func delivered() -> (any Error)?
}

/// One call into the program's code.
package enum Callback: Sendable {
    case completion(any DeliveredEnd, DataCompletion, Data?, URLResponse?)
    case block(@Sendable () -> Void)
    case failure(@Sendable ((any Error)?) -> Void, (any Error)?)
    /// Made on another queue.
    case onQueue(DispatchQueue, @Sendable () -> Void)
    /// The call has been made.
    case made

    package consuming func run() {
        switch consume self {
        case .completion(let task, let handler, let data, let response):
            let error = task.delivered()
            handler(error == nil ? data : nil, response, error)
        case .block(let body): body()
        case .failure(let handler, let error): handler(error)
        case .onQueue(let queue, let body): queue.async(execute: body)
        case .made: break
        }
    }
}

/// Callbacks on their way to another thread. The batch releases each as soon as it has been made.
final class CallbackBatch: @unchecked Sendable {
    private var callbacks: [Callback]

    init(_ callbacks: consuming [Callback]) {
        self.callbacks = callbacks
    }

    func run() {
        var callbacks: [Callback] = []
        swap(&callbacks, &self.callbacks)
        for index in callbacks.indices {
            // Take it out: a copy would have to be retained.
            var callback = Callback.made
            swap(&callback, &callbacks[index])
            callback.run()
        }
    }
}

package typealias DataCompletion = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

/// Runs callbacks in order, in nearly all cases away from the loop.
package protocol CallbackExecutor: Sendable {
    /// Whether it wakes another thread. That costs as much as a small request, so the outbox then gathers callbacks for
    /// as long as more is coming in.
    var hops: Bool { get }
    /// Whether all callbacks have run, so that one that runs elsewhere now overtakes none.
    var isIdle: Bool { get }
    func run(_ callbacks: consuming [Callback])
}

extension CallbackExecutor {
    package var hops: Bool { false }
    package var isIdle: Bool { false }
}

/// Callbacks on their way to one queue.
///
/// They gather while the loop works through a turn and leave together at its end: waking another thread costs more than
/// a small request, so the outbox does it once per turn and not once per request.
final class CallbackOutbox: TurnEndTarget {
    private let loop: EventLoop
    private let executor: any CallbackExecutor
    @exclusivity(unchecked) private var batch: [Callback] = []

    init(loop: EventLoop, executor: any CallbackExecutor) {
        self.loop = loop
        self.executor = executor
    }

    func post(_ callback: consuming Callback) {
        if batch.isEmpty {
            if executor.hops { loop.whenQuiet(self) } else { loop.atTurnEnd(self) }
        }
        batch.append(callback)
    }

    /// Whether every callback that was posted has run.
    var isIdle: Bool { batch.isEmpty && executor.isIdle }

    /// Sends what it holds at the end of this turn, also if more is coming in.
    func hurry() {
        loop.hurry(self)
    }

    func turnEnded() {
        var leaving: [Callback] = []
        swap(&leaving, &batch)
        executor.run(leaving)
    }
}

/// Runs even when its queue cancels it. `cancelAllOperations()` is meant for the program's own operations; a callback
/// that did not run would leave its caller waiting for a completion for ever.
final class CallbackOperation: BlockOperation, @unchecked Sendable {
    override func cancel() {}
}

/// Runs batches at once, on the network thread, at the end of the turn that brought them.
struct LoopExecutor: CallbackExecutor {
    func run(_ callbacks: consuming [Callback]) {
        CallbackBatch(callbacks).run()
    }
}

/// Resumes the Swift tasks that await. They go on in another thread, and will probably make another request soon.
struct ResumingExecutor: CallbackExecutor {
    let loop: EventLoop
    let hops = true

    func run(_ callbacks: consuming [Callback]) {
        CallbackBatch(callbacks).run()
        // Not if they go on in this thread.
        if !loop.hasJobs { loop.expectEcho() }
    }
}
