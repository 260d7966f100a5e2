/// Decompresses raw deflate data (RFC 1951). It does not use zlib, as `Deflate` does not.
struct Inflate {
    /// Why bytes cannot be decompressed.
    struct Failure: Error, Equatable {
        let reason: String
    }

    private var input: BitReader
    private var output: [UInt8]
    private let window: Int
    private let limit: Int

    /// Decompresses blocks up to the end of the input, the final one or not.
    ///
    /// - Parameters:
    ///   - bytes: Whole blocks.
    ///   - history: What was decompressed before.
    ///   - window: How far back a match may reach.
    ///   - limit: How many bytes there may be.
    static func decompressed(
        _ bytes: [UInt8],
        after history: [UInt8] = [],
        window: Int = 32_768,
        limit: Int = .max
    ) throws(Failure) -> [UInt8] {
        let (most, isHuge) = history.count.addingReportingOverflow(limit)
        var inflate = Inflate(
            input: BitReader(bytes),
            output: history,
            window: window,
            limit: isHuge ? .max : most
        )
        while !inflate.input.isAtEnd { try inflate.readBlock() }
        return Array(inflate.output.dropFirst(history.count))
    }

    private mutating func readBlock() throws(Failure) {
        let isFinal = try input.read(1) == 1
        switch try input.read(2) {
        case 0: try readStored()
        case 1: try readCompressed(literals: Self.fixedLiterals, distances: Self.fixedDistances)
        case 2:
            let codes = try readCodes()
            try readCompressed(literals: codes.literals, distances: codes.distances)
        default: throw Failure(reason: "a block of type 3")
        }
        // More blocks may follow a final one, in the next byte: RFC 7692 section 7.2.3.4.
        if isFinal { input.skipToByte() }
    }

    private mutating func readStored() throws(Failure) {
        input.skipToByte()
        let count = try input.read(16)
        guard try input.read(16) == count ^ 0xFFFF else { throw Failure(reason: "a stored block with a wrong length") }
        for _ in 0..<count { try append(UInt8(input.read(8))) }
    }

    private mutating func append(_ byte: UInt8) throws(Failure) {
        guard output.count < limit else { throw Failure(reason: "too many bytes") }
        output.append(byte)
    }

    private mutating func readCompressed(literals: HuffmanCode, distances: HuffmanCode) throws(Failure) {
        while true {
            let symbol = try literals.read(from: &input)
            if symbol == 256 { return }
            if symbol < 256 {
                try append(UInt8(symbol))
            } else {
                let length = try readNumber(symbol - 257, of: Deflate.lengths)
                let distance = try readNumber(distances.read(from: &input), of: Deflate.distances)
                guard distance <= min(window, output.count) else { throw Failure(reason: "a match too far away") }
                for _ in 0..<length { try append(output[output.count - distance]) }
            }
        }
    }

    private mutating func readNumber(_ code: Int, of codes: [(base: Int, bits: Int)]) throws(Failure) -> Int {
        guard code < codes.count else { throw Failure(reason: "a reserved code") }
        return try codes[code].base + input.read(codes[code].bits)
    }

    // MARK: - Codes

    private static let fixedLiterals = HuffmanCode(
        lengths: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
    )
    private static let fixedDistances = HuffmanCode(lengths: [Int](repeating: 5, count: 32))

    /// The codes at the beginning of a block (section 3.2.7).
    private mutating func readCodes() throws(Failure) -> (literals: HuffmanCode, distances: HuffmanCode) {
        let literalCount = try 257 + input.read(5)
        let distanceCount = try 1 + input.read(5)
        let count = try 4 + input.read(4)
        var lengthLengths = [Int](repeating: 0, count: 19)
        let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
        for place in order.prefix(count) { lengthLengths[place] = try input.read(3) }
        let code = HuffmanCode(lengths: lengthLengths)
        var lengths: [Int] = []
        while lengths.count < literalCount + distanceCount {
            let symbol = try code.read(from: &input)
            switch symbol {
            case 16:
                guard let last = lengths.last else { throw Failure(reason: "a repeated length without a first one") }
                lengths += try [Int](repeating: last, count: 3 + input.read(2))
            case 17: lengths += try [Int](repeating: 0, count: 3 + input.read(3))
            case 18: lengths += try [Int](repeating: 0, count: 11 + input.read(7))
            default: lengths.append(symbol)
            }
        }
        guard lengths.count == literalCount + distanceCount else { throw Failure(reason: "too many lengths") }
        return (
            HuffmanCode(lengths: Array(lengths.prefix(literalCount))),
            HuffmanCode(lengths: Array(lengths.dropFirst(literalCount)))
        )
    }
}

/// A canonical Huffman code (section 3.2.2): the codes of one length count upwards, in the order of their symbols.
struct HuffmanCode {
    /// The symbols, those with the shortest codes first.
    private let symbols: [Int]
    /// For each length from 1: the first code, how many codes there are, and where their symbols begin.
    private let rows: [(first: Int, count: Int, start: Int)]

    /// - Parameter lengths: The length of the code of each symbol, at most 15; 0 for a symbol without a code.
    init(lengths: [Int]) {
        let coded = lengths.indices.filter { lengths[$0] > 0 }
        symbols = coded.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
        var (first, start) = (0, 0)
        rows = (1...15).map { length in
            let count = coded.count { lengths[$0] == length }
            defer { (first, start) = ((first + count) * 2, start + count) }
            return (first, count, start)
        }
    }

    func read(from input: inout BitReader) throws(Inflate.Failure) -> Int {
        var code = 0
        for row in rows {
            code = try code * 2 + input.read(1)
            let place = code - row.first
            if place >= 0, place < row.count { return symbols[row.start + place] }
        }
        throw Inflate.Failure(reason: "bits that are no code")
    }
}

/// Reads bits in the order of deflate: from the lowest bit of each byte.
struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count * 8 }

    mutating func skipToByte() { position = (position + 7) / 8 * 8 }

    /// Reads a number, the lowest bit first.
    mutating func read(_ count: Int) throws(Inflate.Failure) -> Int {
        guard position + count <= bytes.count * 8 else { throw Inflate.Failure(reason: "bytes that end too early") }
        var number = 0
        for bit in 0..<count {
            number |= Int(bytes[position >> 3] >> UInt8(position & 7) & 1) << bit
            position += 1
        }
        return number
    }
}
