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
