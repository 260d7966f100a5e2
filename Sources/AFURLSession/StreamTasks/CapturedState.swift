import AFBase
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
