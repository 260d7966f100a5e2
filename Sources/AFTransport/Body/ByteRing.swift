import AFBase
import AFLoop

/// Bytes that one thread puts in and another takes out; neither waits for the other. Holds at most `capacity` bytes.
package final class ByteRing: Sendable {
    private struct Fill {
        var start = 0
        var count = 0
    }

    package let capacity: Int
    private let address: UInt
    private let fill = Lock(Fill())

    package init(capacity: Int) {
        self.capacity = capacity
        address = UInt(bitPattern: UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 64))
    }

    deinit {
        UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }

    private func bytes(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
        let start = UnsafeMutableRawPointer(bitPattern: address + UInt(range.lowerBound))
        return UnsafeMutableRawBufferPointer(start: start, count: range.count)
    }

    package var count: Int { fill.withLock { $0.count } }

    // MARK: - For the thread that fills it

    /// Room for at most `limit` bytes, in one piece; empty if there is none.
    package func room(atMost limit: Int) -> UnsafeMutableRawBufferPointer {
        let fill = fill.withLock { $0 }
        let end = fill.start + fill.count
        let range = end < capacity ? end..<capacity : (end - capacity)..<fill.start
        return bytes(range.prefix(limit))
    }

    package func filled(_ count: Int) {
        fill.withLock { $0.count += count }
    }

    /// Begins again at the front, whose memory is in the caches. Call it only while no thread fills the ring.
    func restartIfEmpty() {
        fill.withLock { if $0.count == 0 { $0.start = 0 } }
    }

    // MARK: - For the thread that empties it

    /// The oldest bytes, as far as they lie in one piece.
    package var ready: UnsafeRawBufferPointer {
        let fill = fill.withLock { $0 }
        return UnsafeRawBufferPointer(bytes(fill.start..<min(fill.start + fill.count, capacity)))
    }

    package func taken(_ count: Int) {
        fill.withLock { fill in
            fill.start = (fill.start + count) % capacity
            fill.count -= count
        }
    }
}
