import AFBase

/// A value that is set once, and that one caller awaits. It releases the value when the caller takes
/// it, because the value may refer to it.
final class Awaited<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case set(Value)
        case taken
    }

    private let state = Lock(State.open)

    func set(_ value: Value) {
        let waiting: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .open: state = .set(value)
            case .awaited(let continuation):
                state = .taken
                return continuation
            case .set, .taken: break
            }
            return nil
        }
        waiting?.resume(returning: value)
    }

    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let present: Value? = state.withLock { state in
                    guard case .set(let value) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .taken
                    return value
                }
                if let present { continuation.resume(returning: present) }
            }
        }
    }
}
