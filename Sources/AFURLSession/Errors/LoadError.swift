import AFLoop
import AFTransport
import AFWire

/// Why a load ended without a response, or in the middle of one. `ErrorMapping` turns it into what users see.
enum LoadError: Error, Sendable {
    /// The transport says so.
    case transfer(TransferError)
    /// Never sent: the request itself is wrong.
    case rejected(RequestRejection)
    /// Never sent: over plain http nobody would look at the pins of the host.
    case plainTextForbidden
    /// Never sent: the setting that says which proxy to take cannot be used.
    case proxyMisconfigured(ProxyConfigurationError)
    case cancelled
    /// More body than may be held in memory.
    case bodyTooLong(limit: Int)
    /// The body's coding could not be undone.
    case content(ContentFailure)
    /// `returnCacheDataDontLoad`, and nothing is cached.
    case notCached
    case redirect(RedirectFailure)
    /// The body could not be stored.
    case file(FileFailure)
    /// The answer is for a part that was not asked for, with this status.
    case unaskedPart(Int)
    /// The rest of a file is shorter or longer than it was said to be.
    case brokenRest
    case resumeData(ResumeRecord.Flaw)
    case sessionInvalidated
    /// A class of the program says so.
    case foreign(any Error)
    /// Something cannot be done to a stream.
    case stream(StreamFailure)
    /// A `data:` URL or a file cannot be loaded.
    case local(LocalFailure)
    /// In the child of a fork there is no network thread.
    case forked
    /// The system has no thread for us.
    case noThread(SystemCallError)
}

extension LoadError {
    /// What is reported as it is.
    var foreign: (any Error)? {
        if case .foreign(let error) = self { error } else { nil }
    }

    var isCancelled: Bool {
        if case .cancelled = self { true } else { false }
    }

    /// The task as a whole has no time left.
    var isOutOfTime: Bool {
        if case .transfer(let error) = self { error.isOutOfTime } else { false }
    }
}
