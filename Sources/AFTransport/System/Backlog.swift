/// Bytes that a peer has sent and that wait: their reader has had its share of the turn, or takes no more now.
///
/// Removing from its beginning moves an index and no bytes.
package struct Backlog {
    private var bytes: [UInt8]
    private var start = 0

    package init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    package var count: Int { bytes.count - start }
    package var isEmpty: Bool { start == bytes.count }

    package mutating func append(_ more: UnsafeRawBufferPointer) {
        // What was removed makes room before the rest would have to move further than it is long.
        if start > bytes.count / 2 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    package mutating func removeFirst(_ count: Int) {
        start += count
        if isEmpty { self = Backlog() }
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }
}
