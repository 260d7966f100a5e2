/// Delegate methods that save the session work if the delegate does without them.
enum OptionalMethod {
    case receivedResponse
    case collectedMetrics
    case receivedSessionChallenge
    case receivedTaskChallenge
    case willRedirect
    case willCacheResponse
    case willBeginDelayed
    // A session does the same without these. They are listed for tasks with delegates of their own.
    case completed
    case sentBody
    case needsBodyStream
    case waitsForConnectivity
    case receivedData
    case becameDownload
    case becameStream
    case finishedDownload
    case wroteDownload
    case resumedDownload
    case closedReading
    case closedWriting
    case becameStreams
}

/// Which delegates do not implement which methods.
///
/// Swift does not tell whether a class uses a protocol's default implementation, but that implementation can tell, once
/// it is called. From then on the session does not call it any more: a response does not wait for a delegate that has
/// no method to judge it.
struct OptionalMethods {
    private struct Key: Hashable {
        let method: OptionalMethod
        let type: ObjectIdentifier
    }

    private var missing: Set<Key> = []

    /// True if that was not known before.
    @discardableResult
    mutating func noteMissing(_ method: OptionalMethod, in type: AnyClass) -> Bool {
        missing.insert(Key(method: method, type: ObjectIdentifier(type))).inserted
    }

    func isMissing(_ method: OptionalMethod, in object: AnyObject) -> Bool {
        !missing.isEmpty && missing.contains(Key(method: method, type: ObjectIdentifier(type(of: object))))
    }
}

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
        /// The method for redirects. Without it the session's ``/AFURLTypes/RedirectPolicy`` decides.
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
