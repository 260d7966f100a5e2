import AFBase
import AFLoop
package import Dispatch
import Foundation

/// Calls code on the main queue by way of `OperationQueue.main`.
///
/// To Foundation, a block that Dispatch runs on the main queue is not on `OperationQueue.main`: a notification that it
/// posts waits forever for its observers on `OperationQueue.main`.
///
/// An operation costs as much as a small request. So calls that gather while the main queue is busy share one.
package enum MainQueue {
    fileprivate struct Call: Sendable {
        let group: DispatchGroup?
        let body: @Sendable () -> Void
    }

    private struct Calls: Sendable {
        private var arriving: [Call] = []
        /// The next one is the last.
        private var leaving: [Call] = []

        /// Whether an operation that will make the calls waits for the main queue.
        private var isEnqueued = false

        var count: Int { arriving.count + leaving.count }

        mutating func add(_ calls: [Call]) { arriving += calls }

        /// True if the caller must enqueue an operation.
        mutating func needsOperation() -> Bool {
            defer { isEnqueued = isEnqueued || count > 0 }
            return !isEnqueued && count > 0
        }

        /// The operation runs.
        ///
        /// - Returns: How many calls it makes.
        mutating func begin() -> Int {
            isEnqueued = false
            return count
        }

        mutating func next() -> Call? {
            if leaving.isEmpty { (leaving, arriving) = (arriving.reversed(), []) }
            return leaving.popLast()
        }
    }

    private static let calls = Lock(Calls())

    package static func async(group: DispatchGroup? = nil, body: @escaping @Sendable () -> Void) {
        group?.enter()
        enqueue([Call(group: group, body: body)])
    }

    /// - Parameter calls: Their groups are entered.
    fileprivate static func enqueue(_ calls: [Call]) {
        let needsOperation = self.calls.withLock { waiting in
            waiting.add(calls)
            return waiting.needsOperation()
        }
        if needsOperation { OperationQueue.main.addOperation(run) }
    }

    /// Makes the calls that wait, and leaves those that come meanwhile to another operation: the main queue has other
    /// work, too. A call may run the main queue itself, so each is taken out before it is made.
    private static func run() {
        BlockedMainQueueWarning.shared.calls()
        for _ in 0..<calls.withLock({ $0.begin() }) {
            guard let call = calls.withLock({ $0.next() }) else { break }
            call.body()
            call.group?.leave()
        }
        if calls.withLock({ $0.needsOperation() }) { OperationQueue.main.addOperation(run) }
    }

    private static let gathering = LoopBound(GatheredCalls(), on: World.system.loop)

    /// Calls `body` on the main queue when the network thread has done what is ready, after the blocks passed here
    /// before.
    ///
    /// This is for what another queue does for each request. If each call woke the main thread, the two would take turns
    /// on a shared core.
    package static func whenQuiet(group: DispatchGroup? = nil, body: @escaping @Sendable () -> Void) {
        let world = World.system
        guard world.unavailability() == nil else { return async(group: group, body: body) }
        group?.enter()
        let call = Call(group: group, body: body)
        if world.loop.isOnLoop { return gathering.value.add(call, on: world.loop) }
        world.loop.enqueue { gathering.value.add(call, on: world.loop) }
    }

    /// Calls `body` on the main queue, after the blocks passed before.
    package static func onMainActor(_ body: @escaping @MainActor @Sendable () -> Void) {
        async { MainActor.assumeIsolated(body) }
    }

    /// Calls `body` on a queue; nil is the main queue.
    package static func async(
        on queue: DispatchQueue?,
        group: DispatchGroup? = nil,
        body: @escaping @Sendable () -> Void
    ) {
        guard let queue, queue !== DispatchQueue.main else { return async(group: group, body: body) }
        queue.async(group: group, execute: body)
    }

    /// Calls a completion handler on a queue; nil is the main queue. Warns if no thread serves the main queue.
    package static func complete(
        on queue: DispatchQueue?,
        group: DispatchGroup? = nil,
        body: @escaping @Sendable () -> Void
    ) {
        guard queue == nil else { return async(on: queue, group: group, body: body) }
        BlockedMainQueueWarning.shared.willCall()
        async(group: group, body: body)
    }

    /// Calls a completion handler on a queue; nil is the main queue, and then it is called as by ``whenQuiet(group:_:)``.
    package static func completeWhenQuiet(
        on queue: DispatchQueue?,
        group: DispatchGroup?,
        body: @escaping @Sendable () -> Void
    ) {
        guard queue == nil else { return async(on: queue, group: group, body: body) }
        BlockedMainQueueWarning.shared.willCall()
        whenQuiet(group: group, body: body)
    }
}

/// Gathers calls on the loop, which leave for the main queue together.
private final class GatheredCalls: TurnEndTarget {
    @exclusivity(unchecked) private var calls: [MainQueue.Call] = []

    func add(_ call: MainQueue.Call, on loop: EventLoop) {
        if calls.isEmpty { loop.whenQuiet(self) }
        calls.append(call)
    }

    func turnEnded() {
        MainQueue.enqueue(calls)
        calls.removeAll()
    }
}

/// Runs batches on the main queue.
struct MainQueueExecutor: CallbackExecutor {
    let loop: EventLoop
    let hops = true

    func run(_ callbacks: consuming [Callback]) {
        loop.expectEcho()
        let batch = CallbackBatch(callbacks)
        MainQueue.complete(on: nil) { [loop] in loop.batchingWakes { batch.run() } }
    }
}
