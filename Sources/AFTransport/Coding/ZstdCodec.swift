#if Zstd
    import AFWire
    import CAFZstd
    import Glibc

    /// zstd (RFC 8878), with a window of at most 8 MiB (RFC 9659).
    final class ZstdCodec: ContentCodec {
        private let context: OpaquePointer

        init() throws(ContentFailure) {
            guard let context = caf_zstd_make() else { throw .noMemory(.zstd) }
            self.context = context
        }

        deinit {
            ZSTD_freeDCtx(context)
        }

        func run(
            _ input: UnsafeRawBufferPointer,
            into output: UnsafeMutableRawBufferPointer
        ) throws(ContentFailure) -> CodecStep {
            let step = caf_zstd_decode(context, input.baseAddress, input.count, output.baseAddress, output.count)
            guard ZSTD_isError(step.hint) == 0 else { throw .damaged(.zstd, ZstdCodec.words(step.hint)) }
            return CodecStep(consumed: step.consumed, produced: step.produced, hasEnded: step.hint == 0)
        }

        private static func words(_ code: Int) -> String {
            guard let text = ZSTD_getErrorName(code) else { return "inconsistent data" }
            return String(decoding: UnsafeRawBufferPointer(start: text, count: strlen(text)), as: UTF8.self)
        }

        /// RFC 8878 §3.1: frames follow each other.
        func restart() -> Bool { true }
    }
#endif
