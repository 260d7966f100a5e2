import Testing

/// How the bytes of one message reach a parser: in which pieces.
///
/// A parser must come to the same result in every delivery.
struct Delivery: Sendable, CustomStringConvertible {
    let description: String
    /// Offsets at which one piece ends and the next begins, ascending.
    let cuts: [Int]

    /// The four deliveries: whole; byte by byte; split in two at every offset (for
    /// inputs under 4 KiB); and at random places.
    static func all(of count: Int) -> [Delivery] {
        let whole = Delivery(description: "in one piece", cuts: [])
        let bytes = Delivery(description: "byte by byte", cuts: count < 2 ? [] : Array(1..<count))
        return [whole, bytes] + splits(of: count) + randoms(of: count)
    }

    private static func splits(of count: Int) -> [Delivery] {
        guard (2..<4096).contains(count) else { return [] }
        return (1..<count).map { Delivery(description: "split at \($0)", cuts: [$0]) }
    }

    private static func randoms(of count: Int) -> [Delivery] {
        guard count >= 2 else { return [] }
        return (1...20).map { seed in
            var random = SeededGenerator(seed: UInt64(seed))
            let cuts = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                Int.random(in: 1..<count, using: &random)
            }
            return Delivery(description: "random with seed \(seed)", cuts: Set(cuts).sorted())
        }
    }

    /// The pieces of `bytes`, each an array of its own so that reading past its end
    /// is an error a sanitizer sees.
    func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        zip([0] + cuts, cuts + [bytes.count]).map { Array(bytes[$0..<$1]) }
    }
}

/// A reproducible source of randomness (xorshift64*).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
