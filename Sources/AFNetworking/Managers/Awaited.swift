/// A value that one caller awaits and somebody else sets, once.
final class Awaited<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case set(Value)
    }

    private let state = Lock(State.open)

    func set(_ value: Value) {
        let waiting: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .open: state = .set(value)
            case .awaited(let continuation):
                state = .set(value)
                return continuation
            case .set: break
            }
            return nil
        }
        waiting?.resume(returning: value)
    }

    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let present: Value? = state.withLock { state in
                    if case .set(let value) = state { return value }
                    state = .awaited(continuation)
                    return nil
                }
                if let present { continuation.resume(returning: present) }
            }
        }
    }
}
