import AFWire

/// Undoes one coding, whichever it is. Knows where its streams end, and what may follow them.
final class CodingStage {
    private enum Place {
        /// Nothing has come yet, and perhaps nothing will: an empty body has no coding.
        case fresh
        case inStream
        /// A stream is complete. Another may follow.
        case between
        /// After the last stream there are zeros, with which some writers fill their last block.
        case padding
    }

    let coding: ContentCoding
    private let codec: any ContentCodec
    private var place = Place.fresh

    init(_ coding: ContentCoding) throws(ContentFailure) {
        self.coding = coding
        switch coding {
        case .gzip, .deflate: codec = InflateCodec(coding)
        #if Brotli
            case .brotli: codec = try BrotliCodec()
        #endif
        #if Zstd
            case .zstd: codec = try ZstdCodec()
        #endif
        }
    }

    /// Whether the body may end here.
    var mayEnd: Bool { place != .inStream }

    /// Takes some of the input, makes some of the output, or both. Does neither only if there is no input and the codec
    /// holds nothing back.
    func step(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentFailure) -> (consumed: Int, produced: Int) {
        switch place {
        case .padding: return (try zeros(input), 0)
        case .fresh, .between: guard try begin(input) else { return (0, 0) }
        case .inStream: break
        }
        if place == .padding { return (try zeros(input), 0) }
        let step = try codec.run(input, into: output)
        if step.hasEnded { place = .between }
        // A library that takes nothing and makes nothing would keep the decoder's loop running for ever.
        guard step.consumed + step.produced > 0 || input.isEmpty || step.hasEnded else {
            throw .damaged(coding, "no way on")
        }
        return (step.consumed, step.produced)
    }

    /// False if there is no input to begin a stream with.
    private func begin(_ input: UnsafeRawBufferPointer) throws(ContentFailure) -> Bool {
        guard let first = input.first else { return false }
        guard place == .between else {
            place = .inStream
            return true
        }
        if first == 0 {
            place = .padding
        } else {
            guard codec.restart() else { throw .damaged(coding, "bytes follow its end") }
            place = .inStream
        }
        return true
    }

    private func zeros(_ input: UnsafeRawBufferPointer) throws(ContentFailure) -> Int {
        guard input.allSatisfy({ $0 == 0 }) else { throw .damaged(coding, "bytes follow its end") }
        return input.count
    }
}
