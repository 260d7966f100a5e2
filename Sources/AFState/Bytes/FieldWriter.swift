/// Writes fields into bytes, each behind its length, so that two lists of fields give equal bytes only if the lists are
/// equal. Numbers are little-endian.
package struct FieldWriter {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    package mutating func add(_ field: some Collection<UInt8>) {
        add(number: UInt32(clamping: field.count))
        bytes.append(contentsOf: field)
    }

    /// Without a length before them.
    package mutating func add(raw bytes: [UInt8]) {
        self.bytes += bytes
    }

    package mutating func add<Number: FixedWidthInteger>(number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
