/// Cuts a body into chunks of given sizes, the last size repeating.
struct ChunkCutter {
    private let sizes: [Int]
    private var index = 0
    private var carried: [UInt8] = []

    init(sizes: [Int]) {
        self.sizes = sizes.map { max($0, 1) }
    }

    /// The chunks that are full once these bytes are added.
    mutating func add(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        // Without sizes, a chunk is whatever comes: nothing is held back.
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

    /// What is left, as a smaller last chunk.
    mutating func end() -> [[UInt8]] {
        defer { carried = [] }
        return carried.isEmpty ? [] : [carried]
    }
}
