import AFURLSession
import Foundation

/// How often a URL was tried, and whether it is once more.
@MainActor final class Attempts {
    private let options: RetryOptions
    private let isRepeatable: Bool
    private let start = ContinuousClock.now
    /// With the one that is under way.
    private(set) var count = 1

    /// - Parameter isRepeatable: the body can be sent again.
    init(_ options: RetryOptions, isRepeatable: Bool) {
        self.options = options
        self.isRepeatable = isRepeatable
    }

    private var elapsed: Double { (ContinuousClock.now - start) / .seconds(1) }

    /// How many tries are left.
    var left: Int { max(options.count - count + 1, 0) }

    /// In seconds; nil if this response is the last one.
    func wait(after response: HTTPURLResponse) -> Double? {
        guard isRepeatable, options.mayHeal(response.statusCode) else { return nil }
        return options.wait(after: count, elapsed: elapsed, asked: Self.asked(by: response))
    }

    /// In seconds; nil if it stays with that.
    func wait(after failure: TransferFailure, _ response: HTTPURLResponse?) -> Double? {
        let status = failure.code == .statusRefused ? response?.statusCode : nil
        guard isRepeatable, options.mayHeal(failure.code, status: status, isRefused: failure.isRefused) else {
            return nil
        }
        return options.wait(after: count, elapsed: elapsed, asked: response.flatMap(Self.asked))
    }

    func begin() { count += 1 }

    /// What the server wants, as the library reads it.
    private static func asked(by response: HTTPURLResponse) -> Double? {
        guard let url = response.url else { return nil }
        return FailedAttempt(URLRequest(url: url), response: response).retryAfter.map { $0 / .seconds(1) }
    }
}
