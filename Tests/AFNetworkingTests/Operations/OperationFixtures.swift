import AFNetworking
import Dispatch
import Foundation
import Testing

/// Values that any thread may add, and that a test can wait for.
final class Collected<Element: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []

    var all: [Element] { lock.withLock { elements } }

    func add(_ element: Element) {
        lock.withLock { elements.append(element) }
    }

    func removeAll() {
        lock.withLock { elements.removeAll() }
    }

    /// Waits until there are so many, a minute at most.
    @discardableResult
    func wait(for count: Int, seconds: Double = 60) async throws -> [Element] {
        try await eventually("\(count) of them, not \(all.count)", seconds: seconds) { self.all.count >= count }
        return all
    }
}

struct WaitedInVain: Error, CustomStringConvertible {
    let description: String
}

/// Returns when the condition holds; throws after a minute.
func eventually(_ what: String = "", seconds: Double = 60, _ condition: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while !condition() {
        guard ContinuousClock.now < end else { throw WaitedInVain(description: "waited in vain for \(what)") }
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// Returns when all blocks that are enqueued on the main queue have run.
func mainQueueSettled() async {
    // First what goes there by way of the network thread.
    await withCheckedContinuation { continuation in MainQueue.whenQuiet { continuation.resume() } }
    await withCheckedContinuation { continuation in
        OperationQueue.main.addOperation { continuation.resume() }
    }
}

extension Operation {
    func ended(seconds: Double = 60) async throws {
        try await eventually("the end of \(self)", seconds: seconds) { isFinished }
    }
}

extension OperationQueue {
    /// In one call, and without waiting.
    func add(_ operations: [Operation]) {
        addOperations(operations, waitUntilFinished: false)
    }
}

extension Error {
    var urlCode: Int? { (self as NSError).domain == NSURLErrorDomain ? (self as NSError).code : nil }
}

/// Counts the notifications about one operation.
final class Announcements: Sendable {
    let all = Collected<String>()
    private let tokens: Tokens

    private final class Tokens: @unchecked Sendable {
        var list: [any NSObjectProtocol] = []
    }

    init(of operation: Operation) {
        tokens = Tokens()
        for (name, text) in [
            (Notification.Name.networkingOperationDidStart, "start"),
            (.networkingOperationDidFinish, "finish"),
        ] {
            let token = NotificationCenter.default.addObserver(forName: name, object: operation, queue: nil) {
                [all] _ in
                dispatchPrecondition(condition: .onQueue(.main))
                all.add(text)
            }
            tokens.list.append(token)
        }
    }

    deinit {
        for token in tokens.list { NotificationCenter.default.removeObserver(token) }
    }
}
