/// The options about trying again.
package struct RetryOptions: Sendable, Equatable {
    /// How often at most, after the first time.
    package var count = 0
    /// In seconds, before each try; nil: one, and then twice as long each time.
    package var delay: Double?
    /// In seconds since the first try began.
    package var maximumTime: Double?
    package var afterRefusal = false
    package var afterEverything = false

    package init() {}

    var isOn: Bool { count > 0 }

    /// Statuses that may heal.
    private static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504, 522, 524]
    /// The longest wait that doubling leads to, and that a server may ask for unless there is a `maximumTime`.
    private static let longestWait = 600.0

    func mayHeal(_ status: Int) -> Bool { Self.statuses.contains(status) }

    /// Whether another try may come to a better end.
    ///
    /// - Parameters:
    ///   - status: of the response, if one came.
    ///   - isRefused: nobody listens at the address.
    func mayHeal(_ code: ExitCode, status: Int?, isRefused: Bool) -> Bool {
        if let status, code == .done || code == .statusRefused, mayHeal(status) { return true }
        switch code {
        case .timedOut, .nameNotResolved, .proxyNotResolved: return true
        case .cannotConnect where isRefused && afterRefusal: return true
        default: return afterEverything && code != .done
        }
    }

    /// In seconds; nil if there is no time left for it, or the server wants to be left alone for too long.
    ///
    /// - Parameters:
    ///   - tries: how many there were.
    ///   - elapsed: since the first one began.
    ///   - asked: how long the server wants to be left alone.
    package func wait(after tries: Int, elapsed: Double, asked: Double?) -> Double? {
        guard tries <= count, asked ?? 0 <= maximumTime ?? Self.longestWait else { return nil }
        let doubled = min(Double(1 << min(tries - 1, 20)), Self.longestWait)
        let wait = asked ?? delay ?? doubled
        if let maximumTime, elapsed + wait > maximumTime { return nil }
        return wait
    }
}
