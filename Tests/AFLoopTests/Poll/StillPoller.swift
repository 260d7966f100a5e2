import AFLoop
import Synchronization

/// A poller whose clock and events are set by the test. It never waits: having nothing
/// to report and no deadline, it asks what to do about it.
// Unchecked: a test drives it, and the loop that has it, on one thread.
final class StillPoller: Poller, @unchecked Sendable {
    /// Counts how often it is asked to wake the loop.
    final class Counter: Waker {
        private let wakes = Atomic(0)

        var count: Int { wakes.load(ordering: .relaxed) }

        func wake() { wakes.add(1, ordering: .relaxed) }
    }

    var now = LoopInstant(nanoseconds: 0)
    let wakes = Counter()
    var waker: any Waker { wakes }
    var events: [ReadyEvent] = []
    private(set) var deadlines: [LoopInstant?] = []
    private(set) var registered: [Int32: PollToken] = [:]
    var onPoll: () -> Void = {}

    func add(_ descriptor: Int32, token: PollToken) throws(SystemCallError) {
        guard descriptor >= 0 else { throw SystemCallError(.epollControl, code: 9) }
        registered[descriptor] = token
    }

    func remove(_ descriptor: Int32) { registered[descriptor] = nil }

    func poll(until deadline: LoopInstant?, into ready: inout [ReadyEvent]) {
        deadlines.append(deadline)
        onPoll()
        ready += events
        events = []
        if let deadline, deadline != .distantFuture { now = max(now, deadline) }
    }
}
