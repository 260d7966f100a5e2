/// When a ``ReconnectingWebSocket`` connects again.
public struct ReconnectionOptions: Sendable, Hashable {
    /// The wait before the first attempt to connect again. 1 second.
    ///
    /// The wait doubles with each further attempt that comes to nothing, and gets up to a quarter longer at random, so that
    /// clients which lost a server together do not come back together.
    public var initialDelay: Duration = .seconds(1)

    /// The longest wait that the doubling leads to, also if the server asks for more (`Retry-After`). 60 seconds.
    public var maximumDelay: Duration = .seconds(60)

    /// How many attempts in a row may come to nothing: no message, and no connection that lasted for ``maximumDelay``. The
    /// last error is then the end. Nil, the default, is no limit.
    public var maximumAttempts: Int?

    /// The codes of the server after which another attempt makes no sense.
    public var finalCloseCodes: Set<URLSessionWebSocketTask.CloseCode> = [
        .normalClosure, .protocolError, .unsupportedData, .invalidFramePayloadData, .policyViolation, .messageTooBig,
        .mandatoryExtensionMissing,
    ]

    /// The statuses in place of 101 after which another attempt may succeed: 408, 429, 500, 502, 503 and 504.
    public var statusCodes: Set<Int> = RetryRules().statusCodes

    /// The standard options.
    public init() {}
}
