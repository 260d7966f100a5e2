import AFURLSession

/// The options about retries.
package struct RetryOptions: Sendable, Equatable {
    /// How many retries at most.
    package var count = 0
    /// Seconds before each retry; nil for 1, then twice as long each time.
    package var delay: Double?
    /// Seconds since the first try began, after which there is no retry.
    package var maximumTime: Double?
    package var afterRefusal = false
    package var afterEverything = false

    package init() {}

    var isOn: Bool { count > 0 }

    /// Statuses after which a retry may succeed.
    private static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504, 522, 524]
    /// The longest wait, in seconds, by doubling, and by Retry-After without a `maximumTime`.
    private static let longestWait = 600.0

    func mayHeal(_ status: Int) -> Bool { Self.statuses.contains(status) }

    /// Whether a retry may succeed.
    ///
    /// - Parameters:
    ///   - status: The status of the response, if there is one.
    ///   - isRefused: Whether every address refused the connection.
    func mayHeal(_ code: ExitCode, status: Int?, isRefused: Bool) -> Bool {
        if let status, code == .done || code == .statusRefused, mayHeal(status) { return true }
        switch code {
        case .timedOut, .nameNotResolved, .proxyNotResolved: return true
        case .cannotConnect where isRefused && afterRefusal: return true
        default: return afterEverything && code != .done
        }
    }

    /// The seconds before the next retry; nil if there is no retry or no time left, or if Retry-After is too long.
    ///
    /// - Parameters:
    ///   - tries: How many tries there were.
    ///   - elapsed: The seconds since the first try began.
    ///   - asked: The seconds of Retry-After.
    package func wait(after tries: Int, elapsed: Double, asked: Double?) -> Double? {
        guard tries <= count, asked ?? 0 <= maximumTime ?? Self.longestWait else { return nil }
        let doubled = min(Double(1 << min(tries - 1, 20)), Self.longestWait)
        let wait = asked ?? delay ?? doubled
        if let maximumTime, elapsed + wait > maximumTime { return nil }
        return wait
    }
}
