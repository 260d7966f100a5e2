extension URLSession {
    /// Methods of a delegate that change what a session does, or save it work if the delegate does without them.
    public struct DelegateMethods: OptionSet, Sendable {
        /// A bit for each method.
        public let rawValue: UInt8

        /// The methods of these bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The session-level method for challenges. Without it the session asks the task-level one.
        public static let didReceiveChallenge = DelegateMethods(rawValue: 1)
        /// The task-level method for challenges. Without it the session handles them in the standard way.
        public static let taskDidReceiveChallenge = DelegateMethods(rawValue: 2)
        /// The method for redirects. Without it the session's ``RedirectPolicy`` decides.
        public static let taskWillPerformHTTPRedirection = DelegateMethods(rawValue: 4)
        /// The method for responses. Without it the session delivers every body, and waits for no answer.
        public static let dataTaskDidReceiveResponse = DelegateMethods(rawValue: 8)
        /// The method for cached responses. Without it the session caches responses as they are.
        public static let dataTaskWillCacheResponse = DelegateMethods(rawValue: 16)
        /// The method for metrics. Without it the session collects none.
        public static let taskDidFinishCollectingMetrics = DelegateMethods(rawValue: 32)
        /// The method for delayed requests. Without it tasks with an earliest date load their own request.
        public static let taskWillBeginDelayedRequest = DelegateMethods(rawValue: 64)
    }

    /// Methods that the session does not call although its delegate has them; none unless set.
    ///
    /// For a delegate that has every method but does not always need each. You may change it at any time; it is sure to
    /// hold for tasks that you resume after that. It does not concern the delegates of single tasks.
    public var ignoredDelegateMethods: DelegateMethods {
        get { state.withLock { $0.ignoredDelegateMethods } }
        set {
            state.withLock { $0.ignoredDelegateMethods = newValue }
            // The job reads it again: if two threads set it, the loop ends with the value that stays.
            world.enqueue { [self] in core.value.ignore(ignoredDelegateMethods) }
        }
    }
}

extension OptionalMethod {
    /// The public bit of the method; empty for methods that cannot be ignored.
    var method: URLSession.DelegateMethods {
        switch self {
        case .receivedResponse: .dataTaskDidReceiveResponse
        case .collectedMetrics: .taskDidFinishCollectingMetrics
        case .receivedSessionChallenge: .didReceiveChallenge
        case .receivedTaskChallenge: .taskDidReceiveChallenge
        case .willRedirect: .taskWillPerformHTTPRedirection
        case .willCacheResponse: .dataTaskWillCacheResponse
        case .willBeginDelayed: .taskWillBeginDelayedRequest
        case .completed, .sentBody, .needsBodyStream, .waitsForConnectivity, .receivedData, .becameDownload,
            .becameStream, .finishedDownload, .wroteDownload, .resumedDownload, .closedReading, .closedWriting,
            .becameStreams:
            []
        }
    }
}
