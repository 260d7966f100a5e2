import AFBase
import AFLoop
import Foundation

/// The streams' side of their connection. Both streams hold it; when it goes, the connection ends.
final class CapturedLink: Sendable {
    private let state: CapturedState
    private let end: LoopBound<CapturedEnd>

    init(end: CapturedEnd, on loop: EventLoop) {
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
