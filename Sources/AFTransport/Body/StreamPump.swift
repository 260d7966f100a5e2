import AFBase
import AFLoop
import Foundation

/// Reads one stream, on a worker of its own: the caller's code may block as long as it likes without holding up another
/// task, or another stream that it waits for.
final class StreamPump: Sendable {
    /// How many bytes the worker reads ahead of the socket at most.
    static let capacity = 256 << 10
    private static let pieceSize = 64 << 10

    private struct State {
        var total: Int64 = 0
        var isAtEnd = false
        var isAbandoned = false
        var failure: BodyFailure?
    }

    let ring = ByteRing(capacity: StreamPump.capacity)
    private let handed: HandedStream
    /// The length that the head announces, if it does.
    private let announced: Int64?
    private let state = Lock(State())
    /// The stream while it is open.
    private let open = Lock<InputStream?>(nil)

    init(_ handed: HandedStream, announced: Int64?) {
        self.handed = handed
        self.announced = announced
    }

    // MARK: - On the loop

    var progress: (isAtEnd: Bool, failure: BodyFailure?) { state.withLock { ($0.isAtEnd, $0.failure) } }

    /// The worker still waits for a read that blocks.
    func abandon() {
        state.withLock { $0.isAbandoned = true }
    }

    // MARK: - On the worker

    /// Opens the stream. Returns why it cannot be sent, if so.
    func begin() -> BodyFailure? {
        guard let stream = handed.take(), stream.streamStatus == .notOpen else { return .streamIsUsed }
        stream.open()
        open.withLock { $0 = stream }
        if stream.streamStatus == .error {
            fail(.stream(error(of: stream)))
        } else if announced == 0 {
            // The head alone is a complete request, so there is no byte to hold back: find out now whether the stream
            // is empty.
            fill {}
        }
        let failure = progress.failure
        if failure != nil { close() }
        return failure
    }

    /// Reads until the ring is full or the stream at its end.
    ///
    /// - Parameter announce: Called after each piece.
    func fill(_ announce: () -> Void) {
        guard let stream = open.withLock({ $0 }) else { return }
        while state.withLock({ !$0.isAtEnd && !$0.isAbandoned && $0.failure == nil }) {
            let room = ring.room(atMost: StreamPump.pieceSize)
            guard let base = room.baseAddress, !room.isEmpty else { return }
            let count = stream.read(base.assumingMemoryBound(to: UInt8.self), maxLength: room.count)
            note(count, of: stream, room: room.count)
            announce()
        }
        close()
    }

    private func note(_ count: Int, of stream: InputStream, room: Int) {
        // A stream that claims more bytes than there was room for says nothing about what is in the buffer.
        guard count > 0, count <= room else {
            if count != 0 || stream.streamStatus == .error {
                fail(.stream(error(of: stream)))
            } else {
                end()
            }
            return
        }
        let total = state.withLock { state in
            state.total += Int64(count)
            return state.total
        }
        if let announced, total > announced {
            fail(.length(announced: announced, found: total, isAtEnd: false))
        } else {
            ring.filled(count)
        }
    }

    /// Foundation's own class has no implementation on Linux: asking it for its error ends the process. A subclass
    /// whose status is not `error` need not implement it either.
    private func error(of stream: InputStream) -> (any Error)? {
        type(of: stream) == InputStream.self || stream.streamStatus != .error ? nil : stream.streamError
    }

    private func end() {
        state.withLock { state in
            // In one step with the failure, or the loop could take a stream that is too short for complete.
            state.isAtEnd = true
            guard let announced, state.total < announced else { return }
            state.failure = state.failure ?? .length(announced: announced, found: state.total, isAtEnd: true)
        }
    }

    func close() {
        let stream = open.withLock { open in
            defer { open = nil }
            return open
        }
        stream?.close()
    }

    private func fail(_ failure: BodyFailure) {
        state.withLock { $0.failure = $0.failure ?? failure }
    }
}
