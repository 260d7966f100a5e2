package import Dispatch
import Foundation

/// The main queue, as Foundation knows it.
///
/// Whatever is called in the main queue of Dispatch directly is not on `OperationQueue.main` in Foundation's eyes, and
/// a notification that is posted there would wait for ever for its observers on `OperationQueue.main`.
package enum MainQueue {
    package static func async(group: DispatchGroup? = nil, _ body: @escaping @Sendable () -> Void) {
        group?.enter()
        OperationQueue.main.addOperation {
            body()
            group?.leave()
        }
    }

    /// Calls `body` on a queue; nil is the main queue.
    static func async(on queue: DispatchQueue?, group: DispatchGroup? = nil, _ body: @escaping @Sendable () -> Void) {
        guard let queue, queue !== DispatchQueue.main else { return async(group: group, body) }
        queue.async(group: group, execute: body)
    }

    /// Calls a completion handler on a queue; nil is the main queue, which had better be served.
    static func complete(
        on queue: DispatchQueue?,
        group: DispatchGroup? = nil,
        _ body: @escaping @Sendable () -> Void
    ) {
        guard queue == nil else { return async(on: queue, group: group, body) }
        BlockedMainQueueWarning.shared.willCall()
        async(group: group) {
            BlockedMainQueueWarning.shared.calls()
            body()
        }
    }
}
