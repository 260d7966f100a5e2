import AFLoop
import Foundation

/// A channel that returns bytes read earlier before those of the connection.
final class EarlyChannel: ByteChannel, ChannelHandler {
    var handler: (any ChannelHandler)?
    let channel: any ByteChannel
    private var early: Data

    init(chunks: [Data], before channel: any ByteChannel) {
        early = chunks.reduce(into: Data()) { $0.append($1) }
        self.channel = channel
        channel.handler = self
    }

    /// Whether all of these bytes were read.
    var isEmpty: Bool { early.isEmpty }

    func channelReady() {
        handler?.channelReady()
    }

    var turnShare: TurnShare { channel.turnShare }
    var isReadable: Bool { !early.isEmpty || channel.isReadable }
    var isWritable: Bool { channel.isWritable }
    var isFlushed: Bool { channel.isFlushed }
    var remoteAddress: SocketAddress { channel.remoteAddress }
    var localAddress: SocketAddress? { channel.localAddress }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead {
        guard !early.isEmpty else { return channel.read(into: buffer) }
        let part = early.prefix(buffer.count)
        part.copyBytes(to: buffer)
        early = Data(early.dropFirst(part.count))
        turnShare.take(bytes: part.count)
        return .bytes(part.count)
    }

    func write(_ first: UnsafeRawBufferPointer, second: UnsafeRawBufferPointer) -> ChannelWrite {
        channel.write(first, second: second)
    }

    func finishConnecting() throws(SystemCallError) {}
    func endWriting() { channel.endWriting() }
    func continueNextTurn() { channel.continueNextTurn() }
    func probePeer() { channel.probePeer() }

    func close() {
        handler = nil
        channel.close()
    }
}
