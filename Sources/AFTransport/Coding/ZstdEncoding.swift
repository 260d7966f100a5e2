#if Zstd
    import CAFZstd

    /// zstd (RFC 8878). Its window at the usual level is 2 MiB, and RFC 9659 allows 8.
    final class ZstdEncoding: EncodingCodec {
        private let context: OpaquePointer

        init() throws(ContentFailure) {
            guard let context = caf_zstd_make_encoder() else { throw .noMemory(.zstd) }
            self.context = context
        }

        deinit {
            ZSTD_freeCCtx(context)
        }

        func run(
            _ content: UnsafeRawBufferPointer,
            before next: ContentEncoder.Next,
            into output: UnsafeMutableRawBufferPointer
        ) throws(ContentFailure) -> CodecStep {
            let directive =
                switch next {
                case .more: ZSTD_e_continue
                case .pause: ZSTD_e_flush
                case .end: ZSTD_e_end
                }
            let step = caf_zstd_encode(
                context,
                directive,
                content.baseAddress,
                content.count,
                output.baseAddress,
                output.count
            )
            guard ZSTD_isError(step.hint) == 0 else { throw .noMemory(.zstd) }
            let hasEnded = step.consumed == content.count && (next == .more || step.hint == 0)
            return CodecStep(consumed: step.consumed, produced: step.produced, hasEnded: hasEnded)
        }
    }
#endif
