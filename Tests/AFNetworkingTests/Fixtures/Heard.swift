import Dispatch

/// Where a callback runs.
enum Queues {
    private static let key = DispatchSpecificKey<String>()
    // In a test process the main queue has no thread of its own.
    private static let main: Void = DispatchQueue.main.setSpecific(key: key, value: "main")

    /// A queue that can be recognized.
    static func named(_ name: String) -> DispatchQueue {
        let queue = DispatchQueue(label: name)
        queue.setSpecific(key: key, value: name)
        return queue
    }

    /// The name of a queue made here, `main`, or that of the operation queue.
    static var current: String {
        _ = main
        if let name = DispatchQueue.getSpecific(key: key) { return name }
        return OperationQueue.current?.name ?? "another"
    }
}

/// Collects the notifications of one object.
final class Observed: @unchecked Sendable {
    struct Announcement: @unchecked Sendable {
        let name: Notification.Name
        let queue: String
        let userInfo: [String: Any]
    }

    let heard = Heard<Announcement>()
    private var tokens: [any NSObjectProtocol] = []

    init(_ names: Notification.Name..., of object: Any?) {
        tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [heard] notification in
                var info: [String: Any] = [:]
                for case (let key as String, let value) in notification.userInfo ?? [:] { info[key] = value }
                heard.add(Announcement(name: notification.name, queue: Queues.current, userInfo: info))
            }
        }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }
}
