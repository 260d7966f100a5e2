import AFBase
import AFLoop

/// One refresh of a token, and the Swift tasks that wait for its end.
///
/// Each of them may stop waiting; the refresh goes on. The result travels in the locked box and not through the
/// continuations, where the thread sanitizer cannot follow it.
final class SharedRefresh: Sendable {
    private struct State {
        var isOver = false
        var error: (any Error)?
        var waiting: [Int: UnsafeContinuation<Void, Never>] = [:]
        /// The waiters that stopped waiting, perhaps before they began.
        var gone: Set<Int> = []
        var next = 0
    }

    private let state = Lock(State())

    /// How many Swift tasks wait for its end.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Waits until the refresh ends or the calling Swift task is cancelled, and throws the error of either.
    func end() async throws {
        let number = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { wait($0, number: number) }
        } onCancel: {
            leave(number)
        }
        let (hasLeft, error) = state.withLock { ($0.gone.contains(number), $0.error) }
        if hasLeft { throw CancellationError() }
        if let error { throw error }
    }

    private func wait(_ continuation: UnsafeContinuation<Void, Never>, number: Int) {
        let isAtOnce = state.withLock { state in
            guard !state.isOver, !state.gone.contains(number) else { return true }
            state.waiting[number] = continuation
            return false
        }
        if isAtOnce { continuation.resume() }
    }

    private func leave(_ number: Int) {
        let continuation = state.withLock { state in
            state.gone.insert(number)
            return state.waiting.removeValue(forKey: number)
        }
        continuation?.resume()
    }

    /// - Parameter error: Nil if the refresh brought a token.
    func end(_ error: (any Error)?) {
        let waiting = state.withLock { state in
            state.isOver = true
            state.error = error
            defer { state.waiting = [:] }
            return state.waiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for continuation in waiting { continuation.resume() }
    }
}
