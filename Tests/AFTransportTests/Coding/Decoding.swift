import AFWire
import Foundation

@testable import AFTransport

/// Drives a decoder as a task does, with pieces of any size on both sides.
struct Decoding {
    var codings: [ContentCoding]
    var limits = ContentDecoder.Limits(ratio: 250)
    /// What the decoder made, however it ended.
    private(set) var output = Data()
    private(set) var failure: ContentFailure?
    private(set) var longestPiece = 0
    private(set) var steps = 0

    init(_ codings: [ContentCoding]) {
        self.codings = codings
    }

    static func all(_ input: Data, _ codings: [ContentCoding], pieces: [Int] = [], room: Int = 65_536) -> Decoding {
        var decoding = Decoding(codings)
        decoding.run(input, pieces: pieces, room: room)
        return decoding
    }

    /// - Parameters:
    ///   - pieces: Sizes in which the input comes, the last one for the rest; none is all at once.
    ///   - room: How much the decoder may make at a time.
    mutating func run(_ input: Data, pieces: [Int] = [], room: Int = 65_536) {
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 64)
        defer { page.deallocate() }
        do {
            let decoder = try ContentDecoder(codings: codings, limits: limits)
            var offset = 0
            var sizes = pieces[...]
            while offset < input.count {
                let size = sizes.popFirst() ?? pieces.last ?? input.count
                let piece = Array(input.dropFirst(offset).prefix(max(size, 1)))
                offset += piece.count
                try feed(piece, to: decoder, page)
            }
            if !input.isEmpty { try decoder.finish() }
        } catch {
            failure = error as? ContentFailure
        }
    }

    private mutating func feed(
        _ piece: [UInt8],
        to decoder: ContentDecoder,
        _ page: UnsafeMutableRawBufferPointer
    ) throws {
        try piece.withUnsafeBytes { bytes in
            var rest = bytes
            while true {
                var work = 1 << 20
                steps += 1
                switch try decoder.step(&rest, into: page, work: &work) {
                case .piece(let count):
                    output.append(contentsOf: page[..<count])
                    longestPiece = max(longestPiece, count)
                case .hungry: return
                case .tired: continue
                }
            }
        }
    }
}
