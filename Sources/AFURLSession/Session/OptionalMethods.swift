/// Delegate methods without which a task has less to do.
enum OptionalMethod {
    case receivedResponse
    case collectedMetrics
    case receivedSessionChallenge
    case receivedTaskChallenge
    case willRedirect
    case willCacheResponse
    case willBeginDelayed
    // What a session does is the same without these. They are told apart for tasks that have delegates of their own.
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

/// Which delegates have no method of their own for something.
///
/// Swift does not tell whether a class took a protocol's default implementation, but
/// that implementation can tell, once it is called. From then on it is not called any
/// more: a response nobody wants to judge is not held up for an answer.
struct OptionalMethods {
    private struct Key: Hashable {
        let method: OptionalMethod
        let type: ObjectIdentifier
    }

    private var missing: Set<Key> = []

    /// True if that was not known.
    @discardableResult
    mutating func noteMissing(_ method: OptionalMethod, in type: AnyClass) -> Bool {
        missing.insert(Key(method: method, type: ObjectIdentifier(type))).inserted
    }

    func isMissing(_ method: OptionalMethod, in object: AnyObject) -> Bool {
        !missing.isEmpty && missing.contains(Key(method: method, type: ObjectIdentifier(type(of: object))))
    }
}
