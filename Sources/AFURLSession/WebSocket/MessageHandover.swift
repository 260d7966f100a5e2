import AFBase

/// Hands messages from one Swift task to others. The giver goes on when its message was taken.
final class MessageHandover: Sendable {
    private typealias Handed = (message: URLSessionWebSocketTask.Message, giver: UnsafeContinuation<Void, Never>?)

    private struct State {
        var message: URLSessionWebSocketTask.Message?
        var giver: UnsafeContinuation<Void, Never>?
        /// Those who wait for a message, by a number.
        var takers: [Int: UnsafeContinuation<Void, Never>] = [:]
        var nextTaker = 0
        var ending: Result<Void, any Error>?

        mutating func takeAll() -> [UnsafeContinuation<Void, Never>] {
            defer { (giver, takers) = (nil, [:]) }
            return takers.sorted { $0.key < $1.key }.map(\.value) + [giver].compactMap(\.self)
        }

        mutating func takeMessage() -> Handed? {
            guard let message = message.take() else { return nil }
            return (message, giver.take())
        }

        mutating func firstTaker() -> UnsafeContinuation<Void, Never>? {
            takers.keys.min().flatMap { takers.removeValue(forKey: $0) }
        }
    }

    private let state = Lock(State())

    /// Returns when the message was taken, or at the end, when none is taken any more.
    func give(_ message: URLSessionWebSocketTask.Message) async {
        await withUnsafeContinuation { continuation in
            let (taker, isOver) = state.withLock { state -> (UnsafeContinuation<Void, Never>?, Bool) in
                guard state.ending == nil else { return (nil, true) }
                (state.message, state.giver) = (message, continuation)
                return (state.firstTaker(), false)
            }
            taker?.resume()
            if isOver { continuation.resume() }
        }
    }

    /// The next message; nil at the end.
    func take() async throws -> URLSessionWebSocketTask.Message? {
        while true {
            if Task.isCancelled {
                // Another one takes the message for which this one was woken.
                state.withLock { $0.message == nil ? nil : $0.firstTaker() }?.resume()
                throw CancellationError()
            }
            let (taken, ending) = state.withLock { ($0.takeMessage(), $0.ending) }
            if let taken {
                taken.giver?.resume()
                return taken.message
            }
            if let ending {
                try ending.get()
                return nil
            }
            await waitForMessage()
        }
    }

    private func waitForMessage() async {
        let number = state.withLock { state in
            defer { state.nextTaker += 1 }
            return state.nextTaker
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let mayGoOn = state.withLock { state in
                    guard state.message == nil, state.ending == nil, !Task.isCancelled else { return true }
                    state.takers[number] = continuation
                    return false
                }
                if mayGoOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.takers.removeValue(forKey: number) }?.resume()
        }
    }

    /// Only the first end counts.
    func end(_ error: (any Error)?) {
        let all = state.withLock { state in
            if state.ending == nil { state.ending = error.map { .failure($0) } ?? .success(()) }
            return state.takeAll()
        }
        for continuation in all { continuation.resume() }
    }
}
