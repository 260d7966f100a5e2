/// Delegate methods that save the session work if the delegate does without them.
enum OptionalMethod: UInt32 {
    case receivedResponse
    case collectedMetrics
    case receivedSessionChallenge
    case receivedTaskChallenge
    case willRedirect
    case willCacheResponse
    case willBeginDelayed
    case receivedInterim
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

/// A delegate that implements the method about the cache, and may have nothing to say there.
package protocol CachingDelegate: AnyObject, Sendable {
    /// Whether to ask it about the response that is complete now. Asked on the network thread.
    var decidesOnCaching: Bool { get }
}
