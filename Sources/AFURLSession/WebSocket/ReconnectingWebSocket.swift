import AFBase
import AFTransport
public import Foundation

/// Hears what a ``ReconnectingWebSocket`` does, in order, on the delegate queue of its session.
public protocol ReconnectingWebSocketDelegate: AnyObject, Sendable {
    /// The WebSocket is open, for the first time or again: the server knows nothing of what was said before.
    func webSocket(_ webSocket: ReconnectingWebSocket, didOpen task: URLSessionWebSocketTask)

    /// A message has arrived. The next one is received when this has returned.
    func webSocket(_ webSocket: ReconnectingWebSocket, didReceive message: URLSessionWebSocketTask.Message)

    /// The WebSocket was closed, or could not be opened, and will be opened again after a wait.
    ///
    /// - Parameters:
    ///   - webSocket: The WebSocket that was closed.
    ///   - wait: The time until the attempt.
    ///   - attempt: The number of the attempt to come: 1 after a connection that was good.
    ///   - error: Why; nil if the server has closed in order.
    func webSocket(
        _ webSocket: ReconnectingWebSocket,
        willReconnectAfter wait: Duration,
        attempt: Int,
        because error: (any Error)?
    )

    /// It will not be opened again. The last call.
    ///
    /// - Parameters:
    ///   - webSocket: The WebSocket that has ended.
    ///   - error: Nil after ``ReconnectingWebSocket/close(with:reason:)``, and if the server has closed for good.
    func webSocket(_ webSocket: ReconnectingWebSocket, didEndWith error: (any Error)?)
}

extension ReconnectingWebSocketDelegate {
    /// Does nothing.
    public func webSocket(_ webSocket: ReconnectingWebSocket, didOpen task: URLSessionWebSocketTask) {}

    /// Does nothing.
    public func webSocket(
        _ webSocket: ReconnectingWebSocket,
        willReconnectAfter wait: Duration,
        attempt: Int,
        because error: (any Error)?
    ) {}
}

/// A WebSocket that is opened again when it is lost.
///
/// ```swift
/// let socket = ReconnectingWebSocket(request, session: session, delegate: listener)
/// socket.resume()
/// try await socket.send(.string("hello"))
/// ```
///
/// Without a delegate the messages are an `async` sequence, ``messages``.
///
/// Each attempt is a ``URLSessionWebSocketTask`` of its own, so the session's cookies, credentials, pins and interceptors
/// hold for each of them. Messages that were sent and not received by the server are lost with their connection: a
/// program that must not lose them repeats them when its delegate hears that the WebSocket is open.
///
/// It goes on until it ends, also if you keep no reference to it. It ends with its session.
public final class ReconnectingWebSocket: Sendable {
    /// What a ``ReconnectingWebSocket`` is doing.
    @nonexhaustive
    public enum Condition: Sendable, Hashable {
        /// It was not resumed yet.
        case idle
        /// A WebSocket is being opened.
        case connecting
        /// The WebSocket is open.
        case open
        /// It was lost, and waits to connect again.
        case waiting
        /// It has ended, and will not be opened again.
        case over
    }

    private struct State {
        var condition = Condition.idle
        var runner: Task<Void, Never>?
        /// The task that is open.
        var current: URLSessionWebSocketTask?
        /// Those who wait for the WebSocket to be open, by a number.
        var waiters: [Int: UnsafeContinuation<Void, Never>] = [:]
        var nextWaiter = 0
        var close: (code: URLSessionWebSocketTask.CloseCode, reason: Data?)?
        var isOver = false

        mutating func takeWaiters() -> [UnsafeContinuation<Void, Never>] {
            defer { waiters = [:] }
            return waiters.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private let request: URLRequest
    private let session: URLSession
    /// Held also while it waits to connect again.
    private let sessionDelegate: (any URLSessionDelegate)?
    private let options: WebSocketOptions
    private let reconnection: ReconnectionOptions
    private let delegate: (any ReconnectingWebSocketDelegate)?
    private let state = Lock(State())
    let handover = MessageHandover()

    /// Opens nothing before ``resume()``.
    ///
    /// - Parameters:
    ///   - request: As for ``URLSession/webSocketTask(with:options:)``.
    ///   - session: Makes the tasks, and has the queue of the delegate.
    ///   - options: How each WebSocket is opened and kept. A `pingInterval` finds connections that are dead.
    ///   - reconnection: When to connect again.
    ///   - delegate: Gets the messages, and hears of the rest. It is held until the end. Nil: ``messages`` has the messages.
    public init(
        _ request: URLRequest,
        session: URLSession = .shared,
        options: WebSocketOptions = WebSocketOptions(),
        reconnection: ReconnectionOptions = ReconnectionOptions(),
        delegate: (any ReconnectingWebSocketDelegate)? = nil
    ) {
        self.request = request
        self.session = session
        sessionDelegate = session.lentDelegate
        self.options = options
        self.reconnection = reconnection
        self.delegate = delegate
    }

    /// What it is doing.
    public var condition: Condition { state.withLock { $0.condition } }

    /// Opens the WebSocket. Only the first call counts.
    public func resume() {
        state.withLock { state in
            if state.runner == nil { state.runner = Task { await run() } }
        }
    }

    /// Sends a message as soon as the WebSocket is open. Throws if the connection is lost before the message has left, and
    /// at the end.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        try await openTask().send(message)
    }

