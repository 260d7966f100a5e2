import AFBase
import Dispatch
package import Foundation

/// The queue that a session calls back on: the program's, or one of the session's own.
///
/// What a session calls on its own queue goes to the dispatch queue beneath it: an operation costs as much as a request.
/// The operation queue itself is made when the program asks for it, or when a manager's is first used. To make one costs as
/// much as twenty requests.
package final class DelegateQueue: Sendable {
    /// Beneath the session's own queue; nil if the queue is the program's, or a manager's.
    private let own: DispatchQueue?
    private let made = OnceReference<OperationQueue>()
    private let make: @Sendable () -> OperationQueue

    /// A serial queue of the session's own.
    init() {
        let own = DispatchQueue(label: "AFURLSession.delegate")
        self.own = own
        make = { .serial(own.label, over: own) }
    }

    /// The program's queue.
    init(_ queue: OperationQueue) {
        own = nil
        make = { queue }
        _ = made.set(queue)
    }

    /// A manager's serial queue: what is called on it finds it as `OperationQueue.current`.
    package init(named name: String) {
        own = nil
        make = { .serial(name) }
    }

    package var queue: OperationQueue { made.value ?? made.set(make()) }

    /// Whether the session may call on the network thread in its place.
    var isOwn: Bool { own != nil }

    /// The session's own dispatch queue, unless operations wait: what goes there would overtake them.
    var shortcut: DispatchQueue? {
        guard let own, let made = made.value else { return own }
        return made.isIdle ? own : nil
    }

    /// Whether no callback runs, or waits. Those of the session's own queue are not counted.
    var isIdle: Bool {
        guard !isOwn else { return false }
        return made.value?.isIdle ?? true
    }

    /// Whether the session or the program has needed the operation queue.
    package var isMade: Bool { made.value != nil }
}

extension OperationQueue {
    /// An operation counts until it has finished.
    fileprivate var isIdle: Bool { operationCount == 0 && !isSuspended }

    fileprivate static func serial(_ name: String, over queue: DispatchQueue? = nil) -> OperationQueue {
        let new = OperationQueue()
        new.name = name
        new.underlyingQueue = queue
        new.maxConcurrentOperationCount = 1
        return new
    }
}
