import Dispatch
import Foundation

/// Collects what callbacks report, in order, for a test that waits for it.
final class Heard<Value: Sendable>: @unchecked Sendable {
    struct TimedOut: Error, CustomStringConvertible {
        let description: String
    }

    private let lock = NSLock()
    private var values: [Value] = []
    private var waiters: [UUID: (isMet: ([Value]) -> Bool, resume: (Bool) -> Void)] = [:]

    var all: [Value] { lock.withLock { values } }

    func say(_ value: Value) {
        let met = lock.withLock {
            values.append(value)
            let met = waiters.filter { $0.value.isMet(values) }
            for key in met.keys { waiters[key] = nil }
            return met.map(\.value.resume)
        }
        for resume in met { resume(true) }
    }

    /// Waits, a minute at most, for so many reports.
    @discardableResult
    func wait(for count: Int = 1, seconds: Int = 60) async throws -> [Value] {
        try await wait(seconds: seconds) { $0.count >= count }
    }

    @discardableResult
    func wait(seconds: Int = 60, until isMet: @escaping @Sendable ([Value]) -> Bool) async throws -> [Value] {
        let key = UUID()
        let isThere = await withCheckedContinuation { continuation in
            let isThere = lock.withLock {
                if isMet(values) { return true }
                waiters[key] = (isMet, { continuation.resume(returning: $0) })
                return false
            }
            if isThere { return continuation.resume(returning: true) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { [self] in
                let late = lock.withLock { waiters.removeValue(forKey: key) }
                late?.resume(false)
            }
        }
        guard isThere else { throw TimedOut(description: "waited in vain; there is \(all)") }
        return all
    }

    var first: Value {
        get async throws { try await wait()[0] }
    }
}

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
                heard.say(Announcement(name: notification.name, queue: Queues.current, userInfo: info))
            }
        }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }
}
