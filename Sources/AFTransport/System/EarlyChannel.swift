package import AFLoop

/// A channel that returns bytes read earlier before those of the connection.
package final class EarlyChannel: ByteChannel, ChannelHandler {
    package var handler: (any ChannelHandler)?
    package let channel: any ByteChannel
    private var early: Backlog

    package init(_ early: [UInt8], before channel: any ByteChannel) {
        self.early = Backlog(early)
        self.channel = channel
        channel.handler = self
    }

    /// Whether all of these bytes were read.
    package var isEmpty: Bool { early.isEmpty }

    package func channelReady() {
        handler?.channelReady()
    }

    package var turnShare: TurnShare { channel.turnShare }
    package var isReadable: Bool { !early.isEmpty || channel.isReadable }
    package var isWritable: Bool { channel.isWritable }
    package var isFlushed: Bool { channel.isFlushed }
    package var remoteAddress: SocketAddress { channel.remoteAddress }
    package var localAddress: SocketAddress? { channel.localAddress }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead {
        guard !early.isEmpty else { return channel.read(into: buffer) }
        let count = early.withBytes { bytes in
            let part = bytes.prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
        early.removeFirst(count)
        turnShare.take(bytes: count)
        return .bytes(count)
    }

    package func write(_ first: UnsafeRawBufferPointer, second: UnsafeRawBufferPointer) -> ChannelWrite {
        channel.write(first, second: second)
    }

    package func finishConnecting() throws(SystemCallError) {}
    package func endWriting() { channel.endWriting() }
    package func continueNextTurn() { channel.continueNextTurn() }
    package func probePeer() { channel.probePeer() }

    package func close() {
        handler = nil
        channel.close()
    }
}
