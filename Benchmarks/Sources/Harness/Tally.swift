internal import CBench
internal import Dispatch
internal import Synchronization

/// Hands out the requests of one run and keeps how long each took.
///
/// It takes no lock: a number belongs to one request, and so does its place in the
/// memory of latencies, which holds the start until the request is done.
package final class Tally: @unchecked Sendable {
    package let total: Int
    private let times: UnsafeMutablePointer<UInt32>
    private let began = now_ns()
    private let claimed = Atomic(0)
    private let finished = Atomic(0)
    private let bytes = Atomic(0)
    private let allFinished = DispatchSemaphore(value: 0)

    init(total: Int) {
        self.total = total
        times = .allocate(capacity: total)
    }

    deinit { times.deallocate() }

    /// The number of the next request, if there is another one to start.
    package func claim() -> Int? {
        let number = claimed.wrappingAdd(1, ordering: .relaxed).oldValue
        return number < total ? number : nil
    }

    /// Whether there is another one to start.
    package var isLeft: Bool { claimed.load(ordering: .relaxed) < total }

    package func start(_ number: Int) { times[number] = now() }

    /// Bytes of bodies that arrived, or were sent.
    package func count(_ byteCount: Int) { bytes.wrappingAdd(byteCount, ordering: .relaxed) }

    package func finish(_ number: Int) {
        times[number] = now() &- times[number]
        if finished.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue == total { allFinished.signal() }
    }

    /// In 100 ns.
    private func now() -> UInt32 { UInt32(truncatingIfNeeded: (now_ns() &- began) / 100) }

    func wait() { allFinished.wait() }

    /// Only after `wait()`.
    func fill(_ statistics: inout statistics_t) {
        statistics.latencies = times
        statistics.count = total
        statistics.bytes = UInt64(bytes.load(ordering: .relaxed))
        statistics.connections = -1
    }
}
