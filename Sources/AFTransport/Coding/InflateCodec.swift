import AFWire
import CAFZlib
import Glibc

/// gzip (RFC 1952) and deflate, which is meant to be zlib (RFC 1950), and from some servers is deflate without anything
/// around it (RFC 1951). Browsers take both, so there is no way to refuse one.
final class InflateCodec: ContentCodec {
    private let coding: ContentCoding
    private var stream: UnsafeMutablePointer<z_stream>?
    /// Two bytes tell zlib from plain deflate. This is the first, while the second has not come.
    private var held: UInt8?

    init(_ coding: ContentCoding) {
        self.coding = coding
    }

    deinit {
        caf_inflate_free(stream)
    }

    func run(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentFailure) -> CodecStep {
        if let stream { return try inflate(stream, input: input, output: output) }
        if coding == .gzip { return try inflate(try make(CAF_FORMAT_GZIP), input: input, output: output) }
        guard let first = held ?? input.first, let second = held == nil ? input.dropFirst().first : input.first else {
            held = held ?? input.first
            return CodecStep(consumed: input.count, produced: 0)
        }
        let stream = try make(InflateCodec.isZlib(first, second: second) ? CAF_FORMAT_ZLIB : CAF_FORMAT_RAW)
        if held != nil {
            // One byte of deflate makes no output: the shortest code of a literal and the bits before it are longer.
            _ = try withUnsafeBytes(of: first) { first throws(ContentFailure) in
                try inflate(stream, input: first, output: output)
            }
        }
        return try inflate(stream, input: input, output: output)
    }

    /// RFC 1950 §2.2: the method is deflate, the window at most 32 KiB, and both bytes together are a multiple of 31.
    private static func isZlib(_ first: UInt8, second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (Int(first) << 8 | Int(second)).isMultiple(of: 31)
    }

    private func make(_ format: caf_zlib_format) throws(ContentFailure) -> UnsafeMutablePointer<z_stream> {
        guard let made = caf_inflate_make(Int32(format.rawValue)) else { throw .noMemory(coding) }
        stream = made
        return made
    }

    private func inflate(
        _ stream: UnsafeMutablePointer<z_stream>,
        input: UnsafeRawBufferPointer,
        output: UnsafeMutableRawBufferPointer
    ) throws(ContentFailure) -> CodecStep {
        let step = caf_inflate(stream, input.baseAddress, input.count, output.baseAddress, output.count)
        switch step.status {
        // Give out what came before the damage; the next step meets the error again.
        case Z_DATA_ERROR where step.produced > 0: return CodecStep(consumed: step.consumed, produced: step.produced)
        case Z_OK, Z_BUF_ERROR: return CodecStep(consumed: step.consumed, produced: step.produced)
        case Z_STREAM_END: return CodecStep(consumed: step.consumed, produced: step.produced, hasEnded: true)
        case Z_MEM_ERROR: throw .noMemory(coding)
        case Z_NEED_DICT: throw .damaged(coding, "it needs a dictionary")
        default: throw .damaged(coding, InflateCodec.words(stream.pointee.msg))
        }
    }

    /// zlib's own words, which are constants of it.
    static func words(_ message: UnsafeMutablePointer<CChar>?) -> String {
        guard let message else { return "inconsistent data" }
        return String(decoding: UnsafeRawBufferPointer(start: message, count: strlen(message)), as: UTF8.self)
    }

    /// RFC 1952 §2.2: members follow each other, with nothing in between.
    func restart() -> Bool {
        guard coding == .gzip, let stream else { return false }
        return inflateReset(stream) == Z_OK
    }
}
