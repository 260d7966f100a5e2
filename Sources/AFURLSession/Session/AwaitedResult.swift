import AFBase
import Foundation

/// Carries a result from a callback to the Swift task that awaits it. The first result counts.
///
/// The value travels in a locked box and not through the continuation, where the thread sanitizer cannot follow it. A
/// cancelled task may answer before the Swift task waits; then that resumes at once.
final class AwaitedResult<Value: Sendable>: Sendable {
    private struct State {
        var continuation: UnsafeContinuation<Void, Never>?
        var result: Result<Value, any Error>?
    }

    private let state = Lock(State())

    func expect(_ continuation: UnsafeContinuation<Void, Never>) {
        let isThere = state.withLock { state in
            if state.result == nil { state.continuation = continuation }
            return state.result != nil
        }
        if isThere { continuation.resume() }
    }

    func give(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            if state.result == nil { state.result = result }
            defer { state.continuation = nil }
            return state.continuation
        }
        waiting?.resume()
    }

    func taken() throws -> Value {
        guard let result = state.withLock({ $0.result }) else { throw URLError(.unknown) }
        return try result.get()
    }
}
