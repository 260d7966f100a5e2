import AFLoop
import AFTransport
import AFWire

// Rows for WebSockets: they could not be opened, or have ended.
extension LoadFailure {
    init(_ failure: WebSocketFailure, peer: Endpoint?) {
        let server = Self.place(peer)
        switch failure {
        case .refused(let status):
            self.init(
                .responseUpgrade,
                phase: .waitingForHead,
                message: "\(server) answered \(status) to a request for a WebSocket; 101 would have opened it.",
                advice: Self.advice(forRefusal: status)
            )
        case .handshake(let flaw):
            self.init(
                .responseUpgrade,
                phase: .waitingForHead,
                message: "\(server) answered 101, but \(flaw.text).",
                advice: flaw.advice
            )
        case .violation(let violation):
            self.init(
                .malformedFrame,
                phase: .receivingBody,
                message: "\(server) broke the WebSocket protocol: \(violation.reason). The session closed with code "
                    + "\(violation.code)."
            )
        case .tooLong(let limit):
            self.init(
                .limitFrame,
                phase: .receivingBody,
                message: "A message of \(server) is longer than \(limit) bytes. The session closed with code 1009.",
                advice: "Raise maximumMessageSize if you expect such messages."
            )
        case .damaged(let why):
            self.init(
                .decodingDamaged,
                phase: .receivingBody,
                message: "A compressed message of \(server) is damaged: \(why). The session closed with code 1007.",
                advice: "Set the compression of the options to nil if the server goes on like this."
            )
        case .noMemory:
            self.init(
                .decodingMemory,
                phase: .receivingBody,
                message: "There is no memory for the WebSocket."
            )
        case .cutShort:
            self.init(
                .lostTruncated,
                phase: .receivingBody,
                message: "The connection to \(server) ended without a Close frame (1006)."
            )
        case .channel(let error): self = .webSocketLost(server, why: "\(error)", errno: error.code)
        case .secured: self = .webSocketLost(server, why: "TLS failed")
        case .noPong(let time):
            self.init(
                .timeoutPong,
                phase: .receivingBody,
                message: "\(server) did not answer a ping within \(time) (1006)."
            )
        case .noClose(let time):
            self.init(
                .timeoutClose,
                phase: .receivingBody,
                message: "\(server) did not answer the Close frame within \(time) (1006)."
            )
        case .closed(let close):
            let code = close.code.map { " with code \($0)" } ?? ""
            let reason = close.reason.isEmpty ? "" : ": \(EscapedText(close.reason))"
            self.init(.lostClosed, phase: .delivering, message: "The WebSocket was closed\(code)\(reason).")
        case .fault(let words): self = .fault(words)
        }
    }

    private static func advice(forRefusal status: Int) -> String {
        switch status {
        case 200..<300, 400, 404, 405, 410: "Look at the path of the URL."
        case 300..<400: "Look at the Location of the response: the session did not follow it."
        case 401, 403, 407: "Look at the credentials."
        case 408, 429, 502, 503, 504: "Try again later, as ReconnectingWebSocket does."
        case 426: "The server speaks another version of the protocol, or wants https."
        default: "Look at the response of the task."
        }
    }

    private static func webSocketLost(_ server: String, why: String, errno: Int32? = nil) -> LoadFailure {
        LoadFailure(
            .lostReset,
            phase: .receivingBody,
            errno: errno,
            message: "The WebSocket to \(server) broke (1006): \(why)."
        )
    }
}

extension WebSocketHandshake.Flaw {
    fileprivate var text: String {
        switch self {
        case .upgrade: "its Upgrade field is not websocket"
        case .connection: "its Connection field does not list Upgrade"
        case .accept: "its Sec-WebSocket-Accept does not fit our key"
        case .subprotocol(let name): "it chose the subprotocol \(name), which was not offered"
        case .extensions(let names): "it uses the extensions \(names), which were not offered so"
        }
    }

    fileprivate var advice: String {
        switch self {
        case .upgrade, .connection, .accept: "Something between you and the server may answer in its place."
        case .subprotocol: "Offer the subprotocols that the server speaks."
        case .extensions: "Set the compression of the options to nil, or ask the server's operator."
        }
    }
}
