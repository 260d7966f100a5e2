extension ServerReply {
    /// Answers a request for WebSocket with 101 and plays a script on the connection, in the connection's thread.
    ///
    /// ```swift
    /// server.route("GET", "/greeting", .webSocket { try $0.send(text: "hello") })
    /// ```
    ///
    /// When the script returns, the server closes the connection, without a Close frame unless the script sent one. An
    /// error of the script resets it, and stands in the `end` of the connection. The server refuses a request that is
    /// wrong with 400, or with 426 if it does not ask for WebSocket 13.
    ///
    /// The reply can be changed like any other: `.delayed(by:)` waits before the 101, `.status(200)` sends another
    /// status and goes on with HTTP, `.header("Sec-WebSocket-Accept", "x")` replaces what the server would write, and
    /// `.header("Sec-WebSocket-Extensions", "x-none")` claims what the client did not offer.
    ///
    /// - Parameters:
    ///   - options: What the server agrees on.
    ///   - script: What it does then.
    public static func webSocket(
        _ options: ServerWebSocketOptions = ServerWebSocketOptions(),
        script: @escaping @Sendable (ServerWebSocket) throws -> Void
    ) -> ServerReply {
        ServerReply(status: 101).changed { reply in
            reply.delivery.completion = { WebSocketAcceptance(request: $1, options: options).complete($0) }
            reply.delivery.successor = { stream, early, request throws(ConnectionEnd) in
                let handshake = WebSocketAcceptance(request: request, options: options)
                let socket = ServerWebSocket(stream: stream, early: early, handshake: handshake)
                do {
                    try script(socket)
                } catch {
                    throw error as? ConnectionEnd ?? .scriptFailed("\(error)")
                }
                throw socket.isAtEnd ? .clientClosed : .close
            }
        }
    }
}
