import Foundation

/// Posts notifications on the main queue, in order.
///
/// In a program whose main queue is never served they would gather for ever, with the bodies of all responses. So at
/// most 4096 wait; after that the oldest are given up.
final class NotificationPost: Sendable {
    static let main = NotificationPost()
    static let room = 4096

    // Unchecked: what is posted is handed from the one who posts to those who observe.
    fileprivate struct State: @unchecked Sendable {
        var waiting: [Notification] = []
        /// Notifications at the beginning that are given up.
        var skipped = 0
        var isDelivering = false
    }

    private let state = Lock(State())

    func post(_ name: Notification.Name, _ object: Any, _ userInfo: [String: Any]? = nil) {
        let notification = Notification(name: name, object: object, userInfo: userInfo)
        let isFirst = state.withLock { state in
            state.waiting.append(notification)
            if state.waiting.count - state.skipped > NotificationPost.room { state.giveUpOldest() }
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        if isFirst { MainQueue.async { self.deliver() } }
    }

    private func deliver() {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting.dropFirst(state.skipped)
        }
        for notification in waiting { NotificationCenter.default.post(notification) }
    }
}

extension NotificationPost.State {
    fileprivate mutating func giveUpOldest() {
        // An empty one takes its place: moving all others each time would cost more than they are worth.
        waiting[skipped] = Notification(name: waiting[skipped].name)
        skipped += 1
        guard skipped == NotificationPost.room else { return }
        waiting.removeFirst(skipped)
        skipped = 0
    }
}
