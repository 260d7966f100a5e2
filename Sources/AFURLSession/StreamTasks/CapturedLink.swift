import AFBase
import AFLoop
import AFTransport
import Dispatch
import Foundation

/// What two streams and the loop share of one connection: a ring in each direction, and who waits for what.
final class CapturedState: Sendable {
    static let capacity = 256 << 10

    struct Flags {
        var isAtEnd = false
        var failure: URLError?
        var readsNoMore = false
        var writesNoMore = false
        /// The loop stopped reading until there is room.
        var isFull = false
        /// A job that will move bytes is on its way.
        var isAnnounced = false
        var isReaderWaiting = false
        var isWriterWaiting = false
    }

    let incoming = ByteRing(capacity: CapturedState.capacity)
    let outgoing = ByteRing(capacity: CapturedState.capacity)
    let flags = Lock(Flags())
    let arrival = DispatchSemaphore(value: 0)
    let departure = DispatchSemaphore(value: 0)

    /// Bytes have come, or none will any more.
    func wakeReader() {
        let isWaiting = flags.withLock { flags in
            defer { flags.isReaderWaiting = false }
            return flags.isReaderWaiting
        }
        if isWaiting { arrival.signal() }
    }

    /// There is room, or none will be needed any more.
    func wakeWriter() {
        let isWaiting = flags.withLock { flags in
            defer { flags.isWriterWaiting = false }
            return flags.isWriterWaiting
        }
        if isWaiting { departure.signal() }
    }
}

/// The streams' side of their connection. Both hold it, and the connection ends with it.
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

    /// Waits until there is something. 0 at the end, -1 if the connection broke.
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
            // What came while we looked is taken in the next round: the end is told after the last byte.
            guard state.incoming.count == 0 else { continue }
            if flags.isAtEnd { return 0 }
            state.arrival.wait()
        }
    }

    /// Waits until there is room for something. -1 if the connection broke, or is closed.
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

    /// Has the loop move what can be moved.
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
    private let patience: LoopInterval
    /// Runs while what was written has still to leave, and nobody waits for it.
    private var deadline: StreamClock?
    private let mapped: (SystemCallError) -> URLError
    private let cutShort: () -> URLError?
    private let closed: () -> Void

    /// - Parameters:
    ///   - patience: How long a peer may take nothing of what is left when both streams are closed.
    ///   - mapped: What an error of the connection is for the user.
    ///   - cutShort: Asked at the end of what can be read: the error, if that was none.
    ///   - closed: Called when the connection has been closed.
    init(
        _ channel: any ByteChannel,
        on loop: EventLoop,
        patience: LoopInterval,
        mapped: @escaping (SystemCallError) -> URLError,
        cutShort: @escaping () -> URLError?,
        closed: @escaping () -> Void
    ) {
        self.channel = channel
        self.loop = loop
        self.patience = patience
        self.mapped = mapped
        self.cutShort = cutShort
        self.closed = closed
        channel.handler = self
    }

    func channelReady() {
        move()
    }

    func move() {
        state.flags.withLock { $0.isAnnounced = false }
        guard let channel else { return }
        var isMore = false
        for _ in 0..<StreamDesk.stepsPerTurn {
            isMore = receive(from: channel)
            guard self.channel != nil, isMore else { break }
        }
        for _ in 0..<StreamDesk.stepsPerTurn where self.channel != nil {
            guard send(to: channel) else { break }
        }
        guard self.channel != nil else { return }
        endIfDone(channel)
        // A channel without room tells when it has some.
        if isMore || (state.outgoing.count > 0 && channel.isWritable) { self.channel?.continueNextTurn() }
    }

    /// False if nothing more can be received now.
    private func receive(from channel: any ByteChannel) -> Bool {
        let (isOver, drops) = state.flags.withLock { ($0.isAtEnd || $0.failure != nil, $0.readsNoMore) }
        guard !isOver, channel.isReadable else { return false }
        // What is dropped is written over by what comes next.
        guard let room = roomOrWish() else {
            if drops { state.incoming.taken(state.incoming.count) }
            return drops
        }
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

    /// Nil if there is none: the reader says when that changes. It is looked for once more behind the wish, or a reader who
    /// took all of it in between would wait for bytes that nobody fetches.
    private func roomOrWish() -> UnsafeMutableRawBufferPointer? {
        for _ in 0..<2 {
            let room = state.incoming.room(atMost: CapturedState.capacity)
            if !room.isEmpty { return room }
            state.flags.withLock { $0.isFull = true }
        }
        return nil
    }

    /// False if nothing more can be sent now.
    private func send(to channel: any ByteChannel) -> Bool {
        let ready = state.outgoing.ready
        guard !ready.isEmpty, channel.isWritable else { return false }
        switch channel.write(ready, .empty) {
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

    /// A peer that takes nothing would keep the connection for as long as it likes.
    private func startDeadline() {
        guard deadline == nil else { return }
        deadline = StreamClock(patience, on: loop) { [weak self] in self?.close() }
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

    /// Nobody holds the streams any more.
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
