import AFURLSession
import Foundation

/// Counts the tries of a URL, and decides about retries.
@MainActor final class Attempts {
    private let options: RetryOptions
    private let isRepeatable: Bool
    private let start = ContinuousClock.now
    /// The tries, including the current one.
    private(set) var count = 1

    /// - Parameter isRepeatable: Whether the body can be sent again.
    init(options: RetryOptions, isRepeatable: Bool) {
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
    func wait(after failure: TransferFailure, response: HTTPURLResponse?) -> Double? {
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
