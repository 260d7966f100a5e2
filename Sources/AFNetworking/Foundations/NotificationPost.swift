import Dispatch
import Foundation

/// Posts notifications on the main queue, in order.
///
/// In a program whose main queue is never served they would gather for ever, with the bodies of all responses. So at
/// most 4096 wait; after that the oldest are given up.
final class NotificationPost: Sendable {
    static let main = NotificationPost()
    static let room = 4096

    typealias UserInfo = [AnyHashable: Any]

    // Unchecked: what is posted is handed from the one who posts to those who observe.
    fileprivate struct Posted: @unchecked Sendable {
        let name: Notification.Name
        let object: Any
        let userInfo: () -> UserInfo?
    }

    fileprivate struct State: Sendable {
        /// Those at the beginning that are nil are given up.
        var waiting: [Posted?] = []
        var skipped = 0
        var isDelivering = false
        var givenUp: [Posted] = []
        var isLettingGo = false
    }

    private let state = Lock(State())

    /// Returns at once, and runs no code of the user's: callers may hold a lock.
    ///
    /// - Parameter userInfo: Made on the main queue, and not at all for a notification that is given up.
    func post(_ name: Notification.Name, _ object: Any, _ userInfo: @autoclosure @escaping () -> UserInfo? = nil) {
        let posted = Posted(name: name, object: object, userInfo: userInfo)
        let (isFirst, isFirstToGo) = state.withLock { state in
            state.waiting.append(posted)
            defer { state.isDelivering = true }
            return (!state.isDelivering, state.makeRoom())
        }
        if isFirst { MainQueue.async { self.deliver() } }
        // What they hold may run code when it goes.
        if isFirstToGo { DispatchQueue.global().async { self.letGo() } }
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

    /// Lets go of what is given up, as long as more comes.
    private func letGo() {
        var gone: [Posted]
        repeat {
            gone = state.withLock { state in
                defer { state.givenUp = [] }
                state.isLettingGo = !state.givenUp.isEmpty
                return state.givenUp
            }
        } while !gone.isEmpty
    }
}

extension NotificationPost.State {
    /// Gives up the oldest if there are too many. True if nobody lets go of such yet.
    fileprivate mutating func makeRoom() -> Bool {
        guard waiting.count - skipped > NotificationPost.room, let oldest = waiting[skipped] else { return false }
        givenUp.append(oldest)
        // Nil takes its place: moving all others each time would cost more than they are worth.
        waiting[skipped] = nil
        skipped += 1
        if skipped == NotificationPost.room {
            waiting.removeFirst(skipped)
            skipped = 0
        }
        defer { isLettingGo = true }
        return !isLettingGo
    }
}
