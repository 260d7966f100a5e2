import AFBase
import AFLoop
import AFTransport
import AFWire
public import Foundation

extension URLSessionWebSocketTask {
    convenience init(_ request: URLRequest, options: WebSocketOptions, identifier: Int, in session: URLSession) {
        let closing = Lock(Closing(messageLimit: options.maximumMessageSize))
        var request = request
        request.change { $0.wire.value.webSocket = options.handshake }
        self.init(
            request,
            closing: closing,
            identifier: identifier,
            in: session,
            consumer: WebSocketConnector(options, closing: closing)
        )
    }

    /// The URL of a WebSocket with the scheme that a request for it has.
    package static func httpText(of url: String) -> String { RequestURL.httpText(ofWebSocket: url) }

    /// Gives an operation to the loop. Operations arrive there in the order of the calls.
    private func enqueue(_ operation: sending @escaping () -> Void) {
        session.world.enqueue(operation)
    }

    /// On the loop.
    private var connector: WebSocketConnector? { load.value.consumer as? WebSocketConnector }
    private var core: SessionCore { session.core.value }

    /// Gives an order to the loop, and waits for its answer, or until the Swift task is cancelled.
    private func awaiting(_ give: (SendOrder) -> Void) async throws {
        if let error = unavailability { throw error }
        let answer = AwaitedResult<Void>()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                answer.expect(continuation)
                give(SendOrder(isAwaited: true) { answer.give($0.map(Result.failure) ?? .success(())) })
            }
        } onCancel: {
            answer.give(.failure(CancellationError()))
        }
        try answer.taken()
    }

    /// In the child of a fork no loop would ever answer.
    private var unavailability: URLError? { session.world.unavailability()?.urlError(for: originalRequest?.url) }

    /// The most bytes of a message that is received. A longer one ends the task. 1 MiB, unless the options say
    /// otherwise.
    public var maximumMessageSize: Int {
        get { closing.withLock { $0.messageLimit } }
        set {
            closing.withLock { $0.messageLimit = newValue }
            // The job reads it again: if two threads set it, the loop ends with the value that stays.
            enqueue { [self] in connector?.limitMessages(to: closing.withLock { $0.messageLimit }) }
        }
    }
}

// MARK: - Opening

extension URLSessionWebSocketTask {
    /// Resumes the task, and returns when the WebSocket is open. There is no need to wait for that: messages wait, too.
    ///
    /// Cancelling the Swift task cancels the WebSocket.
    ///
    /// - Returns: The subprotocol that the server has chosen, if any.
    @discardableResult
    public func open() async throws -> String? {
        resume()
        do {
            try await awaiting { order in enqueue { [self] in connector?.tellWhenOpen(order, in: core) } }
        } catch let error as CancellationError {
            cancel()
            throw error
        }
        return subprotocol
    }
}

// MARK: - Sending

extension URLSessionWebSocketTask {
    /// Sends a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - completionHandler: Called once, on the delegate queue: without an error when the kernel has taken all bytes,
    ///   which does not mean that the server has them.
    @preconcurrency
    public func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        if let error = unavailability { return completionHandler(error) }
        let order = SendOrder(isAwaited: false, handler: completionHandler)
        enqueue { [self] in connector?.send(message.onWire, for: order, in: core) }
    }

    /// Sends a message, and returns when the kernel has taken all bytes. Independent of the delegate queue. If the Swift
    /// task is cancelled, this throws `CancellationError`; the message is not taken back.
    public func send(_ message: Message) async throws {
        try await awaiting { order in enqueue { [self] in connector?.send(message.onWire, for: order, in: core) } }
    }

    /// Sends a ping.
    ///
    /// - Parameter pongReceiveHandler: Called once, on the delegate queue: without an error when the server has answered.
    @preconcurrency
    public func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        if let error = unavailability { return pongReceiveHandler(error) }
        let order = SendOrder(isAwaited: false, handler: pongReceiveHandler)
        enqueue { [self] in connector?.ping(order, in: core) }
    }

    /// Sends a ping, and returns when the server has answered. Independent of the delegate queue. If the Swift task is
    /// cancelled, this throws `CancellationError`, and the WebSocket stays open.
    public func sendPing() async throws {
        try await awaiting { order in enqueue { [self] in connector?.ping(order, in: core) } }
    }

    /// Closes in order: sends the messages that wait, and then a Close frame. Messages that arrive before the server has
    /// answered can be received, up to the first that finds no room: that one and those behind it are dropped. The task
    /// completes when the server has closed the connection. A WebSocket that is not open yet is cancelled, unless messages
    /// wait for it.
    ///
    /// - Parameters:
    ///   - closeCode: A code that a program may send. Others, such as ``CloseCode/invalid``, close without a code.
    ///   - reason: UTF-8 text, of which 123 bytes are sent.
    public func cancel(with closeCode: CloseCode, reason: Data?) {
        guard session.world.unavailability() == nil else { return cancel() }
        enqueue { [self] in
            if connector?.close(closeCode, reason: reason) == false { cancel() }
        }
    }
}

