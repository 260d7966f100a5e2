import Glibc

/// Bytes on their way: real ones, or a number of equal ones that are never stored.
struct ByteQueue {
    private enum Chunk {
        case bytes(ArraySlice<UInt8>)
        case fill(UInt8, Int)

        var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .fill(_, let count): count
            }
        }

        func prefix(_ count: Int) -> Chunk {
            switch self {
            case .bytes(let bytes): .bytes(bytes.prefix(count))
            case .fill(let byte, _): .fill(byte, count)
            }
        }

        func dropFirst(_ dropped: Int) -> Chunk {
            switch self {
            case .bytes(let bytes): .bytes(bytes.dropFirst(dropped))
            case .fill(let byte, let count): .fill(byte, count - dropped)
            }
        }

        func copy(to buffer: UnsafeMutableRawBufferPointer) {
            switch self {
            case .bytes(let bytes): buffer.copyBytes(from: bytes)
            case .fill(let byte, _):
                // In debug builds a loop in Swift would take seconds for what tests send.
                if let base = buffer.baseAddress { memset(base, Int32(byte), buffer.count) }
            }
        }
    }

    private var chunks: [Chunk] = []
    private var first = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: some Collection<UInt8>) {
        append(.bytes(ArraySlice(bytes)))
    }

    mutating func append(_ byte: UInt8, count: Int) {
        append(.fill(byte, count))
    }

    mutating func append(_ other: ByteQueue) {
        for chunk in other.chunks[other.first...] { append(chunk) }
    }

    mutating func take(_ wanted: Int) -> ByteQueue {
        var taken = ByteQueue()
        while taken.count < wanted, let chunk = popFirst(atMost: wanted - taken.count) { taken.append(chunk) }
        return taken
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < buffer.count, let chunk = popFirst(atMost: buffer.count - filled) {
            chunk.copy(to: UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + chunk.count]))
            filled += chunk.count
        }
        return filled
    }

    mutating func removeAll() {
        self = ByteQueue()
    }

    private mutating func append(_ chunk: Chunk) {
        guard chunk.count > 0 else { return }
        chunks.append(chunk)
        count += chunk.count
    }

    private mutating func popFirst(atMost limit: Int) -> Chunk? {
        guard first < chunks.count else { return nil }
        let chunk = chunks[first]
        guard chunk.count > limit else {
            first += 1
            count -= chunk.count
            if first == chunks.count {
                chunks.removeAll(keepingCapacity: true)
                first = 0
            }
            return chunk
        }
        chunks[first] = chunk.dropFirst(limit)
        count -= limit
        return chunk.prefix(limit)
    }
}
