/// Compresses (RFC 1951) well enough for tests: with fixed codes, and matches only at the last place where the same
/// three bytes stood. It does not use zlib, so that a mistake in the client's use of zlib cannot hide itself.
enum Deflate {
    /// Stored blocks of at most 64 KiB.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var start = 0
        repeat {
            let end = min(start + 65_535, bytes.count)
            let count = end - start
            output.append(end == bytes.count ? 1 : 0)
            output += [UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8 & 255)]
            output += bytes[start..<end]
            start = end
        } while start < bytes.count
        return output
    }

    /// What a compressor remembers of the bytes before.
    struct Context {
        fileprivate(set) var bytes: [UInt8] = []
        /// Where each three bytes stood last.
        fileprivate var latest: [Int: Int] = [:]
    }

    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var context = Context()
        return compressed(bytes, after: &context, window: 32_768, isFinal: true)
    }

    /// - Parameters:
    ///   - bytes: What to compress.
    ///   - context: What was compressed before.
    ///   - window: How far back a match may reach.
    ///   - isFinal: Whether the block is the last one. Otherwise an empty stored block follows it.
    static func compressed(
        _ bytes: [UInt8],
        after context: inout Context,
        window: Int,
        isFinal: Bool
    ) -> [UInt8] {
        var output = BitWriter()
        output.write(isFinal ? 1 : 0, bits: 1)
        output.write(1, bits: 2)
        var position = context.bytes.count
        context.bytes += bytes
        while position < context.bytes.count {
            let (length, distance) = match(at: position, in: &context, window: window)
            if length >= 3 {
                writeMatch(length, distance, to: &output)
                position += length
            } else {
                writeSymbol(Int(context.bytes[position]), to: &output)
                position += 1
            }
        }
        writeSymbol(256, to: &output)
        if !isFinal { output.write(0, bits: 3) }
        output.fillByte()
        return output.bytes + (isFinal ? [] : [0, 0, 0xFF, 0xFF])
    }

    private static func match(
        at position: Int,
        in context: inout Context,
        window: Int
    ) -> (length: Int, distance: Int) {
        guard position + 2 < context.bytes.count else { return (0, 0) }
        let (one, two, three) = (context.bytes[position], context.bytes[position + 1], context.bytes[position + 2])
        let key = Int(one) << 16 | Int(two) << 8 | Int(three)
        let earlier = context.latest.updateValue(position, forKey: key)
        guard let earlier, position - earlier <= window else { return (0, 0) }
        let limit = min(258, context.bytes.count - position)
        var length = 3
        while length < limit, context.bytes[earlier + length] == context.bytes[position + length] { length += 1 }
        return (length, position - earlier)
    }

    // MARK: - The fixed codes (section 3.2.6)

    private static func writeSymbol(_ symbol: Int, to output: inout BitWriter) {
        switch symbol {
        case ..<144: output.writeCode(0x30 + symbol, bits: 8)
        case ..<256: output.writeCode(0x190 + symbol - 144, bits: 9)
        case ..<280: output.writeCode(symbol - 256, bits: 7)
        default: output.writeCode(0xC0 + symbol - 280, bits: 8)
        }
    }

    private static func writeMatch(_ length: Int, _ distance: Int, to output: inout BitWriter) {
        let lengthCode = lengths.lastIndex { $0.base <= length } ?? 0
        writeSymbol(257 + lengthCode, to: &output)
        output.write(length - lengths[lengthCode].base, bits: lengths[lengthCode].bits)
        let distanceCode = distances.lastIndex { $0.base <= distance } ?? 0
        output.writeCode(distanceCode, bits: 5)
        output.write(distance - distances[distanceCode].base, bits: distances[distanceCode].bits)
    }

    /// The lengths of matches, by code: the shortest, and how many bits say how much is added.
    static let lengths: [(base: Int, bits: Int)] = {
        var codes: [(base: Int, bits: Int)] = []
        var base = 3
        for code in 0..<28 {
            let bits = code < 8 ? 0 : code / 4 - 1
            codes.append((base, bits))
            base += 1 << bits
        }
        return codes + [(258, 0)]
    }()

    /// The same for distances.
    static let distances: [(base: Int, bits: Int)] = {
        var codes: [(base: Int, bits: Int)] = []
        var base = 1
        for code in 0..<30 {
            let bits = code < 4 ? 0 : code / 2 - 1
            codes.append((base, bits))
            base += 1 << bits
        }
        return codes
    }()
}

