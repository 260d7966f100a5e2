import Glibc

/// Processor time of this thread. Unlike wall time it does not grow when the machine is busy with something else.
package enum CPUTime {
    /// What one pass over 64 KiB may take. A quadratic parser takes thousands of times as long; without optimisation
    /// a linear one takes some tens of times as long, and under the thread sanitizer some hundreds.
    package static var limitFor64KiB: Duration {
        #if DEBUG
            .seconds(2)
        #else
            .milliseconds(5)
        #endif
    }

    package static func of<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> Duration {
        let start = now
        try body()
        return now - start
    }

    /// How many times as long one thing takes among `large` as among `small` of them. What costs O(log n) grows hardly at
    /// all, what costs O(n) as the numbers do.
    ///
    /// - Parameter handle: Handles so many things. Of three tries the quickest counts.
    package static func growth(from small: Int, to large: Int, _ handle: (Int) throws -> Void) rethrows -> Double {
        func least(_ count: Int) throws -> Double {
            let costs = try (0..<3).map { _ in try of { try handle(count) } / .nanoseconds(count) }
            return costs.min() ?? 0
        }
        return try least(large) / least(small)
    }

    private static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
