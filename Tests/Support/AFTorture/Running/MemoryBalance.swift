import Foundation

/// Blocks of memory that the libraries below hold.
///
/// One that is held at the end of a playing need not be lost: OpenSSL keeps some for its next use, and some for each
/// thread. What is lost is lost each time.
struct MemoryBalance {
    private let sources: [any FaultSource]
    private var held: Int

    init(_ sources: [any FaultSource]) {
        self.sources = sources
        held = Self.blocks(of: sources)
    }

    /// How many more are held than when it was asked last. Waits for those that others give back in their own time.
    mutating func growth() async -> Int {
        let (sources, before) = (sources, held)
        _ = await Patience.until({ Self.blocks(of: sources) <= before }, seconds: 1)
        held = Self.blocks(of: sources)
        return held - before
    }

    private static func blocks(of sources: [any FaultSource]) -> Int { sources.reduce(0) { $0 + $1.heldBlocks } }
}
