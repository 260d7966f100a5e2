import AFLoop
import AFTransport
import AFWire

/// How a WebSocket is opened and kept.
public struct WebSocketOptions: Sendable, Hashable {
    /// The subprotocols that the program speaks, in the order of preference. The server chooses one, or none.
    public var protocols: [String] = []

    /// Offers the server to compress messages (permessage-deflate, RFC 7692). Nil offers nothing.
    public var compression: Compression? = Compression()

    /// The most bytes of a message that is received, unpacked if it was compressed. 1 MiB. A longer one ends the task.
    public var maximumMessageSize = 1 << 20

    /// How many bytes of messages may wait for the program to receive them. 64 KiB. Beyond that the server has to wait,
    /// and its pings with it.
    public var receiveBufferSize = 64 << 10

    /// Asks the server with a ping whether it is there, whenever it has been silent for so long. Nil, the default: never.
    public var pingInterval: Duration?

    /// How long the server may take to answer such a ping. 10 seconds. Then the task fails.
    public var pongTimeout: Duration = .seconds(10)

    /// How long the server may take to answer a Close frame and to close the connection, both together. 5 seconds.
    public var closeTimeout: Duration = .seconds(5)

    /// The standard options.
    public init() {}

    /// - Parameter protocols: The subprotocols that the program speaks, in the order of preference.
    public init(protocols: [String]) {
        self.protocols = protocols
    }

    /// The parameters of permessage-deflate that are offered (RFC 7692 §7.1).
    public struct Compression: Sendable, Hashable {
        /// Whether the program begins each message with an empty window. False: what was sent before helps to compress.
        /// True takes less memory.
        public var clientNoContextTakeover = false
        /// Whether the server has to.
        public var serverNoContextTakeover = false
        /// The base-2 logarithm of the program's window, from 9 to 15.
        public var clientMaxWindowBits = 15
        /// The same of the server's, from 9 to 15.
        public var serverMaxWindowBits = 15

        /// Windows of 32 KiB, kept from message to message.
        public init() {}
    }

    var terms: WebSocketTerms {
        WebSocketTerms(
            messageLimit: maximumMessageSize,
            pingInterval: pingInterval.map(LoopInterval.init),
            pongPatience: LoopInterval(pongTimeout),
            closePatience: LoopInterval(closeTimeout)
        )
    }

    var handshake: WebSocketHandshake {
        WebSocketHandshake(
            subprotocols: protocols,
            compression: compression.map { compression in
                WebSocketCompression(
                    serverResetsContext: compression.serverNoContextTakeover,
                    clientResetsContext: compression.clientNoContextTakeover,
                    serverWindowBits: min(max(compression.serverMaxWindowBits, 9), 15),
                    clientWindowBits: min(max(compression.clientMaxWindowBits, 9), 15)
                )
            }
        )
    }
}
