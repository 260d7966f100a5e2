/// The messages of a WebSocket: ``URLSessionWebSocketTask/messages``.
public struct WebSocketMessages: AsyncSequence, Sendable {
    /// A message.
    public typealias Element = URLSessionWebSocketTask.Message

    let task: URLSessionWebSocketTask

    /// Receives messages one by one.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: task) }

    /// Receives messages one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let task: URLSessionWebSocketTask

        /// The next message; nil at the end.
        public mutating func next() async throws -> URLSessionWebSocketTask.Message? {
            try await next(isolation: nil)
        }

        /// The next message; nil at the end. Does not leave the caller's actor but to wait.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> URLSessionWebSocketTask.Message? {
            try await task.nextMessage()
        }
    }
}
