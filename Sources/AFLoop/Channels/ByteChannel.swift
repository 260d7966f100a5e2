/// A connection that carries bytes: the second of the three seams through which
/// the world enters. A TLS engine wraps one and is one.
///
/// Confined to its loop. Its handler is told when it becomes readable or writable,
/// once per edge, and then works until `isReadable` or `isWritable` turns false.
package protocol ByteChannel: AnyObject {
    /// Told about readiness. `close` lets go of it, which breaks the cycle with a handler that owns its channel.
    var handler: (any ChannelHandler)? { get set }

    /// False once a read would block; true again when the handler is told.
    var isReadable: Bool { get }
    var isWritable: Bool { get }

    /// Learns how the connection attempt ended, when the channel first becomes
    /// writable. Throws what the network answered.
    func finishConnecting() throws(SystemCallError)

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead

    /// Writes a prefix of `first` followed by `second`, in one piece if possible.
    func write(_ first: UnsafeRawBufferPointer, second: UnsafeRawBufferPointer) -> ChannelWrite

    /// Says that nothing more will be written; reading goes on. Idempotent. What was written before still leaves.
    func endWriting()

    /// Whether everything that was written has left for the kernel. Those that hold something back tell their handler
    /// when it has.
    var isFlushed: Bool { get }

    /// What is left to its peer of this turn. Reading and writing take from it, and so does the handler for all that it
    /// does with what it has read.
    var turnShare: TurnShare { get }

    /// Asks to be told again in the next turn, for a handler that stops before the channel would block.
    func continueNextTurn()

    /// Has the kernel find out whether the peer is still there, for connections that
    /// stay idle for longer than an exchange watches them. Idempotent.
    func probePeer()

    /// Idempotent; no event follows. The descriptor itself is released at the end of the turn.
    func close()

    /// Where the two ends are, once connected.
    var remoteAddress: SocketAddress { get }
    var localAddress: SocketAddress? { get }
}

extension ByteChannel {
    package var isFlushed: Bool { true }
}

package protocol ChannelHandler: AnyObject {
    func channelReady()
}

package enum ChannelRead: Equatable, Sendable {
    /// At least one byte.
    case bytes(Int)
    case wouldBlock
    case end
    case failed(SystemCallError)
}

package enum ChannelWrite: Equatable, Sendable {
    case bytes(Int)
    case wouldBlock
    case failed(SystemCallError)
}

/// Starts connections.
package protocol ChannelOpener: Sendable {
    /// Starts connecting. The handler is told when the attempt has ended.
    func open(
        _ address: SocketAddress,
        options: SocketOptions,
        on loop: EventLoop
    ) throws(SystemCallError) -> any ByteChannel
}

/// How the network is to treat a connection, and which networks it may take.
package struct LinkTerms: Sendable, Hashable {
    /// The traffic class of its packets (RFC 2474): a code point, shifted by two bits. 0 is none.
    package var trafficClass: UInt8 = 0
    /// Its place in the queues of this machine (`SO_PRIORITY`), from 0 to 6.
    package var priority: UInt8 = 0
    /// It is not made if the way to its address is by a cellular network.
    package var avoidsCellular = false

    package init() {}
}

/// How a connection is made.
package struct SocketOptions: Sendable {
    package var link = LinkTerms()
    /// How many seconds of silence there are before the kernel asks the peer whether it is still there. 0: the usual time, and
    /// only where an exchange waits for long. Negative: it does not ask.
    package var probeSeconds: Int32 = 0
    /// Where on this machine it is made from: an address, or the name of an interface; nil for the system's choice.
    package var source: String?

    package init() {}
}
