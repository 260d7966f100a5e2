/// Bits in the order of deflate: from the lowest of each byte.
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    /// How many bits of a byte have begun.
    private(set) var pendingCount = 0

    /// Numbers go lowest bit first.
    mutating func write(_ value: Int, bits count: Int) {
        pending |= UInt64(value) << UInt64(pendingCount)
        pendingCount += count
        while pendingCount >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            pendingCount -= 8
        }
    }

    /// Codes go highest bit first.
    mutating func writeCode(_ code: Int, bits count: Int) {
        for bit in (0..<count).reversed() { write(code >> bit & 1, bits: 1) }
    }

    mutating func fillByte() {
        if pendingCount > 0 { write(0, bits: 8 - pendingCount) }
    }
}
