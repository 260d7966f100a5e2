import Foundation

/// A value that any thread may use, one at a time.
///
/// Built on `NSLock`, which is a pthread mutex: thread sanitizer misreads
/// `Synchronization.Mutex`. Every access goes through it.
final class Lock<State: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var state: State

    init(_ state: State) {
        self.state = state
    }

    /// Runs `body` with the value, alone.
    func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
