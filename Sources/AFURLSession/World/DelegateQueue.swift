import AFBase
import Dispatch
import Foundation

/// The queue that a session calls back on: the program's, or one of the session's own.
///
/// What a session calls on its own queue goes to the dispatch queue beneath it: an operation costs as much as a request.
/// The operation queue itself is made when the program asks for it. To make one costs as much as twenty requests.
final class DelegateQueue: Sendable {
    /// Beneath the session's own queue; nil if the queue is the program's.
    private let own: DispatchQueue?
    private let made: Lock<OperationQueue?>

    /// - Parameter queue: Nil for a serial queue of the session's own.
    init(_ queue: OperationQueue?) {
        own = queue == nil ? DispatchQueue(label: "AFURLSession.delegate") : nil
        made = Lock(queue)
    }

    var queue: OperationQueue {
        if let present { return present }
        let new = OperationQueue()
        new.name = own?.label
        new.underlyingQueue = own
        new.maxConcurrentOperationCount = 1
        return made.withLock { made in
            made = made ?? new
            return made ?? new
        }
    }

    /// The session's own dispatch queue, unless operations wait: what goes there would overtake them.
    var shortcut: DispatchQueue? {
        guard let own, let present else { return own }
        return present.operationCount == 0 && !present.isSuspended ? own : nil
    }

    /// Whether no callback runs, or waits. Those of the session's own queue are not counted.
    var isIdle: Bool { own == nil && queue.operationCount == 0 && !queue.isSuspended }

    /// Whether the program has seen it.
    var isMade: Bool { present != nil }

    private var present: OperationQueue? { made.withLock { $0 } }
}
