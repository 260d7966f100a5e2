import AFBase
import Dispatch
package import Foundation

/// What a notification says beside its name and its object.
package protocol NotificationDetails: AnyObject, Sendable {
    /// Asked on the main queue.
    var userInfo: [AnyHashable: Any] { get }
}

/// Posts notifications on the main queue, in order. Those that come while the network thread works leave together.
///
/// If no thread serves the main queue, notifications pile up together with the bodies of their responses. So at most
/// 4096 wait; beyond that the oldest are dropped.
package final class NotificationPoster: Sendable {
    package static let main = NotificationPoster()
    package static let room = 4096

    fileprivate struct Posted {
        let name: Notification.Name
        let object: AnyObject
        let details: (any NotificationDetails)?

        func tellObservers() {
            NotificationCenter.default.post(name: name, object: object, userInfo: details?.userInfo)
        }
    }

    fileprivate struct State {
        /// A nil at the beginning stands for a dropped notification.
        var waiting: [Posted?] = []
        var skipped = 0
        var isDelivering = false
        var dropped: [Posted] = []
        var isReleasing = false
        var dropCount = 0
    }

    private let state = Lock(State())

    package init() {}

    /// How many notifications were dropped. Observers that count by notifications look for what they have missed.
    package var dropCount: Int { state.withLock { $0.dropCount } }

    /// Returns at once and runs none of the program's code, because the caller may hold a lock; unless `onMainQueue`.
    ///
    /// - Parameters:
    ///   - details: Asked when the notification is posted, and not at all if it is dropped.
    ///   - onMainQueue: Whether this is called on the main queue, and the observers may be, too.
    package func post(
        _ name: Notification.Name,
        object: AnyObject,
        details: (any NotificationDetails)? = nil,
        onMainQueue: Bool = false
    ) {
        let posted = Posted(name: name, object: object, details: details)
        if onMainQueue, state.withLock({ $0.waiting.isEmpty }) { return posted.tellObservers() }
        let (isFirst, isFirstToGo) = state.withLock { state in
            state.waiting.append(posted)
            defer { state.isDelivering = true }
            return (!state.isDelivering, state.makeRoom())
        }
        if isFirst { MainQueue.whenQuiet { self.deliver() } }
        // Releasing them may run the program's code, and the caller may hold a lock.
        if isFirstToGo { DispatchQueue.global().async { self.releaseDropped() } }
    }

    private func deliver() {
        let waiting = state.withLock { state in
            defer { (state.waiting, state.skipped, state.isDelivering) = ([], 0, false) }
            return state.waiting
        }
        for case let posted? in waiting { posted.tellObservers() }
    }

    /// Releases dropped notifications until there are none left.
    private func releaseDropped() {
        var gone: [Posted]
        repeat {
            gone = state.withLock { state in
                defer { state.dropped = [] }
                state.isReleasing = !state.dropped.isEmpty
                return state.dropped
            }
        } while !gone.isEmpty
    }
}

extension NotificationPoster.State {
    /// Drops the oldest notification if there are too many. True if the caller must start to release dropped ones.
    fileprivate mutating func makeRoom() -> Bool {
        guard waiting.count - skipped > NotificationPoster.room, let oldest = waiting[skipped] else { return false }
        dropped.append(oldest)
        dropCount += 1
        // Nil takes its place: removing the first element would move all others each time.
        waiting[skipped] = nil
        skipped += 1
        if skipped == NotificationPoster.room {
            waiting.removeFirst(skipped)
            skipped = 0
        }
        defer { isReleasing = true }
        return !isReleasing
    }
}
