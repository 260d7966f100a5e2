/// Why the session did not send a request again although an interceptor asked for it.
enum RetryRefusal: Sendable, Equatable {
    /// The session has read its body, and has no other.
    case bodyIsGone
    /// The time of the task would be over before the wait is.
    case waitIsTooLong(Duration)
    case tooManyAttempts

    var words: String {
        switch self {
        case .bodyIsGone:
            "It was not sent again: a stream cannot be read twice. Answer urlSession(_:task:needNewBodyStream:), or "
                + "upload from a file or from memory."
        case .waitIsTooLong(let wait):
            "It was not sent again: the \(wait.inWords) to wait are more than the task has left. Raise "
                + "timeoutIntervalForResource if it may take that long."
        case .tooManyAttempts:
            "It was not sent again: no task sends more than \(Interception.mostAttempts) times. Let the interceptor "
                + "give up before that."
        }
    }
}

extension Interception {
    /// What the error says in addition to why the last attempt failed.
    var remark: String {
        let count = attempt > 1 ? "The request was sent \(attempt) times." : nil
        return [count, refusal?.words].compactMap(\.self).joined(separator: " ")
    }
}