    /// Sends a ping as soon as the WebSocket is open, and returns when the server has answered. Throws if the connection is
    /// lost before that, and at the end.
    public func sendPing() async throws {
        try await openTask().sendPing()
    }

    private func openTask() async throws -> URLSessionWebSocketTask {
        while true {
            let (task, isOver) = state.withLock { ($0.current, $0.isOver) }
            if isOver { throw URLError(.cancelled) }
            if let task { return task }
            try Task.checkCancellation()
            await waitUntilOpen()
        }
    }

    /// Returns also at the end, and when the Swift task is cancelled.
    private func waitUntilOpen() async {
        let number = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let mayGoOn = state.withLock { state in
                    guard state.current == nil, !state.isOver, !Task.isCancelled else { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if mayGoOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }

    /// Closes in order, and does not connect again.
    public func close(with code: URLSessionWebSocketTask.CloseCode = .normalClosure, reason: Data? = nil) {
        let (task, runner) = state.withLock { state in
            if state.close == nil { state.close = (code, reason) }
            if state.runner == nil { state.runner = Task { await run() } }
            return (state.current, state.runner)
        }
        // The program need not take what is left.
        handover.end(nil)
        if let task { task.cancel(with: code, reason: reason) } else { runner?.cancel() }
    }

    private var isClosing: Bool { state.withLock { $0.close != nil } }

    // MARK: - Running

    private func run() async {
        var failures = 0
        // Whether a connection that was worth something came before the failures.
        var hasLasted = false
        var ending: (any Error)?
        while !isClosing {
            let attempt = await attempt()
            if isClosing { break }
            hasLasted = hasLasted || attempt.hasLasted
            failures = attempt.hasLasted ? 0 : failures + 1
            ending = attempt.error
            guard attempt.mayHeal(reconnection), reconnection.maximumAttempts.map({ failures < $0 }) ?? true else {
                return await end(ending)
            }
            let wait = delay(after: hasLasted ? failures + 1 : failures, asked: attempt.retryAfter(session))
            state.withLock { $0.condition = .waiting }
            await tell { [failures, ending] in
                $0.webSocket(self, willReconnectAfter: wait, attempt: failures + 1, because: ending)
            }
            try? await LoopSleep.sleep(for: wait, in: session)
        }
        await end(nil)
    }

    private func tell(_ call: @escaping @Sendable (any ReconnectingWebSocketDelegate) -> Void) async {
        guard let delegate else { return }
        await session.onDelegateQueue { call(delegate) }
    }

    /// - Parameter asked: The wait that the server asks for.
    private func delay(after attempts: Int, asked: Duration) -> Duration {
        let most = max(reconnection.maximumDelay, reconnection.initialDelay)
        let wait = session.world.backOff(reconnection.initialDelay, after: attempts, upTo: most)
        return max(wait, min(asked, most))
    }

    private struct Attempt {
        let task: URLSessionWebSocketTask
        var error: (any Error)?
        /// It was worth something: a message has arrived, or it was open for long.
        var hasLasted = false

        /// The wait that the server asks for in place of opening the WebSocket (RFC 9110 §10.2.3).
        func retryAfter(_ session: URLSession) -> Duration {
            guard let response = task.response as? HTTPURLResponse, response.statusCode != 101 else { return .zero }
            return RetryAfter.delay(of: response, now: session.world.wallClock().seconds) ?? .zero
        }

        func mayHeal(_ reconnection: ReconnectionOptions) -> Bool {
            guard let error = error as? URLError else {
                return error == nil && !reconnection.finalCloseCodes.contains(task.closeCode)
            }
            switch error.loadFailure?.detail {
            case .upgrade?:
                let status = (task.response as? HTTPURLResponse)?.statusCode
                return status.map(reconnection.statusCodes.contains) ?? false
            case .closed?: return !reconnection.finalCloseCodes.contains(task.closeCode)
            default: return RetryRules().errorCodes.contains(error.code)
            }
        }
    }

    /// Opens the WebSocket, and receives until it is lost.
    private func attempt() async -> Attempt {
        let task = session.webSocketTask(with: request, options: options)
        state.withLock { $0.condition = .connecting }
        var (attempt, hasOpened) = (Attempt(task: task), false)
        do {
            _ = try await task.open()
            hasOpened = true
            // What the delegate sends by the task comes first.
            await tell { $0.webSocket(self, didOpen: task) }
            opened(task)
            while let message = try await task.nextMessage() {
                attempt.hasLasted = true
                if delegate == nil { await handover.give(message) }
                await tell { $0.webSocket(self, didReceive: message) }
            }
        } catch {
            attempt.error = error
        }
        state.withLock { $0.current = nil }
        let wasLong = task.closing.withLock { $0.duration } >= reconnection.maximumDelay
        attempt.hasLasted = attempt.hasLasted || hasOpened && wasLong
        return attempt
    }

    private func opened(_ task: URLSessionWebSocketTask) {
        let (waiters, close) = state.withLock { state in
            (state.current, state.condition) = (task, .open)
            return (state.takeWaiters(), state.close)
        }
        if let close { task.cancel(with: close.code, reason: close.reason) }
        for waiter in waiters { waiter.resume() }
    }

    private func end(_ error: (any Error)?) async {
        let waiters = state.withLock { state in
            (state.current, state.isOver, state.condition) = (nil, true, .over)
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
        handover.end(error)
        await tell { $0.webSocket(self, didEndWith: error) }
    }
}
