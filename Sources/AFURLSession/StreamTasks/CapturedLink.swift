import AFBase
import AFLoop
import AFTransport
import Dispatch
import Foundation

/// The state that two streams and the loop share of one connection: a ring of bytes in each direction, and the waiting
/// threads.
final class CapturedState: Sendable {
    static let capacity = 256 << 10

    struct Flags {
        var isAtEnd = false
        var failure: URLError?
        var readsNoMore = false
        var writesNoMore = false
        /// Whether the loop has stopped reading until there is room.
        var isFull = false
        /// Whether a job that will move bytes is on its way.
        var isAnnounced = false
        var isReaderWaiting = false
        var isWriterWaiting = false
    }

    let incoming = ByteRing(capacity: CapturedState.capacity)
    let outgoing = ByteRing(capacity: CapturedState.capacity)
    let flags = Lock(Flags())
    let arrival = DispatchSemaphore(value: 0)
    let departure = DispatchSemaphore(value: 0)

    /// Wakes the reader: bytes have come, or no more will come.
    func wakeReader() {
        let isWaiting = flags.withLock { flags in
            defer { flags.isReaderWaiting = false }
            return flags.isReaderWaiting
        }
        if isWaiting { arrival.signal() }
    }

    /// Wakes the writer: there is room, or no more will be needed.
    func wakeWriter() {
        let isWaiting = flags.withLock { flags in
            defer { flags.isWriterWaiting = false }
            return flags.isWriterWaiting
        }
        if isWaiting { departure.signal() }
    }
}

/// The streams' side of their connection. Both streams hold it; when it goes, the connection ends.
final class CapturedLink: Sendable {
    private let state: CapturedState
    private let end: LoopBound<CapturedEnd>

    init(_ end: CapturedEnd, on loop: EventLoop) {
        state = end.state
        self.end = LoopBound(confined: end, on: loop)
    }

    deinit {
        end.loop.enqueue { [end] in end.value.abandon() }
    }

    var failure: URLError? { state.flags.withLock { $0.failure } }
    var hasArrivals: Bool { state.incoming.count > 0 || state.flags.withLock { $0.isAtEnd || $0.failure != nil } }
    var hasRoom: Bool { state.outgoing.count < CapturedState.capacity }

    /// Waits until there are bytes. 0 at the end, -1 if the connection broke.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard !buffer.isEmpty else { return 0 }
        while true {
            let ready = state.incoming.ready.prefix(buffer.count)
            if !ready.isEmpty {
                let count = ready.count
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: ready))
                state.incoming.taken(count)
                let wasFull = state.flags.withLock { flags in
                    defer { flags.isFull = false }
                    return flags.isFull
                }
                if wasFull { announce() }
                return count
            }
            let flags = state.flags.withLock { flags in
                flags.isReaderWaiting = true
                return flags
            }
            if flags.readsNoMore || flags.failure != nil { return -1 }
            // Read what came in the meantime first: the end comes after the last byte.
            guard state.incoming.count == 0 else { continue }
            if flags.isAtEnd { return 0 }
            state.arrival.wait()
        }
    }

    /// Waits until there is room for a byte. -1 if the connection broke, or is closed.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !bytes.isEmpty else { return 0 }
        while true {
            let flags = state.flags.withLock { flags in
                flags.isWriterWaiting = true
                return flags
            }
            if flags.writesNoMore || flags.failure != nil { return -1 }
            let room = state.outgoing.room(atMost: bytes.count)
            if !room.isEmpty {
                let count = room.count
                room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                state.outgoing.filled(count)
                announce()
                return count
            }
            state.departure.wait()
        }
    }

    func closeReading() {
        state.flags.withLock { $0.readsNoMore = true }
        state.wakeReader()
        announce()
    }

    func closeWriting() {
        state.flags.withLock { $0.writesNoMore = true }
        state.wakeWriter()
        announce()
    }

    /// Makes the loop move what it can.
    private func announce() {
        let isNew = state.flags.withLock { flags in
            defer { flags.isAnnounced = true }
            return !flags.isAnnounced
        }
        guard isNew else { return }
        end.loop.enqueue { [end] in end.value.move() }
    }
}

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
        _ channel: any ByteChannel,
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
        deadline = PausableTimer(patience, on: loop) { [weak self] in self?.close() }
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
