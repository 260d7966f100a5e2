import Foundation

/// Reads a form from its beginning to its end, in pieces of any size.
struct MultipartReader {
    private enum Phase {
        /// The boundary and the head of a part, from an offset on.
        case opening(part: Int, bytes: [UInt8], offset: Int)
        /// The body of a part is yet to be opened.
        case entering(part: Int)
        case body(part: Int, MultipartPartReader)
        case closing(bytes: [UInt8], offset: Int)
        case end
    }

    private let layout: MultipartLayout
    private var phase: Phase

    init(_ layout: MultipartLayout) {
        self.layout = layout
        phase = .end
        phase = opening(of: 0)
    }

    /// Reads some bytes, if there is room. Nil at the end; 0 only means that the next section begins.
    mutating func read(into room: UnsafeMutableBufferPointer<UInt8>) throws(NSError) -> Int? {
        switch phase {
        case .opening(let part, let bytes, var offset):
            let count = MultipartReader.copy(bytes, from: &offset, into: room)
            let isComplete = offset == bytes.count
            phase = isComplete ? .entering(part: part) : .opening(part: part, bytes: bytes, offset: offset)
            return count
        case .entering(let part):
            phase = .end
            phase = .body(part: part, try MultipartPartReader(opening: layout.parts[part]))
            return 0
        case .body(let part, var reader):
            // The phase keeps no second reference while it reads.
            phase = .end
            do throws(NSError) {
                let count = try reader.read(into: room)
                if count == 0 { reader.close() }
                phase = count > 0 ? .body(part: part, reader) : opening(of: part + 1)
                return count
            } catch {
                reader.close()
                throw error
            }
        case .closing(let bytes, var offset):
            let count = MultipartReader.copy(bytes, from: &offset, into: room)
            phase = offset < bytes.count ? .closing(bytes: bytes, offset: offset) : .end
            return count
        case .end: return nil
        }
    }

    /// Closes the files and streams of a form that is read no further.
    mutating func close() {
        if case .body(_, let reader) = phase { reader.close() }
        phase = .end
    }

    private func opening(of part: Int) -> Phase {
        guard layout.parts.indices.contains(part) else { return .closing(bytes: layout.closing, offset: 0) }
        return .opening(part: part, bytes: layout.opening(of: part), offset: 0)
    }

    private static func copy(
        _ bytes: [UInt8],
        from offset: inout Int,
        into room: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let count = min(room.count, bytes.count - offset)
        _ = UnsafeMutableBufferPointer(rebasing: room.prefix(count)).update(from: bytes[offset..<offset + count])
        offset += count
        return count
    }
}
