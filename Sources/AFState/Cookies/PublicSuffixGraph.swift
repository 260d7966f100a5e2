import AFWire

/// The public suffix list as a deterministic acyclic graph, the format that libpsl installs. With any bytes, looking up
/// a name ends and never reads beyond them.
struct PublicSuffixGraph: Sendable {
    private static let magic = Array(".DAFSA@PSL_0".utf8)
    private static let headerLength = 16

    private let bytes: [UInt8]

    /// Nil if the file has another format.
    init?(_ file: [UInt8]) {
        guard file.count > PublicSuffixGraph.headerLength, file.starts(with: PublicSuffixGraph.magic) else {
            return nil
        }
        bytes = Array(file[PublicSuffixGraph.headerLength...])
    }

    func rule(for name: UnsafeRawBufferPointer) -> PublicSuffixRule? {
        value(of: name).map { value in
            var rule: PublicSuffixRule = [.plain]
            if value & 1 != 0 { rule = [.exception] }
            if value & 2 != 0 { rule.insert(.wildcard) }
            return rule
        }
    }

    /// Each node is a run of characters, the last of which is marked. Behind it are the offsets of its successors, each
    /// relative to the one before. A node that ends a name holds its value instead.
    private func value(of name: UnsafeRawBufferPointer) -> UInt8? {
        var links = Links(at: 0)
        var position = 0
        while var place = links.next(in: bytes) {
            let start = position
            while position < name.count, let byte = byte(at: place), byte & 0x80 == 0, byte == name[position] {
                place += 1
                position += 1
            }
            let hasMoved = position > start
            guard let byte = byte(at: place) else { return nil }
            if position == name.count, byte & 0xE0 == 0x80 { return byte & 0x0F }
            if position < name.count, byte & 0x80 != 0, byte == name[position] | 0x80 {
                position += 1
                links = Links(at: place + 1)
                continue
            }
            // Only one successor begins with a given character.
            if hasMoved { return nil }
        }
        return nil
    }

    private func byte(at place: Int) -> UInt8? { place < bytes.count ? bytes[place] : nil }

    /// The offsets of the nodes that may follow.
    private struct Links {
        private var position: Int?
        private var place: Int

        init(at position: Int) {
            self.position = position
            place = position
        }

        /// The next offset: one to three bytes. The last one is marked.
        mutating func next(in bytes: [UInt8]) -> Int? {
            guard let position, position < bytes.count else { return nil }
            let first = bytes[position]
            let length = first & 0x60 == 0x60 ? 3 : first & 0x60 == 0x40 ? 2 : 1
            guard position + length <= bytes.count else { return nil }
            var distance = Int(first & (length == 1 ? 0x3F : 0x1F))
            for offset in 1..<max(length, 1) { distance = distance << 8 | Int(bytes[position + offset]) }
            place += distance
            self.position = first & 0x80 != 0 ? nil : position + length
            return place
        }
    }
}
