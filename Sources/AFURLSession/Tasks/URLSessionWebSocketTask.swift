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
    @nonexhaustive
    public enum CloseCode: RawRepresentable, Hashable, Sendable {
        /// Neither side has closed.
        case invalid
        /// The purpose of the connection is fulfilled.
        case normalClosure
        /// The side goes away: a server that stops, a program that ends.
        case goingAway
        /// The other side broke the protocol.
        case protocolError
        /// The side does not take messages of this kind.
        case unsupportedData
        /// The server closed without a code. Never sent.
        case noStatusReceived
        /// The connection ended without a Close frame. Never sent.
        case abnormalClosure
        /// A message is not what its kind says, such as text that is not UTF-8.
        case invalidFramePayloadData
        /// A message breaks the rules of the side.
        case policyViolation
        /// A message is too long.
        case messageTooBig
        /// The server did not agree to an extension that the program needs.
        case mandatoryExtensionMissing
        /// The server cannot go on.
        case internalServerError
        /// The TLS handshake failed. Never sent.
        case tlsHandshakeFailure
        /// Another code.
        case other(Int)

        private static let named: [CloseCode] = [
            .invalid, .normalClosure, .goingAway, .protocolError, .unsupportedData, .noStatusReceived, .abnormalClosure,
            .invalidFramePayloadData, .policyViolation, .messageTooBig, .mandatoryExtensionMissing,
            .internalServerError,
            .tlsHandshakeFailure,
        ]

        /// Nil unless the number is 0, or from 1000 to 4999.
        public init?(rawValue: Int) {
            guard rawValue == 0 || (1000...4999).contains(rawValue) else { return nil }
            self = Self.named.first { $0.rawValue == rawValue } ?? .other(rawValue)
        }

        /// The number.
        public var rawValue: Int {
            switch self {
            case .invalid: 0
            case .normalClosure: 1000
            case .goingAway: 1001
            case .protocolError: 1002
            case .unsupportedData: 1003
            case .noStatusReceived: 1005
            case .abnormalClosure: 1006
            case .invalidFramePayloadData: 1007
            case .policyViolation: 1008
            case .messageTooBig: 1009
            case .mandatoryExtensionMissing: 1010
            case .internalServerError: 1011
            case .tlsHandshakeFailure: 1015
            case .other(let number): number
            }
        }

        /// Whether both have one number.
        public static func == (one: CloseCode, other: CloseCode) -> Bool { one.rawValue == other.rawValue }

        /// The number.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(rawValue)
        }
    }

    /// How the WebSocket was closed, as far as callers may know.
    struct Closing {
        var code = CloseCode.invalid
        var reason: Data?
        /// Both sides have closed, and the server has no complaint; or the program has closed.
        var isOrderly = false
        /// The code and the reason are those of the server's Close frame.
        var isServers = false
        var subprotocol: String?
        /// How long it was open, at its end.
        var duration = Duration.zero
        var messageLimit: Int
        /// How many messages were given to Swift tasks that have not gone on yet.
        var unclaimed = 0
        /// The loop waits until there are none.
        var awaitsClaims = false

        /// A Swift task has its message.
        ///
        /// - Returns: Whether the loop waits for that.
        mutating func claim() -> Bool {
            unclaimed -= 1
            return awaitsClaims && unclaimed == 0
        }
    }

    let closing: Lock<Closing>

    init(
        _ request: URLRequest,
        closing: Lock<Closing>,
        identifier: Int,
        in session: URLSession,
        consumer: sending any TaskConsumer
    ) {
        self.closing = closing
        super.init(request, identifier: identifier, in: session, consumer: consumer, completion: nil)
    }

    /// The code of the server's Close frame. Before that it is the code given to ``cancel(with:reason:)``, and
    /// ``CloseCode/abnormalClosure`` if the connection has ended without such a frame.
    public var closeCode: CloseCode { closing.withLock { $0.code } }

    /// The reason that goes with the code, as UTF-8.
    public var closeReason: Data? { closing.withLock { $0.reason } }

    /// The subprotocol that the server has chosen; nil if none, or not yet.
    public var subprotocol: String? { closing.withLock { $0.subprotocol } }
}
