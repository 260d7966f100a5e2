import AFURLSession
import Foundation

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

/// Counts the tries of a URL, and decides about retries.
@MainActor final class Attempts {
    private let options: RetryOptions
    private let isRepeatable: Bool
    private let start = ContinuousClock.now
    /// The tries, including the current one.
    private(set) var count = 1

    /// - Parameter isRepeatable: Whether the body can be sent again.
    init(_ options: RetryOptions, isRepeatable: Bool) {
        self.options = options
        self.isRepeatable = isRepeatable
    }

    private var elapsed: Double { (ContinuousClock.now - start) / .seconds(1) }

    /// How many tries are left, including the next one.
    var left: Int { max(options.count - count + 1, 0) }

    /// The seconds before a retry; nil if there is none after this response.
    func wait(after response: HTTPURLResponse) -> Double? {
        guard isRepeatable, options.mayHeal(response.statusCode) else { return nil }
        return options.wait(after: count, elapsed: elapsed, asked: Self.asked(by: response))
    }

    /// The seconds before a retry; nil if there is none after this failure.
    func wait(after failure: TransferFailure, _ response: HTTPURLResponse?) -> Double? {
        let status = failure.code == .statusRefused ? response?.statusCode : nil
        guard isRepeatable, options.mayHeal(failure.code, status: status, isRefused: failure.isRefused) else {
            return nil
        }
        return options.wait(after: count, elapsed: elapsed, asked: response.flatMap(Self.asked))
    }

    func begin() { count += 1 }

    /// The seconds of Retry-After.
    private static func asked(by response: HTTPURLResponse) -> Double? {
        guard let url = response.url else { return nil }
        return FailedAttempt(URLRequest(url: url), response: response).retryAfter.map { $0 / .seconds(1) }
    }
}
