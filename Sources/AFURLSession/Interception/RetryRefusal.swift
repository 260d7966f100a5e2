/// Why a request was not sent again although an interceptor wanted it.
enum RetryRefusal: Sendable, Equatable {
    /// Its body was read, and there is no other.
    case bodyIsGone
    /// The task would be out of time before.
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
    /// What an error says beside why the last attempt failed.
    var remark: String {
        let count = attempt > 1 ? "The request was sent \(attempt) times." : nil
        return [count, refusal?.words].compactMap(\.self).joined(separator: " ")
    }
}
