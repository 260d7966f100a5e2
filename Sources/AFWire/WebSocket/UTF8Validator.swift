/// Whether bytes that come in pieces are UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing beyond U+10FFFF.
///
/// A byte that cannot begin or continue a character is refused at once, and not when the text ends.
package struct UTF8Validator: Sendable {
    /// How many bytes the character still needs.
    private var needed: UInt8 = 0
    /// What the next of them may be.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    package init() {}

    /// Whether the text may end here.
    package var isComplete: Bool { needed == 0 }

    /// False if the bytes cannot be a part of the text.
    package mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            if needed == 0 { position = Self.skipASCII(bytes, from: position) }
            guard position < bytes.count else { break }
            guard accepts(bytes[position]) else { return false }
            position += 1
        }
        return true
    }

    private mutating func accepts(_ byte: UInt8) -> Bool {
        guard needed == 0 else {
            guard allowed.contains(byte) else { return false }
            needed -= 1
            allowed = 0x80...0xBF
            return true
        }
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: needed = 1
        case 0xE0: (needed, allowed) = (2, 0xA0...0xBF)
        case 0xED: (needed, allowed) = (2, 0x80...0x9F)
        case 0xE1...0xEF: needed = 2
        case 0xF0: (needed, allowed) = (3, 0x90...0xBF)
        case 0xF1...0xF3: needed = 3
        case 0xF4: (needed, allowed) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }

    /// The place of the first byte that is not ASCII, looked for in words of eight.
    private static func skipASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while position + 8 <= bytes.count,
            bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            position += 8
        }
        while position < bytes.count, bytes[position] < 0x80 { position += 1 }
        return position
    }
}