/// Writes bits in the order of deflate: from the lowest bit of each byte.
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    /// How many bits of the last byte are written.
    private(set) var pendingCount = 0

    /// Writes a number, the lowest bit first.
    mutating func write(_ value: Int, bits count: Int) {
        pending |= UInt64(value) << UInt64(pendingCount)
        pendingCount += count
        while pendingCount >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            pendingCount -= 8
        }
    }

    /// Writes a Huffman code, the highest bit first.
    mutating func writeCode(_ code: Int, bits count: Int) {
        for bit in (0..<count).reversed() { write(code >> bit & 1, bits: 1) }
    }

    mutating func fillByte() {
        if pendingCount > 0 { write(0, bits: 8 - pendingCount) }
    }
}

/// Zero bytes compressed as well as the format allows, about 1000 to 1. The zeros are never made.
///
/// One block with its own Huffman codes: the match of length 258 and the distance 1 have one bit each, both 0. Four
/// such pairs are one zero byte, which stands for 1032 zero bytes.
struct DeflateBomb {
    /// The bytes before the run of zero bytes, the length of the run, and the bytes after it.
    var start: [UInt8]
    let zeros: Int
    var end: [UInt8]

    init(count: Int) {
        var output = BitWriter()
        output.write(1, bits: 1)
        output.write(2, bits: 2)
        Self.writeCodes(to: &output)
        guard count > 0 else {
            Self.writeEnd(literals: 0, to: &output)
            (start, zeros, end) = (output.bytes, 0, [])
            return
        }
        output.writeCode(0b10, bits: 2)
        let (matches, literals) = ((count - 1) / 258, (count - 1) % 258)
        // Four matches complete the byte that has begun; the bits after them are zero as well.
        output.write(0, bits: min(matches, 4) * 2)
        guard matches > 4 else {
            Self.writeEnd(literals: literals, to: &output)
            (start, zeros, end) = (output.bytes, 0, [])
            return
        }
        (start, zeros) = (output.bytes, (matches - 4) / 4)
        var rest = BitWriter()
        rest.write(0, bits: output.pendingCount)
        rest.write(0, bits: matches % 4 * 2)
        Self.writeEnd(literals: literals, to: &rest)
        end = rest.bytes
    }

    private static func writeEnd(literals: Int, to output: inout BitWriter) {
        for _ in 0..<literals { output.writeCode(0b10, bits: 2) }
        output.writeCode(0b11, bits: 2)
        output.fillByte()
    }

    /// The lengths of the codes (section 3.2.7): 2 for the byte 0, 2 for the end, 1 for the longest match, 1 for
    /// the distance one. The lengths are coded too: 18, a run of symbols without a code, has one bit; 1 and 2 have
    /// two bits.
    private static func writeCodes(to output: inout BitWriter) {
        output.write(286 - 257, bits: 5)
        output.write(1 - 1, bits: 5)
        output.write(18 - 4, bits: 4)
        // In the order of section 3.2.7, where 18 is third, 2 is sixteenth and 1 is eighteenth.
        for index in 0..<18 { output.write(index == 2 ? 1 : index == 15 || index == 17 ? 2 : 0, bits: 3) }
        let (one, two) = (0b10, 0b11)
        output.writeCode(two, bits: 2)
        for count in [138, 117] { writeGap(count, to: &output) }
        output.writeCode(two, bits: 2)
        writeGap(28, to: &output)
        output.writeCode(one, bits: 2)
        output.writeCode(one, bits: 2)
    }

    private static func writeGap(_ count: Int, to output: inout BitWriter) {
        output.writeCode(0, bits: 1)
        output.write(count - 11, bits: 7)
    }
}
