/// Cuts a body into chunks of the given sizes; the last size repeats.
struct ChunkCutter {
    private let sizes: [Int]
    private var index = 0
    private var carried: [UInt8] = []

    init(sizes: [Int]) {
        self.sizes = sizes.map { max($0, 1) }
    }

    /// Adds bytes and returns the chunks that are full now.
    mutating func add(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        // Without sizes, each piece is a chunk.
        guard let last = sizes.last else { return [Array(bytes)] }
        carried.append(contentsOf: bytes)
        var chunks: [[UInt8]] = []
        var start = 0
        while true {
            let size = index < sizes.count ? sizes[index] : last
            guard carried.count - start >= size else { break }
            chunks.append(Array(carried[start..<start + size]))
            start += size
            index += 1
        }
        carried.removeFirst(start)
        return chunks
    }

    /// The rest, as a smaller last chunk.
    mutating func end() -> [[UInt8]] {
        defer { carried = [] }
        return carried.isEmpty ? [] : [carried]
    }
}
