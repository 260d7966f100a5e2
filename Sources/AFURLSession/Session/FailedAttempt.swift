import AFWire
public import Foundation

/// An attempt to send a request that failed, or that brought a response with a status of 400 or above.
public struct FailedAttempt: Sendable {
    /// The request as the interceptors made it, without what the session adds (cookies, answers to challenges). After a
    /// redirect, the request of that redirect.
    public var request: URLRequest
    /// The task that the session sent it for. Nil only for attempts made by hand.
    public var task: URLSessionTask?
    /// The response, if its head has arrived. Its body is not there.
    public var response: HTTPURLResponse?
    /// Why the attempt failed; nil if it brought a whole response.
    public var error: (any Error)?
    /// Which attempt of its task it was, from 1.
    public var number: Int
    /// How long ago the task began.
    public var elapsed: Duration
    /// Whether the session can send the body again. False for a stream it has read, if no delegate can supply another
    /// one.
    public var canSendBodyAgain: Bool
    /// Whether any byte of the request may have left. If not, no server can have acted on it.
    public var hasSentBytes: Bool
    /// Whether any byte of a response has arrived.
    public var hasReceivedBytes: Bool
    /// The statuses of the responses to earlier attempts, in order. Those without a response are left out.
    public var earlierStatuses: [Int]
    /// When the attempt failed.
    public var date: Date
    /// A random number from 0 up to 1, drawn for this attempt. Compute random delays from it, not from a generator: a
    /// test that sets the number then gets the same delay each time.
    public var jitter: Double

    /// Makes an attempt by hand, to test how an interceptor answers it.
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

    /// The status of the response, if there is one.
    public var status: Int? { response?.statusCode }

    /// The code of the error, if it is a `URLError`.
    public var errorCode: URLError.Code? { (error as? URLError)?.code }

    /// Whether a server that gets the request twice does nothing more than one that gets it once: by its method (RFC
    /// 9110 §9.2.2), or because it has an `Idempotency-Key`.
    public var isIdempotent: Bool { isIdempotent(by: MethodTraits.idempotentMethods) }

    func isIdempotent(by methods: Set<String>) -> Bool {
        methods.contains(request.httpMethod ?? "GET")
            || request.value(forHTTPHeaderField: "Idempotency-Key")?.isEmpty == false
    }

    /// How long the server asks the client to wait (`Retry-After`), if it does: from zero to 100 years.
    public var retryAfter: Duration? { RetryAfter.delay(of: response, now: date.wholeSeconds) }
}

/// Reads `Retry-After` (RFC 9110 §10.2.3): seconds, or a date.
enum RetryAfter {
    /// The longest delay, a hundred years: more would be as good as never.
    static let longest: Int64 = 100 * 366 * 24 * 60 * 60

    /// The delay that a response asks for, if it does.
    static func delay(of response: HTTPURLResponse?, now: Int64) -> Duration? {
        response?.value(forHTTPHeaderField: "Retry-After").flatMap { delay($0, now: now) }
    }

    /// - Parameter now: Seconds since 1970.
    /// - Returns: Nil if the text is neither seconds nor a date.
    static func delay(_ text: String, now: Int64) -> Duration? {
        guard let seconds = seconds(text, now: now) else { return nil }
        return .seconds(min(max(seconds, 0), longest))
    }

    private static func seconds(_ text: String, now: Int64) -> Int64? {
        text.withUTF8Bytes { bytes in
            let bytes = ByteScanning.trimmingOWS(bytes)
            guard !bytes.isEmpty, bytes.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return HTTPDate.seconds(bytes).map { $0.subtractingClamped(now) }
            }
            // A number that overflows is still a number.
            return ByteScanning.decimal(bytes) ?? .max
        }
    }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other > 0 ? .min : .max) : difference
    }
}
