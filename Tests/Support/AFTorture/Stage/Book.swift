import AFBase
import AFLoop
import Foundation

/// Something that must have happened, exactly once, when all is over.
package protocol Book: Sendable {
    /// What is wrong, when all is over.
    var complaint: String? { get }
    /// What has not happened so far.
    var openEntry: String? { get }
}

/// A handler that must be called exactly once.
package final class Completion<Value: Sendable>: Book {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case called(Value, times: Int)
    }

    private let what: String
    private let state = Lock(State.open)
    private let wasOnLoop = Lock(false)

    init(_ what: String) {
        self.what = what
    }

    /// The handler.
    package func call(_ value: Value) {
        if StageWorld.isOnLoop { wasOnLoop.withLock { $0 = true } }
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .open: state = .called(value, times: 1)
            case .awaited(let continuation):
                state = .called(value, times: 1)
                return continuation
            case .called(let first, let times): state = .called(first, times: times + 1)
            }
            return nil
        }
        waiting?.resume(returning: value)
    }

    /// Waits for the call. For one caller. There is no limit: a watchdog sees to that.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state -> Value? in
                if case .called(let value, _) = state { return value }
                state = .awaited(continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }

    package var complaint: String? {
        if wasOnLoop.withLock({ $0 }) { return "\(what) completed on the thread of the network" }
        return state.withLock { state in
            switch state {
            case .called(_, times: 1): nil
            case .called(_, let times): "\(what) completed \(times) times"
            case .open, .awaited: "\(what) never completed"
            }
        }
    }

    package var openEntry: String? {
        state.withLock { state in
            if case .called = state { nil } else { what }
        }
    }
}
