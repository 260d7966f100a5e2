import Foundation

/// What a request for WebSocket and the server's options make of each other (RFC 6455 section 4.2).
struct WebSocketAcceptance {
    let request: RecordedRequest
    let options: ServerWebSocketOptions

    /// The subprotocol of the connection.
    var subprotocol: String? {
        let offers = request.headers.values(of: "Sec-WebSocket-Protocol").flatMap { list in
            Array(list.utf8).split(separator: UInt8(ascii: ",")).map { String(decoding: $0.trimmed, as: UTF8.self) }
        }
        return offers.first(where: options.subprotocols.contains)
    }

    /// The compression of the connection.
    var compression: DeflateParameters? {
        options.compression?.answer(to: request.headers.values(of: "Sec-WebSocket-Extensions"))
    }

    /// The reply with the fields of the handshake, or a refusal.
    func complete(_ reply: ServerReply) -> ServerReply {
        guard let key else { return refusal }
        let accept = HashFunctions.bytes("SHA1", of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        let fields = [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", Data(accept).base64EncodedString()),
            ("Sec-WebSocket-Protocol", subprotocol), ("Sec-WebSocket-Extensions", compression?.field),
        ]
        return reply.changed { reply in
            for case (let name, let value?) in fields where isMissing(name, in: reply) {
                reply.headers.append(name, value)
            }
            reply.delivery.surplus = options.surplus
        }
    }

    private func isMissing(_ name: String, in reply: ServerReply) -> Bool {
        reply.headers[name] == nil && !options.omittedFields.contains(where: name.equalsIgnoringCase)
    }

    // MARK: - The request

    /// The client's key; nil if the request is wrong.
    private var key: String? {
        guard hasUpgrade, hasVersion, request.method == "GET", request.version == "HTTP/1.1",
            request.headers.tokens(of: "Connection").contains("upgrade")
        else { return nil }
        let keys = request.headers.values(of: "Sec-WebSocket-Key")
        return keys.count == 1 && Data(base64Encoded: keys[0])?.count == 16 ? keys[0] : nil
    }

    private var hasUpgrade: Bool { request.headers.tokens(of: "Upgrade").contains("websocket") }
    private var hasVersion: Bool { request.headers.values(of: "Sec-WebSocket-Version") == ["13"] }

    private var refusal: ServerReply {
        let needsUpgrade = !hasUpgrade || !hasVersion
        let refusal = ServerReply.text("this is no request for WebSocket\n").status(needsUpgrade ? 426 : 400)
        return needsUpgrade
            ? refusal.headers(["Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"])
            : refusal
    }
}
