/// What a server agrees on with a client that asks for WebSocket.
public struct ServerWebSocketOptions: Sendable, Hashable {
    /// The subprotocols that the server speaks. It chooses the first one in the client's list that is among them.
    public var subprotocols: [String]
    /// The parameters of permessage-deflate, which the server accepts if the client offers it; nil for no compression.
    public var compression: DeflateParameters?
    /// Bytes that the server sends behind the head of its answer, in the same write.
    public var surplus: [UInt8]
    /// The fields of the handshake that the server leaves out.
    public var omittedFields: [String]

    /// Makes options.
    public init(
        subprotocols: [String] = [],
        compression: DeflateParameters? = nil,
        surplus: [UInt8] = [],
        omittedFields: [String] = []
    ) {
        self.subprotocols = subprotocols
        self.compression = compression
        self.surplus = surplus
        self.omittedFields = omittedFields
    }
}
