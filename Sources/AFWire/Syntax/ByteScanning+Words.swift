/// Eight bytes at a time: the loops every received head passes through.
extension ByteScanning {
    /// Whether no byte is a control other than HTAB.
    @inline(__always)
    static func isFieldText(_ start: UnsafeRawPointer, count: Int) -> Bool {
        guard count >= 8 else { return isFieldTextByByte(start, count: count) }
        var offset = 0
        while true {
            let word = start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // HTAB is a suspect too, so a suspicious word gets a second look.
            if hasControl(word), !isFieldTextByByte(start + offset, count: 8) { return false }
            if offset == count - 8 { return true }
            // The last word overlaps the one before it rather than ending in a byte loop.
            offset = min(offset + 8, count - 8)
        }
    }

    private static func isFieldTextByByte(_ start: UnsafeRawPointer, count: Int) -> Bool {
        for offset in 0..<count where isForbiddenControl(start.load(fromByteOffset: offset, as: UInt8.self)) {
            return false
        }
        return true
    }

    /// Whether any of the eight bytes is below 0x20 or equal to 0x7F.
    @inline(__always)
    private static func hasControl(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let delete = word ^ (ones &* 0x7F)
        let below = (word &- ones &* 0x20) & ~word
        let equal = (delete &- ones) & ~delete
        return (below | equal) & (ones &* 0x80) != 0
    }

    /// How many bytes from `start` on are token bytes, up to `limit`, of which `readable` (no fewer) may be looked at.
    @inline(__always)
    static func countOfToken(at start: UnsafeRawPointer, limit: Int, readable: Int) -> Int {
        var count = 0
        while count < limit {
            if count + 8 <= readable {
                let word = start.loadUnaligned(fromByteOffset: count, as: UInt64.self)
                count += countOfLettersAndHyphens(UInt64(littleEndian: word))
                // The rest of the alphabet of tokens is rare in names.
                if count >= limit { return limit }
            }
            guard isToken(start.load(fromByteOffset: count, as: UInt8.self)) else { return count }
            count += 1
        }
        return count
    }

    /// How many bytes of the word, lowest first, are ASCII letters or hyphens.
    @inline(__always)
    private static func countOfLettersAndHyphens(_ word: UInt64) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high = ones &* 0x80
        // With the top bits cleared no addition carries into the next byte.
        let ascii = word & ~high
        let lower = ascii | ones &* 0x20
        let isLetter = (lower &+ ones &* (0x80 - 0x61)) & ~(lower &+ ones &* (0x80 - 0x7B))
        let isHyphen = ~((ascii ^ ones &* 0x2D) &+ ones &* 0x7F)
        let isOther = ~(isLetter | isHyphen) | word
        return (isOther & high).trailingZeroBitCount / 8
    }

    /// Whether the token at `start` is `lowercase`, ignoring case.
    ///
    /// Only for bytes already known to be a token of the same length: there, setting
    /// bit 5 cannot make two different bytes equal.
    @inline(__always)
    static func token(at start: UnsafeRawPointer, is lowercase: StaticString) -> Bool {
        let other = UnsafeRawPointer(lowercase.utf8Start)
        let count = lowercase.utf8CodeUnitCount
        var offset = 0
        while offset + 8 <= count {
            let word = start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) | 0x2020_2020_2020_2020
            guard word == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
            offset += 8
        }
        while offset < count {
            let byte = start.load(fromByteOffset: offset, as: UInt8.self) | 0x20
            guard byte == other.load(fromByteOffset: offset, as: UInt8.self) else { return false }
            offset += 1
        }
        return true
    }
}
