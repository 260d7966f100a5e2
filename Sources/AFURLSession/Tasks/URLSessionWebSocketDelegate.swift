public import Foundation

/// Hears about the WebSockets of a session.
@preconcurrency
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// The WebSocket is open.
    ///
    /// - Parameters:
    ///   - session: The session of the task.
    ///   - webSocketTask: The task whose WebSocket is open.
    ///   - protocol: The subprotocol that the server has chosen, if any.
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    )

    /// The server has sent a Close frame. The messages that came before it are with the program, unless that receives
    /// none for ``WebSocketOptions/closeTimeout``. The completion of the task follows when the connection is closed.
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    )
}

extension URLSessionWebSocketDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) {
        session.noteMissing(.openedWebSocket, in: self)
    }

    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        session.noteMissing(.closedWebSocket, in: self)
    }
}
