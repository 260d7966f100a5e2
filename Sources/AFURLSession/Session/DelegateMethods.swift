extension URLSession {
    /// Methods of a delegate without which a session behaves differently, or has less to do.
    public struct DelegateMethods: OptionSet, Sendable {
        /// A bit for each method.
        public let rawValue: UInt8

        /// The methods of these bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The session-level method for challenges. Without it the task-level one is asked.
        public static let didReceiveChallenge = DelegateMethods(rawValue: 1)
        /// The task-level method for challenges. Without it they are handled in the standard way.
        public static let taskDidReceiveChallenge = DelegateMethods(rawValue: 2)
        /// Without it the session's ``RedirectPolicy`` decides.
        public static let taskWillPerformHTTPRedirection = DelegateMethods(rawValue: 4)
        /// Without it all responses are allowed, and none is held up.
        public static let dataTaskDidReceiveResponse = DelegateMethods(rawValue: 8)
        /// Without it responses are cached as they are.
        public static let dataTaskWillCacheResponse = DelegateMethods(rawValue: 16)
        /// Without it no metrics are collected.
        public static let taskDidFinishCollectingMetrics = DelegateMethods(rawValue: 32)
        /// Without it tasks that were to begin later load their own request.
        public static let taskWillBeginDelayedRequest = DelegateMethods(rawValue: 64)
    }

    /// Methods that are not called although the session's delegate has them; none unless set.
    ///
    /// For a delegate that has every method but does not always have a use for each. May be changed at any time; tasks
    /// that are resumed after that are sure to know. Delegates of single tasks are not concerned.
    public var ignoredDelegateMethods: DelegateMethods {
        get { state.withLock { $0.ignoredDelegateMethods } }
        set {
            state.withLock { $0.ignoredDelegateMethods = newValue }
            // The job reads it again: two threads that set it leave the loop with the same.
            world.enqueue { [self] in core.value.ignore(ignoredDelegateMethods) }
        }
    }
}

extension OptionalMethod {
    /// The same in public; nothing for those that cannot be ignored.
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
