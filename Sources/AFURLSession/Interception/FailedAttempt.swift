public import Foundation

/// A request that was sent, or was to be, and did not bring what was wanted.
public struct FailedAttempt: Sendable {
    /// What was sent, as the interceptors made it, without what the session adds (cookies, answers to challenges).
    /// After a redirect, the request of that redirect.
    public var request: URLRequest
    /// What it was sent for. Nil only for attempts made by hand.
    public var task: URLSessionTask?
    /// What came back, if its head has arrived. Its body is not there.
    public var response: HTTPURLResponse?
    /// Why it failed; nil if it brought a response in full.
    public var error: (any Error)?
    /// Which attempt of its task it was, from 1.
    public var number: Int
    /// How long ago the task began.
    public var elapsed: Duration
    /// Whether the body could be sent again: false for streams that were read, if nobody can supply another.
    public var canSendBodyAgain: Bool
    /// Whether any byte of the request may have left. If not, nobody can have acted on it.
    public var hasSentBytes: Bool
    /// Whether any byte of a response has arrived.
    public var hasReceivedBytes: Bool
    /// The statuses of the responses to earlier attempts, in order. Those without a response are left out.
    public var earlierStatuses: [Int]
    /// When it failed.
    public var date: Date
    /// A random number from 0 up to 1, drawn for this attempt. What is computed from it instead of from a generator is
    /// the same each time in a test that knows the number.
    public var jitter: Double

    /// Makes one by hand, to find out what an interceptor says to it.
    public init(
        _ request: URLRequest,
        response: HTTPURLResponse? = nil,
        error: (any Error)? = nil,
        number: Int = 1,
        elapsed: Duration = .zero,
        canSendBodyAgain: Bool = true,
        hasSentBytes: Bool = true,
        hasReceivedBytes: Bool? = nil,
        earlierStatuses: [Int] = [],
        date: Date = Date(),
        jitter: Double = .random(in: 0..<1)
    ) {
        self.request = request
        self.response = response
        self.error = error
        self.number = number
        self.elapsed = elapsed
        self.canSendBodyAgain = canSendBodyAgain
        self.hasSentBytes = hasSentBytes
        self.hasReceivedBytes = hasReceivedBytes ?? (response != nil)
        self.earlierStatuses = earlierStatuses
        self.date = date
        self.jitter = jitter
    }

    /// Of the response, if there is one.
    public var status: Int? { response?.statusCode }

    /// Of the error, if there is one of the loading system's.
    public var errorCode: URLError.Code? { (error as? URLError)?.code }

    /// Whether sending it twice asks for nothing more than sending it once, going by its method (RFC 9110 §9.2.2), or
    /// because it has an `Idempotency-Key`.
    public var isIdempotent: Bool { isIdempotent(by: RetryRules.idempotentMethods) }

    func isIdempotent(by methods: Set<String>) -> Bool {
        methods.contains(request.httpMethod ?? "GET")
            || request.value(forHTTPHeaderField: "Idempotency-Key")?.isEmpty == false
    }

    /// How long the server asks to be left alone (`Retry-After`), if it does: at least nothing, at most 100 years.
    public var retryAfter: Duration? {
        guard let text = response?.value(forHTTPHeaderField: "Retry-After") else { return nil }
        return RetryAfter.delay(text, now: date.wholeSeconds)
    }
}
