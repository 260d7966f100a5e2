import AFLoop
import Glibc

/// A record in a segment, without its payload.
///
/// ```
///  0  magic          4
///  4  state          1, and three zeros
///  8  tag            8
/// 16  payload length 8
/// 24  check          8, of the offset and all of these but the state
/// ```
struct CacheRecord {
    static let headerLength = 32
    static let stateOffset = 4
    static let dead: UInt8 = 0
    /// No single bit makes a dead record live.
    private static let live: UInt8 = 0xa5
    private static let magic: UInt32 = 0x3352_4641

    let tag: UInt64
    let offset: Int
    let payloadLength: Int
    var isLive = true

    var length: Int { CacheRecord.length(ofPayload: payloadLength) }
    var end: Int { offset + length }

    /// What a record takes.
    static func length(ofPayload count: Int) -> Int {
        (headerLength + count + CachePlace.unit - 1) / CachePlace.unit * CachePlace.unit
    }

    init(tag: UInt64, offset: Int, payloadLength: Int) {
        (self.tag, self.offset, self.payloadLength) = (tag, offset, payloadLength)
    }

    /// Nil if there is no record.
    ///
    /// - Parameter bytes: The first are those of the header.
    init?(_ bytes: UnsafeRawBufferPointer, at offset: Int, key: UInt64) {
        guard bytes.count >= CacheRecord.headerLength, bytes.number(at: 0, UInt32.self) == CacheRecord.magic,
            let length = Int(exactly: bytes.number(at: 16, UInt64.self)), length < CachePlace.lengthLimit
        else { return nil }
        self.init(tag: bytes.number(at: 8, UInt64.self), offset: offset, payloadLength: length)
        isLive = bytes[CacheRecord.stateOffset] == CacheRecord.live
        guard bytes.number(at: 24, UInt64.self) == check(key: key), bytes[5] | bytes[6] | bytes[7] == 0 else {
            return nil
        }
    }

    private func check(key: UInt64) -> UInt64 {
        var check = CacheCheck(key: key)
        for word in [UInt64(offset), tag, UInt64(payloadLength)] { check.add(word) }
        return check.value
    }

    /// The header of a live record.
    func header(key: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(CacheRecord.headerLength)
        bytes.add(CacheRecord.magic)
        bytes.add(UInt32(CacheRecord.live))
        bytes.add(tag)
        bytes.add(UInt64(payloadLength))
        bytes.add(check(key: key))
        return bytes
    }

    var padding: [UInt8] { Array(repeating: 0, count: length - CacheRecord.headerLength - payloadLength) }

    /// Reads records one after the other up to the first that is not complete. Its length leads from each to the next
    /// one: damaged bytes end this, and nothing is taken for a record because it looks like one.
    ///
    /// - Returns: Where the last one ends.
    static func scan(
        _ file: DiskFile,
        from start: Int,
        to size: Int,
        key: UInt64,
        body: (CacheRecord) -> Void
    ) throws(SystemCallError) -> Int {
        var (window, first, offset) = ([UInt8](), start, start)
        while size - offset >= headerLength {
            if offset + headerLength > first + window.count {
                window = try file.bytes(at: Int64(offset), count: min(size - offset, 1 << 16))
                first = offset
            }
            let record = window.withUnsafeBytes {
                CacheRecord(UnsafeRawBufferPointer(rebasing: $0.dropFirst(offset - first)), at: offset, key: key)
            }
            guard let record, record.length <= size - offset else { break }
            body(record)
            offset = record.end
        }
        return offset
    }
}
