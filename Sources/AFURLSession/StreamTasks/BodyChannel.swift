import AFLoop
import Foundation

/// The body of a response as a channel to read from, for a data task that has become a stream while its connection
/// speaks HTTP. It cannot be written to.
final class BodyChannel: ByteChannel {
    private static let highWater = 256 << 10

    var handler: (any ChannelHandler)?
    private(set) var hasEnded = false
    private var pieces: [Data]
    /// How many bytes of the first piece were read.
    private var taken = 0
    private var count: Int
    private var isFull: Bool
    private weak var load: Load?

    init(_ pieces: [Data], of load: Load) {
        self.pieces = pieces
        count = pieces.reduce(0) { $0 + $1.count }
        // The task's former consumer may have stopped the server.
        isFull = count >= BodyChannel.highWater
        self.load = load
    }

    /// Makes the server wait if it sends more than the task reads.
    func append(_ bytes: UnsafeRawBufferPointer) {
        pieces.append(Data(bytes))
        count += bytes.count
        guard count >= BodyChannel.highWater, !isFull else { return }
        isFull = true
        load?.pause(.backPressure)
    }

    func end() {
        hasEnded = true
    }

    var isReadable: Bool { count > 0 || hasEnded }
    var isWritable: Bool { false }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead {
        var filled = 0
        while filled < buffer.count, let piece = pieces.first {
            let part = piece.dropFirst(taken).prefix(buffer.count - filled)
            part.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            filled += part.count
            taken += part.count
            guard taken == piece.count else { break }
            pieces.removeFirst()
            taken = 0
        }
        count -= filled
        if isFull, count < BodyChannel.highWater / 2 {
            isFull = false
            load?.unpause(.backPressure)
        }
        guard filled == 0 else { return .bytes(filled) }
        return hasEnded ? .end : .wouldBlock
    }

    /// No code asks for it here: the body may come from a file.
    var remoteAddress: SocketAddress { load?.transfer?.times.connection?.remote ?? .nowhere }
    var localAddress: SocketAddress? { nil }

    func finishConnecting() throws(SystemCallError) {}
    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> ChannelWrite { .wouldBlock }
    func endWriting() {}
    func probePeer() {}
    func close() { handler = nil }

    /// A reader that stops goes on when more has arrived, or when it is told to.
    func continueNextTurn() {
        guard let load else { return }
        let bound = LoopBound(confined: self, on: load.session.loop)
        load.session.loop.enqueue { bound.value.handler?.channelReady() }
    }
}

/// A channel that returns bytes read earlier before those of the connection.
final class EarlyChannel: ByteChannel, ChannelHandler {
    var handler: (any ChannelHandler)?
    let channel: any ByteChannel
    private var early: Data

    init(_ chunks: [Data], before channel: any ByteChannel) {
        early = chunks.reduce(into: Data()) { $0.append($1) }
        self.channel = channel
        channel.handler = self
    }

    /// Whether all of these bytes were read.
    var isEmpty: Bool { early.isEmpty }

    func channelReady() {
        handler?.channelReady()
    }

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
        return .bytes(part.count)
    }

    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> ChannelWrite {
        channel.write(first, second)
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
