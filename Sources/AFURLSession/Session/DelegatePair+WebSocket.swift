import Foundation

extension DelegatePair: URLSessionWebSocketDelegate {
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) {
        tell(.openedWebSocket, kind: (any URLSessionWebSocketDelegate).self) {
            $0.urlSession(session, webSocketTask: webSocketTask, didOpenWithProtocol: `protocol`)
        }
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        tell(.closedWebSocket, kind: (any URLSessionWebSocketDelegate).self) {
            $0.urlSession(session, webSocketTask: webSocketTask, didCloseWith: closeCode, reason: reason)
        }
    }
}
