import AFBase
import Dispatch
package import Foundation

/// Posts notifications on the main queue, in order.
///
/// If no thread serves the main queue, notifications pile up together with the bodies of their responses. So at most
/// 4096 wait; beyond that the oldest are dropped.
package final class NotificationPoster: Sendable {
    package static let main = NotificationPoster()
    package static let room = 4096

    package typealias UserInfo = [AnyHashable: Any]

    // Unchecked: the poster hands the object and the user info over to the observers.
    fileprivate struct Posted: @unchecked Sendable {
        let name: Notification.Name
        let object: Any
        let userInfo: () -> UserInfo?
    }

    fileprivate struct State: Sendable {
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

    /// Returns at once and runs none of the program's code: the caller may hold a lock.
    ///
    /// - Parameter userInfo: Evaluated on the main queue, and not at all for a notification that is dropped.
    package func post(
        _ name: Notification.Name,
        _ object: Any,
        _ userInfo: @autoclosure @escaping () -> UserInfo? = nil
    ) {
        let posted = Posted(name: name, object: object, userInfo: userInfo)
        let (isFirst, isFirstToGo) = state.withLock { state in
            state.waiting.append(posted)
            defer { state.isDelivering = true }
            return (!state.isDelivering, state.makeRoom())
        }
        if isFirst { MainQueue.async { self.deliver() } }
        // Releasing them may run the program's code, and the caller may hold a lock.
        if isFirstToGo { DispatchQueue.global().async { self.releaseDropped() } }
    }

    private func deliver() {
        let waiting = state.withLock { state in
            defer { (state.waiting, state.skipped, state.isDelivering) = ([], 0, false) }
            return state.waiting
        }
        for case let posted? in waiting {
            let notification = Notification(name: posted.name, object: posted.object, userInfo: posted.userInfo())
            NotificationCenter.default.post(notification)
        }
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
