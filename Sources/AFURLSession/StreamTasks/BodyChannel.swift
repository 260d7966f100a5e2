import AFLoop
import AFTransport
import Foundation

/// The body of a response as a channel to read from, for a data task that has become a stream while its connection
/// speaks HTTP. It cannot be written to.
final class BodyChannel: ByteChannel {
    private static let highWater = 256 << 10

    var handler: (any ChannelHandler)?
    private(set) var hasEnded = false
    let turnShare = TurnShare()
    private var unread: Backlog
    private var isFull: Bool
    /// A job is on its way that makes the reader go on.
    private var isContinuing = false
    private weak var load: Load?

    init(pieces: [Data], of load: Load) {
        unread = Backlog(pieces.flatMap { $0 })
        // The task's former consumer may have stopped the server.
        isFull = unread.count >= BodyChannel.highWater
        self.load = load
    }

    /// Makes the server wait if it sends more than the task reads.
    func append(_ bytes: UnsafeRawBufferPointer) {
        unread.append(bytes)
        guard unread.count >= BodyChannel.highWater, !isFull else { return }
        isFull = true
        load?.pause(.backPressure)
    }

    func end() {
        hasEnded = true
    }

    var isReadable: Bool { !unread.isEmpty || hasEnded }
    var isWritable: Bool { false }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead {
        let filled = unread.withBytes { bytes in
            let part = bytes.prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
        unread.removeFirst(filled)
        turnShare.take(bytes: filled)
        if isFull, unread.count < BodyChannel.highWater / 2 {
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
    func write(_ first: UnsafeRawBufferPointer, second: UnsafeRawBufferPointer) -> ChannelWrite { .wouldBlock }
    func endWriting() {}
    func probePeer() {}
    func close() { handler = nil }

    /// A reader that stops goes on when more has arrived, or when it is told to.
    func continueNextTurn() {
        guard let load, !isContinuing else { return }
        isContinuing = true
        let bound = LoopBound(confined: self, on: load.session.loop)
        load.session.loop.enqueue { bound.value.goOn() }
    }

    private func goOn() {
        isContinuing = false
        turnShare.renew()
        handler?.channelReady()
    }
}
