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
    case openedWebSocket
    case closedWebSocket
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
