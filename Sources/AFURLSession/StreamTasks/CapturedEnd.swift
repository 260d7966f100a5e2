import AFBase
import AFLoop
import AFTransport
import Foundation

/// The loop's side: moves bytes between the rings and the connection.
final class CapturedEnd: ChannelHandler {
    let state = CapturedState()
    private var channel: (any ByteChannel)?
    private var hasEndedWriting = false
    private let loop: EventLoop
    /// Where bytes are read that no stream takes.
    private let spare: ReadBuffer
    private let patience: LoopInterval
    /// Runs while written bytes have still to leave, and both streams are closed.
    private var deadline: PausableTimer?
    private let mapped: (SystemCallError) -> URLError
    private let cutShort: () -> URLError?
    private let closed: () -> Void

    /// - Parameters:
    ///   - patience: How long the peer may accept none of the bytes that are left when both streams are closed.
    ///   - mapped: Turns an error of the connection into the one that the streams report.
    ///   - cutShort: Called at the end of the bytes. Returns an error if the peer has not ended them properly.
    ///   - closed: Called when the connection has been closed.
    init(
        channel: any ByteChannel,
        on loop: EventLoop,
        spare: ReadBuffer,
        patience: LoopInterval,
        mapped: @escaping (SystemCallError) -> URLError,
        cutShort: @escaping () -> URLError?,
        closed: @escaping () -> Void
    ) {
        self.channel = channel
        self.loop = loop
        self.spare = spare
        self.patience = patience
        self.mapped = mapped
        self.cutShort = cutShort
        self.closed = closed
        channel.handler = self
    }

    func channelReady() {
        move()
    }

    /// The peer has ended before the streams were captured.
    func inputIsOver() {
        state.flags.withLock { $0.isAtEnd = true }
    }

    /// The program had closed reading before the streams were captured: what arrives is dropped.
    func inputIsClosed() {
        state.flags.withLock { $0.readsNoMore = true }
    }

    /// The program had closed writing before the streams were captured.
    func outputIsClosed() {
        hasEndedWriting = true
        state.flags.withLock { $0.writesNoMore = true }
    }

    func move() {
        state.flags.withLock { $0.isAnnounced = false }
        guard let channel else { return }
        let share = channel.turnShare
        while self.channel != nil, !share.isSpentForWriting, send(to: channel) {}
        while self.channel != nil, !share.isSpent, receive(from: channel) {}
        guard self.channel != nil else { return }
        endIfDone(channel)
        // A channel without room reports when it has some.
        if share.isSpent || (state.outgoing.count > 0 && channel.isWritable) { self.channel?.continueNextTurn() }
    }

    /// False if the connection has no more bytes now.
    private func receive(from channel: any ByteChannel) -> Bool {
        let (isOver, drops) = state.flags.withLock { ($0.isAtEnd || $0.failure != nil, $0.readsNoMore) }
        guard !isOver, channel.isReadable else { return false }
        // A reader may still be at the ring when the stream is closed on another thread: drop bytes elsewhere.
        guard let room = drops ? spare.forReading() : roomOrWish() else { return false }
        switch channel.read(into: room) {
        case .bytes(let count):
            if !drops { state.incoming.filled(count) }
            state.wakeReader()
            return true
        case .wouldBlock: return false
        case .end:
            if let error = cutShort() {
                fail(error)
            } else {
                state.flags.withLock { $0.isAtEnd = true }
                state.wakeReader()
            }
        case .failed(let error): fail(mapped(error))
        }
        return false
    }

    /// Nil if there is no room; then the reader reports when there is. It looks once more after it has set `isFull`: a
    /// reader that emptied the ring in between has not seen the flag, and would wait for bytes that the loop does not
    /// read.
    private func roomOrWish() -> UnsafeMutableRawBufferPointer? {
        for _ in 0..<2 {
            let room = state.incoming.room(atMost: CapturedState.capacity)
            if !room.isEmpty { return room }
            state.flags.withLock { $0.isFull = true }
        }
        return nil
    }

    /// False if the connection takes no more bytes now.
    private func send(to channel: any ByteChannel) -> Bool {
        let ready = state.outgoing.ready
        guard !ready.isEmpty, channel.isWritable else { return false }
        switch channel.write(ready, second: .empty) {
        case .bytes(let count):
            state.outgoing.taken(count)
            state.wakeWriter()
            stopDeadline()
            return true
        case .wouldBlock: return false
        case .failed(let error):
            fail(mapped(error))
            return false
        }
    }

    private func endIfDone(_ channel: any ByteChannel) {
        let flags = state.flags.withLock { $0 }
        let isOver = flags.readsNoMore && flags.writesNoMore
        guard flags.writesNoMore, state.outgoing.count == 0, channel.isFlushed else {
            if isOver { startDeadline() }
            return
        }
        if !hasEndedWriting {
            hasEndedWriting = true
            channel.endWriting()
        }
        if isOver { close() }
    }

    /// Limits how long a peer that accepts no bytes keeps the connection.
    private func startDeadline() {
        guard deadline == nil else { return }
        deadline = PausableTimer(after: patience, on: loop) { [weak self] in self?.close() }
        deadline?.start()
    }

    private func stopDeadline() {
        deadline?.stop()
        deadline = nil
    }

    private func fail(_ error: URLError) {
        state.flags.withLock { $0.failure = error }
        close()
        state.wakeReader()
        state.wakeWriter()
    }

    /// The program has released both streams.
    func abandon() {
        state.flags.withLock { flags in
            flags.readsNoMore = true
            flags.writesNoMore = true
        }
        move()
    }

    private func close() {
        guard let channel else { return }
        self.channel = nil
        stopDeadline()
        channel.close()
        closed()
    }
}
