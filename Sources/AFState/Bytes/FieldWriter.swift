/// Writes fields into bytes, each behind its length, so that two lists of fields give equal bytes only if the lists are
/// equal. Numbers are little-endian.
struct FieldWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    mutating func add(_ field: some Collection<UInt8>) {
        add(number: UInt32(clamping: field.count))
        bytes.append(contentsOf: field)
    }

    /// Without a length before them.
    mutating func add(raw bytes: [UInt8]) {
        self.bytes += bytes
    }

    mutating func add<Number: FixedWidthInteger>(number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
