/// What the session does about a failed request.
@nonexhaustive
public enum RetryDecision: Sendable {
    /// This interceptor does not ask for another attempt. If none does, the response or error is the task's.
    case giveUp
    /// The session sends the request again after this long, and never earlier.
    ///
    /// If it cannot send the body again, if the wait would take longer than the task may, or after a hundred attempts,
    /// the response or error is the task's, and an error says why there was no further attempt.
    case retry(after: Duration)
    /// The task fails with this error.
    case fail(any Error)

    /// The session sends the request again at once.
    public static var retry: RetryDecision { .retry(after: .zero) }
}
