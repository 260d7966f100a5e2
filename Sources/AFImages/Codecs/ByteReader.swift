/// Reads numbers and words of a file, from front to back and never beyond its end.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    /// The bytes must live as long as the reader.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var remaining: Int { bytes.count - position }

    mutating func byte() -> UInt8? {
        guard remaining > 0 else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func big16() -> Int? { number(of: 2, isBigEndian: true) }
    mutating func little16() -> Int? { number(of: 2, isBigEndian: false) }
    mutating func little24() -> Int? { number(of: 3, isBigEndian: false) }
    mutating func big32() -> Int? { number(of: 4, isBigEndian: true) }
    mutating func little32() -> Int? { number(of: 4, isBigEndian: false) }

    private mutating func number(of count: Int, isBigEndian: Bool) -> Int? {
        guard remaining >= count else { return nil }
        defer { position += count }
        let digits = bytes[position..<(position + count)]
        return isBigEndian ? digits.reduce(0) { $0 << 8 | Int($1) } : digits.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Whether these bytes come next. If so, skips them.
    mutating func take(_ word: StaticString) -> Bool {
        guard remaining >= word.utf8CodeUnitCount else { return false }
        let matches = word.withUTF8Buffer { $0.elementsEqual(bytes[position..<(position + $0.count)]) }
        if matches { position += word.utf8CodeUnitCount }
        return matches
    }

    /// Skips so many bytes.
    ///
    /// - Returns: Whether there are as many.
    mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, remaining >= count else { return false }
        position += count
        return true
    }

    /// A reader of the next bytes. Skips them.
    mutating func part(_ count: Int) -> ByteReader? {
        let start = position
        guard skip(count) else { return nil }
        return ByteReader(UnsafeRawBufferPointer(rebasing: bytes[start..<position]))
    }
}
