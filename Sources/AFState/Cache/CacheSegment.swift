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
