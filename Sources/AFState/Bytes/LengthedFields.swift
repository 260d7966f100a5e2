/// Reads the bytes of ``FieldWriter``. The bytes may be anything: a missing field is nil, and the reader checks
/// each length before it takes the bytes.
package struct FieldReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    package var isAtEnd: Bool { position == bytes.endIndex }

    package mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= bytes.endIndex - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    package mutating func field() -> [UInt8]? {
        guard let count = number(UInt32.self), let field = take(Int(count)) else { return nil }
        return Array(field)
    }

    package mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        guard let part = take(Number.bitWidth / 8) else { return nil }
        return part.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }
}
