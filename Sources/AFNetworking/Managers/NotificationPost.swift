import Dispatch
import Foundation

/// Posts notifications on the main queue, in order.
///
/// In a program whose main queue is never served they would gather for ever, with the bodies of all responses. So at
/// most 4096 wait; after that the oldest are given up.
final class NotificationPost: Sendable {
    static let main = NotificationPost()
    static let room = 4096

    // Unchecked: what is posted is handed from the one who posts to those who observe.
    fileprivate struct Posted: @unchecked Sendable {
        let notification: Notification
    }

    fileprivate struct State: Sendable {
        var waiting: [Posted] = []
        /// Notifications at the beginning that are given up.
        var skipped = 0
        var isDelivering = false
    }

    private let state = Lock(State())

    /// Returns at once, and runs no code of the user's: callers may hold a lock.
    func post(_ name: Notification.Name, _ object: Any, _ userInfo: [String: Any]? = nil) {
        let posted = Posted(notification: Notification(name: name, object: object, userInfo: userInfo))
        let (isFirst, oldest) = state.withLock { state -> (Bool, Posted?) in
            state.waiting.append(posted)
            defer { state.isDelivering = true }
            let isFull = state.waiting.count - state.skipped > NotificationPost.room
            return (!state.isDelivering, isFull ? state.giveUpOldest() : nil)
        }
        if isFirst { MainQueue.async { self.deliver() } }
        // What it holds may run code when it goes.
        if let oldest { DispatchQueue.global().async { withExtendedLifetime(oldest) {} } }
    }

    private func deliver() {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting.dropFirst(state.skipped)
        }
        for posted in waiting { NotificationCenter.default.post(posted.notification) }
    }
}

extension NotificationPost.State {
    fileprivate mutating func giveUpOldest() -> NotificationPost.Posted {
        let oldest = waiting[skipped]
        // An empty one takes its place: moving all others each time would cost more than they are worth.
        waiting[skipped] = NotificationPost.Posted(notification: Notification(name: oldest.notification.name))
        skipped += 1
        if skipped == NotificationPost.room {
            waiting.removeFirst(skipped)
            skipped = 0
        }
        return oldest
    }
}
