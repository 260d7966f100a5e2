import Dispatch

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
    let all = Heard<String>()
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
