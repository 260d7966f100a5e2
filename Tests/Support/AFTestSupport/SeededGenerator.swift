/// SplitMix64: small, fast in debug builds, and the same everywhere.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A generator of its own for one part of the world, so that what other parts
    /// draw, and in which order, does not matter to it.
    package func fork(_ number: Int) -> SeededGenerator {
        var parent = SeededGenerator(seed: state ^ UInt64(truncatingIfNeeded: number) &* 0xd6e8_feb8_6659_fd93)
        return SeededGenerator(seed: parent.next())
    }

    /// True in `percent` of a hundred cases.
    package mutating func chance(_ percent: Int) -> Bool {
        percent > 0 && Int(next() % 100) < percent
    }

    package mutating func pick(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    package mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int(next() % UInt64(choices.count))]
    }
}
