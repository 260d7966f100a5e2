import AFWire
import CAFZlib

/// gzip (RFC 1952), and deflate in the format of zlib (RFC 1950), as RFC 9110 §8.4.1.2 has it.
final class DeflateCodec: EncodingCodec {
    private let coding: ContentCoding
    private let stream: UnsafeMutablePointer<z_stream>

    init(_ coding: ContentCoding) throws(ContentFailure) {
        let format = coding == .gzip ? CAF_FORMAT_GZIP : CAF_FORMAT_ZLIB
        guard let stream = caf_deflate_make(Int32(format.rawValue)) else { throw .noMemory(coding) }
        self.coding = coding
        self.stream = stream
    }

    deinit {
        caf_deflate_free(stream)
    }

    func run(
        _ content: UnsafeRawBufferPointer,
        before next: ContentEncoder.Next,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentFailure) -> CodecStep {
        let flush =
            switch next {
            case .more: Z_NO_FLUSH
            case .pause: Z_SYNC_FLUSH
            case .end: Z_FINISH
            }
        let step = caf_deflate(stream, content.baseAddress, content.count, output.baseAddress, output.count, flush)
        switch step.status {
        case Z_STREAM_END: return CodecStep(consumed: step.consumed, produced: step.produced, hasEnded: true)
        // Where there is room left, there is nothing more to make.
        case Z_OK, Z_BUF_ERROR:
            let hasEnded = next != .end && step.consumed == content.count && step.produced < output.count
            return CodecStep(consumed: step.consumed, produced: step.produced, hasEnded: hasEnded)
        default: throw .noMemory(coding)
        }
    }
}
