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

/// The call by which the session asks a delegate that lacks the method with a completion handler.
///
/// That method's default implementation calls the `async` method. If the delegate lacks that one too, its default
/// implementation sees the call that it is part of, and reports that the delegate has no method. A delegate's own method
/// may call the same default implementation: then there is no such call, and the session goes on asking the delegate.
struct DefaultCall: Sendable {
    @TaskLocal private static var current: DefaultCall?

    private let method: OptionalMethod
    private let delegate: ObjectIdentifier

    /// Calls the `async` method in place of the one that the delegate lacks.
    static func of(_ method: OptionalMethod, on delegate: AnyObject, body: () -> Task<Void, Never>) {
        $current.withValue(DefaultCall(method: method, delegate: ObjectIdentifier(delegate))) { _ = body() }
    }

    /// Whether the delegate lacks the method in both forms.
    static func hasReached(_ method: OptionalMethod, of delegate: AnyObject) -> Bool {
        current?.method == method && current?.delegate == ObjectIdentifier(delegate)
    }
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
