import AFBase
public import Foundation

// Unchecked as its superclass: it has only constants, a lock and what is bound to the loop.
/// A connection that carries messages in both directions (RFC 6455).
///
/// ```swift
/// let task = session.webSocketTask(with: URL(string: "wss://chat.example.com/")!)
/// task.resume()
/// try await task.send(.string("hello"))
/// for try await message in task.messages { show(message) }
/// ```
///
/// The task sends a request as every task does: with the session's cookies, credentials, proxies, pins and
/// interceptors, and it follows redirects. A server that agrees makes a WebSocket of the connection. You may send and
/// receive before it is open. Messages leave in the order of the calls; each receive gets one message.
///
/// The task completes without an error when both sides have closed in order, and ``closeCode`` says how. It completes
/// with an error if the server does not open a WebSocket, breaks the protocol, or goes away without closing. While the
/// task is suspended it sends and receives nothing, and its times stand still. `timeoutIntervalForRequest` holds until
/// the WebSocket is open, `timeoutIntervalForResource` to its end.
public final class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    /// A message of either side.
    public enum Message: Sendable, Hashable {
        /// Bytes.
        case data(Data)
        /// Text, which travels as UTF-8.
        case string(String)
    }

    /// Why a side closes (RFC 6455 §7.4). Codes from 3000 to 4999 are free for libraries and programs.
    public struct CloseCode: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: Int

        /// Nil unless the number is 0, or from 1000 to 4999.
        public init?(rawValue: Int) {
            guard rawValue == 0 || (1000...4999).contains(rawValue) else { return nil }
            self.rawValue = rawValue
        }

        private init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Neither side has closed.
        public static let invalid = CloseCode(0)
        /// The purpose of the connection is fulfilled.
        public static let normalClosure = CloseCode(1000)
        /// The side goes away: a server that stops, a program that ends.
        public static let goingAway = CloseCode(1001)
        /// The other side broke the protocol.
        public static let protocolError = CloseCode(1002)
        /// The side does not take messages of this kind.
        public static let unsupportedData = CloseCode(1003)
        /// The server closed without a code. Never sent.
        public static let noStatusReceived = CloseCode(1005)
        /// The connection ended without a Close frame. Never sent.
        public static let abnormalClosure = CloseCode(1006)
        /// A message is not what its kind says, such as text that is not UTF-8.
        public static let invalidFramePayloadData = CloseCode(1007)
        /// A message breaks the rules of the side.
        public static let policyViolation = CloseCode(1008)
        /// A message is too long.
        public static let messageTooBig = CloseCode(1009)
        /// The server did not agree to an extension that the program needs.
        public static let mandatoryExtensionMissing = CloseCode(1010)
        /// The server cannot go on.
        public static let internalServerError = CloseCode(1011)
        /// The TLS handshake failed. Never sent.
        public static let tlsHandshakeFailure = CloseCode(1015)
    }

    /// How the WebSocket was closed, as far as callers may know.
    struct Closing {
        var code = CloseCode.invalid
        var reason: Data?
        /// Both sides have closed, and the server has no complaint; or the program has closed.
        var isOrderly = false
        var subprotocol: String?
        /// How long it was open, at its end.
        var duration = Duration.zero
        var messageLimit: Int
    }

    let closing: Lock<Closing>

    init(
        _ request: URLRequest,
        _ closing: Lock<Closing>,
        _ identifier: Int,
        in session: URLSession,
        consumer: sending any TaskConsumer
    ) {
        self.closing = closing
        super.init(request, identifier, in: session, consumer: consumer, nil)
    }

    /// The code of the server's Close frame. Before that it is the code given to ``cancel(with:reason:)``, and
    /// ``CloseCode/abnormalClosure`` if the connection has ended without such a frame.
    public var closeCode: CloseCode { closing.withLock { $0.code } }

    /// The reason that goes with the code, as UTF-8.
    public var closeReason: Data? { closing.withLock { $0.reason } }

    /// The subprotocol that the server has chosen; nil if none, or not yet.
    public var subprotocol: String? { closing.withLock { $0.subprotocol } }
}

/// Hears about the WebSockets of a session.
@preconcurrency
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// The WebSocket is open.
    ///
    /// - Parameter protocol: The subprotocol that the server has chosen, if any.
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    )

    /// The server has sent a Close frame. The completion of the task follows when the connection is closed.
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
