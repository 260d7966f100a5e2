#if Brotli
    import AFWire
    import CAFBrotli
    import Glibc

    /// br (RFC 7932). The window is at most 16 MiB and grows with what was decoded.
    final class BrotliCodec: ContentCodec {
        private let state: OpaquePointer

        init() throws(ContentFailure) {
            guard let state = caf_brotli_make() else { throw .noMemory(.brotli) }
            self.state = state
        }

        deinit {
            BrotliDecoderDestroyInstance(state)
        }

        func run(
            _ input: UnsafeRawBufferPointer,
            into output: UnsafeMutableRawBufferPointer
        ) throws(ContentFailure) -> CodecStep {
            let step = caf_brotli_decode(state, input.baseAddress, input.count, output.baseAddress, output.count)
            guard step.status != BROTLI_DECODER_RESULT_ERROR else { throw .damaged(.brotli, words) }
            let hasEnded = step.status == BROTLI_DECODER_RESULT_SUCCESS
            return CodecStep(consumed: step.consumed, produced: step.produced, hasEnded: hasEnded)
        }

        private var words: String {
            guard let text = BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state)) else {
                return "inconsistent data"
            }
            return String(decoding: UnsafeRawBufferPointer(start: text, count: strlen(text)), as: UTF8.self)
        }

        func restart() -> Bool { false }
    }
#endif
