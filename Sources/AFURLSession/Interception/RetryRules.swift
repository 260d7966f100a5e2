import AFWire
public import Foundation

/// Sends idempotent requests again when another attempt may succeed.
///
/// ```swift
/// configuration.requestInterceptors = [RetryRules()]
/// ```
///
/// | result of the attempt                     | sent again                                                       |
/// |-------------------------------------------|------------------------------------------------------------------|
/// | a status of ``statusCodes``               | if it is idempotent                                              |
/// | an error of ``errorCodes``                | if it is idempotent, or no byte of it has left                   |
/// | any other error: certificates, bad URLs … | never                                                            |
///
/// Idempotent are the methods of ``methods``, and any request with an `Idempotency-Key`.
///
/// The wait before each attempt is a random part of a time that doubles (*full jitter*), so that clients which failed
/// together do not come back together. It is at least as long as the server asks for (`Retry-After`). All attempts and
/// waits count against `timeoutIntervalForResource`: a wait that would leave no time does not begin.
public struct RetryRules: TaskInterceptor, Hashable {
    /// The methods of RFC 9110 §9.2.2: a server that gets such a request twice does nothing more than one that gets it
    /// once.
    public static let idempotentMethods: Set<String> = MethodTraits.idempotentMethods

    /// How often the session sends a request at most, the first time included. 3 by default; with 1 or less it sends
    /// nothing again, also where the server has closed a kept connection.
    public var maximumAttempts = 3

    /// The methods that the session may send twice. ``idempotentMethods`` unless set.
    public var methods = RetryRules.idempotentMethods

    /// The statuses after which another attempt may succeed: 408, 429, 500, 502, 503 and 504 unless set.
    public var statusCodes: Set<Int> = [408, 429, 500, 502, 503, 504]

    /// The errors after which another attempt may succeed. Unless set: timeouts, connections that broke or could not be
    /// made, a name service or a network that cannot be reached.
    ///
    /// A name that does not exist, a certificate that is not accepted and a request that must not be sent fail again in
    /// the same way.
    public var errorCodes: Set<URLError.Code> = [
        .timedOut, .networkConnectionLost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
    ]

    /// The longest wait before the second attempt; it doubles for each further one. Half a second.
    public var baseDelay: Duration = .milliseconds(500)

    /// The longest wait that the doubling leads to. 30 seconds.
    public var maximumDelay: Duration = .seconds(30)

    /// The longest wait that a server may ask for with `Retry-After`. 60 seconds.
    ///
    /// If it asks for more, the session sends nothing again, and the response is the task's.
    public var maximumRetryAfter: Duration = .seconds(60)

    /// The standard rules.
    public init() {}

    /// - Parameter maximumAttempts: How often a request is sent at most, the first time included.
    public init(maximumAttempts: Int) {
        self.maximumAttempts = maximumAttempts
    }

    /// Decides as described above.
    public func retry(after attempt: FailedAttempt) async -> RetryDecision { decision(after: attempt) }

    /// The same decision, made at once.
    public func decision(after attempt: FailedAttempt) -> RetryDecision {
        guard attempt.number < maximumAttempts, mayHeal(attempt) else { return .giveUp }
        let wait = backOff(after: attempt)
        guard attempt.error == nil, let asked = attempt.retryAfter else { return .retry(after: wait) }
        return asked > maximumRetryAfter ? .giveUp : .retry(after: max(asked, wait))
    }

    private func mayHeal(_ attempt: FailedAttempt) -> Bool {
        if attempt.error != nil {
            guard let code = attempt.errorCode, errorCodes.contains(code) else { return false }
            return attempt.isIdempotent(by: methods) || !attempt.hasSentBytes
        }
        return attempt.status.map(statusCodes.contains) == true && attempt.isIdempotent(by: methods)
    }

    /// A random part of the doubled delay.
    private func backOff(after attempt: FailedAttempt) -> Duration {
        let doublings = Double(max(0, min(attempt.number - 1, 62)))
        let longest = min(baseDelay.seconds * exp2(doublings), maximumDelay.seconds)
        let share = attempt.jitter.isFinite ? min(max(attempt.jitter, 0), 1) : 1
        return .nanoseconds(Int64(max(0, min(longest * share, 1e9)) * 1e9))
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

extension RetryRules: ForeseenInterceptor {
    func foreseen(_ request: URLRequest) -> URLRequest? { request }
}

extension RetryRules: AttemptLimit {}
