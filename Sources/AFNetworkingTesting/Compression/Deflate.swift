import CAFZlib

/// A compressor of zlib's (RFC 1951): later bytes may refer to earlier ones.
final class Deflate {
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameters:
    ///   - windowBits: How far back a match may reach, and what stands around the bytes, as zlib has it: 9 to 15, plus 16
    ///     for gzip, or negative for nothing around them.
    ///   - level: 0 for stored blocks, up to 9.
    ///   - strategy: One of zlib's, such as `Z_HUFFMAN_ONLY` for no matches.
    init(windowBits: Int32, level: Int32 = Z_DEFAULT_COMPRESSION, strategy: Int32 = Z_DEFAULT_STRATEGY) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let size = Int32(MemoryLayout<z_stream>.size)
        let result = deflateInit2_(stream, level, Z_DEFLATED, windowBits, 9, strategy, ZLIB_VERSION, size)
        precondition(result == Z_OK, "zlib has no memory, or no window of \(windowBits) bits")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses the next bytes up to a flush, `Z_FINISH` for the last ones.
    func compress(_ bytes: [UInt8], flush: Int32) -> [UInt8] {
        // Room for all of it: zlib then makes stored blocks as long as they may be.
        var output = [UInt8](repeating: 0, count: Int(deflateBound(stream, UInt(bytes.count))) + 16)
        let step = bytes.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { output in
                caf_deflate(stream, input.baseAddress, input.count, output.baseAddress, output.count, flush)
            }
        }
        output.removeLast(output.count - step.produced)
        return output
    }
}
