#if Brotli
    import CAFBrotli

    /// br (RFC 7932).
    final class BrotliEncoding: EncodingCodec {
        private let state: OpaquePointer

        init() throws(ContentFailure) {
            guard let state = caf_brotli_make_encoder() else { throw .noMemory(.brotli) }
            self.state = state
        }

        deinit {
            BrotliEncoderDestroyInstance(state)
        }

        func run(
            _ content: UnsafeRawBufferPointer,
            before next: ContentEncoder.Next,
            into output: UnsafeMutableRawBufferPointer
        ) throws(ContentFailure) -> CodecStep {
            let operation =
                switch next {
                case .more: BROTLI_OPERATION_PROCESS
                case .pause: BROTLI_OPERATION_FLUSH
                case .end: BROTLI_OPERATION_FINISH
                }
            let step = caf_brotli_encode(
                state,
                operation,
                content.baseAddress,
                content.count,
                output.baseAddress,
                output.count
            )
            guard step.status != 0 else { throw .noMemory(.brotli) }
            let hasMore = BrotliEncoderHasMoreOutput(state) != 0
            let hasEnded =
                next == .end ? BrotliEncoderIsFinished(state) != 0 : step.consumed == content.count && !hasMore
            return CodecStep(consumed: step.consumed, produced: step.produced, hasEnded: hasEnded)
        }
    }
#endif
