/// What a `TestProxy` does with one request.
///
/// ```swift
/// proxy.enqueue(.answering(.status(502)), .forwarding.closing(after: 100), .forwarding.surplus("220 hello\r\n"))
/// proxy.enqueue(.refusing(0x05))
/// ```
public struct ProxyBehaviour: Sendable {
    /// The direction of forwarded bytes.
    public enum Direction: Sendable, Hashable {
        /// From the target to the client.
        case toClient
        /// From the client to the target.
        case toTarget
    }

    enum Action: Sendable {
        case forward
        case answer(ServerReply)
        case refuse(UInt8)
        case raw([UInt8])
    }

    struct Cut: Sendable {
        let count: Int
        let direction: Direction
        let action: Delivery.Action
    }

    var action = Action.forward
    var method: UInt8?
    var success = ServerReply(status: 200, reason: "Connection established")
    var surplus: [UInt8] = []
    var delay: Duration?
    var dribble: Delivery.Dribble?
    var cut: Cut?

    // MARK: Actions

    /// Connects the client to its target.
    public static var forwarding: ProxyBehaviour { ProxyBehaviour() }

    /// Answers an HTTP request, CONNECT included, in place of the target. A SOCKS proxy answers with "general failure".
    ///
    /// The reply may misbehave as any reply: it may be huge, endless, slow or cut off.
    public static func answering(_ reply: ServerReply) -> ProxyBehaviour {
        ProxyBehaviour(action: .answer(reply))
    }

    /// Answers a SOCKS request with this code (RFC 1928 section 6): 1 general failure, 2 not allowed, 3 network and
    /// 4 host unreachable, 5 refused, 6 expired, 7 command and 8 address not supported. An HTTP proxy answers 502.
    public static func refusing(_ code: UInt8) -> ProxyBehaviour {
        ProxyBehaviour(action: .refuse(code))
    }

    /// Sends these bytes in place of an answer and closes the connection.
    public static func sending(bytes: some Sequence<UInt8>) -> ProxyBehaviour {
        ProxyBehaviour(action: .raw(Array(bytes)))
    }

    // MARK: Changes

    /// Answers with this reply when the tunnel is open: another 2xx, with interim responses, fields or even a body.
    public func establishing(with reply: ServerReply) -> ProxyBehaviour { changed { $0.success = reply } }

    /// Chooses this method of SOCKS authentication, offered or not: 0 none, 2 password, 255 no acceptable method.
    public func choosing(method: UInt8) -> ProxyBehaviour { changed { $0.method = method } }

    /// Sends this text into the tunnel before the first byte of the target.
    public func surplus(_ text: String) -> ProxyBehaviour { surplus(bytes: text.utf8) }

    /// Sends these bytes into the tunnel before the first byte of the target.
    public func surplus(bytes: some Sequence<UInt8>) -> ProxyBehaviour { changed { $0.surplus = Array(bytes) } }

    /// Waits before it connects to the target.
    public func delayed(by duration: Duration) -> ProxyBehaviour { changed { $0.delay = duration } }

    /// Passes on at most `byteCount` bytes of the target at a time, with a pause after each write.
    public func dribbling(_ byteCount: Int, every interval: Duration) -> ProxyBehaviour {
        changed { $0.dribble = Delivery.Dribble(byteCount: max(byteCount, 1), interval: interval) }
    }

    /// Closes both connections once `byteCount` bytes were forwarded in that direction.
    public func closing(after byteCount: Int, _ direction: Direction = .toClient) -> ProxyBehaviour {
        changed { $0.cut = Cut(count: max(byteCount, 0), direction: direction, action: .close) }
    }

    /// Resets both connections once `byteCount` bytes were forwarded in that direction.
    public func resetting(after byteCount: Int, _ direction: Direction = .toClient) -> ProxyBehaviour {
        changed { $0.cut = Cut(count: max(byteCount, 0), direction: direction, action: .reset) }
    }

    /// Forwards nothing more in either direction once `byteCount` bytes were forwarded in that direction.
    public func stalling(after byteCount: Int, _ direction: Direction = .toClient) -> ProxyBehaviour {
        changed { $0.cut = Cut(count: max(byteCount, 0), direction: direction, action: .stall) }
    }

    private func changed(_ body: (inout ProxyBehaviour) -> Void) -> ProxyBehaviour {
        var copy = self
        body(&copy)
        return copy
    }
}
