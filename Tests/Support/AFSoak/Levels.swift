import AFFaults
import AFLoop
import Foundation

/// What the process holds at one moment.
struct Levels: Sendable {
    /// Bytes that malloc has handed out: steadier than what the kernel counts.
    var heap: Double
    var resident: Double
    var descriptors: Double
    var threads: Double

    static var now: Levels {
        Levels(
            heap: Double(ProcessUse.heapBytes),
            resident: Double(ProcessUse.residentBytes),
            // Without the one of the listing itself.
            descriptors: Double(LeakCheck.entries(of: "/proc/self/fd").count - 1),
            threads: Double(LeakCheck.entries(of: "/proc/self/task").count)
        )
    }

    /// After all that was asked for is done: what lies in a queue is not held for ever.
    ///
    /// The least of some readings, since threads end and descriptors are closed a moment later.
    static func settled() async -> Levels {
        var least = Levels(heap: .infinity, resident: .infinity, descriptors: .infinity, threads: .infinity)
        for _ in 1...3 {
            await emptyQueues()
            let now = Levels.now
            least.heap = min(least.heap, now.heap)
            least.resident = min(least.resident, now.resident)
            least.descriptors = min(least.descriptors, now.descriptors)
            least.threads = min(least.threads, now.threads)
            try? await Task.sleep(for: .milliseconds(2))
        }
        return least
    }

    private static func emptyQueues() async {
        for _ in 1...2 {
            await withCheckedContinuation { done in NetworkThread.loop.enqueue { done.resume() } }
            await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
        }
    }
}
