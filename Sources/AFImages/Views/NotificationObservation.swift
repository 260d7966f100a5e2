import Foundation

/// Observes notifications until it is released.
// Unchecked: the token is handed back to the notification center, which locks, and used for nothing else.
final class NotificationObservation: @unchecked Sendable {
    private let center: NotificationCenter
    private let token: any NSObjectProtocol

    /// - Parameter object: The sender to observe; nil for all.
    init(
        of name: Notification.Name,
        object: AnyObject? = nil,
        in center: NotificationCenter = .default,
        body: @escaping @Sendable (Notification) -> Void
    ) {
        self.center = center
        token = center.addObserver(forName: name, object: object, queue: nil, using: body)
    }

    deinit {
        center.removeObserver(token)
    }
}
