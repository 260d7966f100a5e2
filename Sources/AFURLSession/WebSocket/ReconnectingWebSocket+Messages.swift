extension ReconnectingWebSocket {
    /// The messages of all connections, as they arrive, of a WebSocket without a delegate.
    ///
    /// ```swift
    /// let socket = ReconnectingWebSocket(request, session: session)
    /// for try await message in socket.messages { show(message) }
    /// ```
    ///
    /// The first iterator opens the WebSocket. A program that does not ask for the next message makes the server wait.
    /// The sequence ends after ``close(with:reason:)`` and when the server has closed for good; it throws the error that
    /// ends the WebSocket otherwise. Several iterators share the messages. Cancelling the Swift task that waits ends its
    /// iteration, and not the WebSocket.
    public var messages: Messages { Messages(socket: self) }

    /// The messages of a ``ReconnectingWebSocket``.
    public struct Messages: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = URLSessionWebSocketTask.Message

        let socket: ReconnectingWebSocket

        /// Opens the WebSocket, unless it was resumed.
        public func makeAsyncIterator() -> AsyncIterator {
            socket.resume()
            return AsyncIterator(socket: socket)
        }

        /// Receives messages one by one.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: ReconnectingWebSocket

            /// The next message; nil at the end.
            public mutating func next() async throws -> URLSessionWebSocketTask.Message? {
                try await next(isolation: nil)
            }

            /// The next message; nil at the end. Does not leave the caller's actor but to wait.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws -> URLSessionWebSocketTask.Message? {
                try await socket.handover.take()
            }
        }
    }
}
