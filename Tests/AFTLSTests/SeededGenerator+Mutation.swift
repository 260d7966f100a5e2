extension SeededGenerator {
    /// The bytes with one defect: a byte changed, some missing, doubled or added, or the end cut off.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let at = Int.random(in: bytes.indices, using: &self)
        let end = min(bytes.count, at + Int.random(in: 1...16, using: &self))
        switch Int.random(in: 0..<6, using: &self) {
        case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 1: bytes[at] = UInt8.random(in: .min ... .max, using: &self)
        case 2: bytes.removeSubrange(at..<end)
        case 3: bytes.insert(contentsOf: bytes[at..<end], at: at)
        case 4: bytes.insert(UInt8.random(in: .min ... .max, using: &self), at: at)
        default: bytes.removeSubrange(at...)
        }
        return bytes
    }
}
