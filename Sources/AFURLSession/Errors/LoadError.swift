package import AFLoop
import AFTransport
package import AFWire

/// Why a load ended without a response, or in the middle of one. `ErrorMapping` turns it into the error that users see.
package enum LoadError: Error, Sendable {
    /// The transport reports an error.
    case transfer(TransferError)
    /// Not sent: the request itself is wrong.
    case rejected(RequestRejection)
    /// Not sent: over plain http the host's pins would not be checked.
    case plainTextForbidden
    /// Not sent: the setting that names the proxy cannot be used.
    case proxyMisconfigured(ProxyConfigurationError)
    case cancelled
    /// The body is longer than a body in memory may be.
    case bodyTooLong(limit: Int)
    /// The body could not be decoded.
    case content(ContentFailure)
    /// The policy is `returnCacheDataDontLoad`, and no response is stored.
    case notCached
    case redirect(RedirectFailure)
    /// The body could not be stored.
    case file(FileFailure)
    /// The server sent a part that the request did not ask for, with this status.
    case unaskedPart(Int)
    /// The rest of a file is shorter or longer than its `Content-Range` says.
    case brokenRest
    case resumeData(ResumeFlaw)
    case sessionInvalidated
    /// A class of the program reports an error.
    case foreign(any Error)
    /// The stream does not allow the operation.
    case stream(StreamFailure)
    /// The WebSocket could not be opened, or has ended.
    case webSocket(WebSocketFailure)
    /// A stream of events or lines does not take the response.
    case refused(ResponseRefusal)
    /// A download in parts cannot go on.
    case parts(PartsFailure)
    /// A `data:` URL or a file cannot be loaded.
    case local(LocalFailure)
    /// The time of the task is over, and who had to answer has not.
    case unanswered(MissingAnswer)
    /// The child of a fork has no network thread.
    case forked
    /// The system could not create the network thread.
    case noThread(SystemCallError)
    /// A defect of this library: something happened that cannot happen, in these words.
    case fault(String)
}

extension LoadError {
    /// An error of the program, which is reported as it is.
    package var foreign: (any Error)? {
        if case .foreign(let error) = self { error } else { nil }
    }

    package var isCancelled: Bool {
        if case .cancelled = self { true } else { false }
    }

    package var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }

    /// The time for the whole task is over.
    package var isOutOfTime: Bool {
        if case .transfer(let error) = self { error.isOutOfTime } else { false }
    }
}