// MARK: - Receiving

extension URLSessionWebSocketTask {
    /// Receives one message.
    ///
    /// - Parameter completionHandler: Called once, on the delegate queue, with the next message. After the end of the
    ///   WebSocket it gets the messages that have arrived, and then an error.
    @preconcurrency
    public func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        if let error = unavailability { return completionHandler(.failure(error)) }
        enqueue { [self] in
            connector?.receive(ReceiveOrder(isAwaited: false, handler: completionHandler), in: core)
        }
    }

    /// Receives one message. Independent of the delegate queue. If the Swift task is cancelled, this throws
    /// `CancellationError`, no message is lost, and the WebSocket stays open.
    public func receive() async throws -> Message {
        if let error = unavailability { throw error }
        let answer = AwaitedResult<Message>()
        let order = LoopBound(ReceiveOrder(isAwaited: true) { answer.give($0) }, on: session.world.loop)
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                answer.expect(continuation)
                enqueue { [self] in connector?.receive(order.value, in: core) }
            }
        } onCancel: {
            enqueue { [self] in connector?.withdraw(order.value, in: core) }
        }
        let message = try answer.taken()
        if closing.withLock({ $0.claim() }) { enqueue { [self] in connector?.goOnEnding() } }
        return message
    }

    /// Nil at the end, if that is in order.
    func nextMessage() async throws -> Message? {
        do {
            return try await receive()
        } catch {
            if !(error is CancellationError), closing.withLock({ $0.isOrderly }) { return nil }
            throw error
        }
    }

    /// The messages as they arrive.
    ///
    /// The sequence ends when the server closes with ``CloseCode/normalClosure``, ``CloseCode/goingAway`` or without a
    /// code, and when the program closes. It throws for other codes, and for errors. Several iterations share the
    /// messages.
    public var messages: WebSocketMessages { WebSocketMessages(task: self) }
}

// MARK: - Making tasks

extension URLSession {
    /// Makes a task that opens a WebSocket.
    ///
    /// - Parameter url: With the scheme `ws` or `wss`; `http` and `https` mean the same.
    public func webSocketTask(with url: URL) -> URLSessionWebSocketTask {
        webSocketTask(with: URLRequest(url: url))
    }

    /// Makes a task that opens a WebSocket.
    ///
    /// - Parameters:
    ///   - url: With the scheme `ws` or `wss`; `http` and `https` mean the same.
    ///   - protocols: The subprotocols that the program speaks, in the order of preference.
    public func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        webSocketTask(with: URLRequest(url: url), options: WebSocketOptions(protocols: protocols))
    }

    /// Makes a task that opens a WebSocket.
    ///
    /// - Parameter request: A GET without a body. Its `Sec-WebSocket-Protocol` adds subprotocols.
    public func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        webSocketTask(with: request, options: WebSocketOptions())
    }

    /// Makes a task that opens a WebSocket.
    ///
    /// - Parameters:
    ///   - request: A GET without a body. Its `Sec-WebSocket-Protocol` adds subprotocols.
    ///   - options: How the WebSocket is opened and kept.
    public func webSocketTask(with request: URLRequest, options: WebSocketOptions) -> URLSessionWebSocketTask {
        make { URLSessionWebSocketTask(request, options: options, identifier: $0, in: self) }
    }
}

extension URLSessionWebSocketTask.Message {
    fileprivate var onWire: WebSocketMessage {
        switch self {
        case .string(let text): .text(text)
        case .data(let data): .binary(data)
        }
    }
}
