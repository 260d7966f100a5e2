import AFBase
import Foundation

/// Observes notifications until it is released.
final class NotificationObservation: Sendable {
    private let center: NotificationCenter
    private let token: Lock<any NSObjectProtocol>

    /// - Parameter object: The sender to observe; nil for all.
    init(
        of name: Notification.Name,
        object: (any AnyObject & Sendable)? = nil,
        in center: NotificationCenter = .default,
        body: @escaping @Sendable (Notification) -> Void
    ) {
        self.center = center
        token = Lock(center.addObserver(forName: name, object: object, queue: nil, using: body))
    }

    deinit {
        token.withLock { center.removeObserver($0) }
    }
}
