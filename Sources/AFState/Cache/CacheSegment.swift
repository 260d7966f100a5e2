import AFLoop
import Glibc

/// What a folder knows of one of its segments: a file to which records are appended. Numbers in it are little-endian.
///
/// ```
/// records   header of 32 bytes, payload, zeros up to a multiple of 16
/// footer    of a sealed segment: tag (8), offset / 16 (4), length / 16 (4) of each record
///           magic (8), offset of the footer (8), number of records (8), check (8)
/// ```
///
/// Only its name tells the key of the checks, so no response that is stored can contain bytes that would be taken for a
/// record or a footer. They are no protection against a user who can read the folder.
struct CacheSegment {
    let name: Name
    /// Behind the last record that is known.
    var end = 0
    /// The size of the file when it was last looked at; less than 0 if it must be looked at.
    var size = -1
    /// What it takes on the disk.
    var allocated = 0
    /// Nothing is appended any more.
    var isSealed = false

    /// Names sort by age: first comes a number that is larger than those of the segments before.
    struct Name: Hashable, Comparable, Sendable {
        let sequence: UInt64
        /// Random, so that the names that two processes choose differ.
        let key: UInt64

        var text: String { Name.digits(sequence) + "-" + Name.digits(key) + ".seg" }

        init(sequence: UInt64, key: UInt64) { (self.sequence, self.key) = (sequence, key) }

        init?(_ text: String) {
            let bytes = text.utf8
            guard bytes.count == 37, text.hasSuffix(".seg"),
                bytes[bytes.index(bytes.startIndex, offsetBy: 16)] == UInt8(ascii: "-"),
                let sequence = Name.number(bytes.prefix(16)), let key = Name.number(bytes.dropFirst(17).prefix(16))
            else { return nil }
            self.init(sequence: sequence, key: key)
        }

        static func < (left: Name, right: Name) -> Bool {
            (left.sequence, left.key) < (right.sequence, right.key)
        }

        private static func digits(_ number: UInt64) -> String {
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }

        private static func number(_ digits: Substring.UTF8View) -> UInt64? {
            var number: UInt64 = 0
            for digit in digits {
                switch digit {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
                case UInt8(ascii: "a")...UInt8(ascii: "f"):
                    number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
                default: return nil
                }
            }
            return number
        }
    }
}

/// A check that every change of a single word changes. It is not made to withstand those who know its key.
struct CacheCheck {
    private(set) var value: UInt64

    init(key: UInt64) { value = key ^ 0x4146_4361_6368_6533 }

    mutating func add(_ word: UInt64) {
        value = (value ^ word) &* 0x9e37_79b9_7f4a_7c15
        value ^= value >> 32
    }
}

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

// The numbers of a segment are little-endian.
extension UnsafeRawBufferPointer {
    func number<Number: FixedWidthInteger>(at offset: Int, _: Number.Type) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}

extension [UInt8] {
    mutating func add(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
