import Foundation

/// The main queue, as Foundation knows it.
///
/// Whatever is called in the main queue of Dispatch directly is not on `OperationQueue.main` in Foundation's eyes, and
/// a notification that is posted there would wait for ever for its observers on `OperationQueue.main`.
enum MainQueue {
    /// Calls `body` on the main queue, after what was asked for before.
    static func async(_ body: @escaping @MainActor @Sendable () -> Void) {
        OperationQueue.main.addOperation { MainActor.assumeIsolated(body) }
    }
}
