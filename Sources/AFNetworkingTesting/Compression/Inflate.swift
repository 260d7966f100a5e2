import CAFZlib

/// Decompresses raw deflate data (RFC 1951) with zlib.
enum Inflate {
    /// Why bytes cannot be decompressed.
    struct Failure: Error, Equatable {
        let reason: String
    }

    /// What zlib says at the end of a block, if no bit of the last byte is left.
    private static let endOfBlock: CInt = 128

    /// Decompresses blocks up to the end of the input, the final one or not.
    ///
    /// - Parameters:
    ///   - bytes: Whole blocks.
    ///   - history: What was decompressed before.
    ///   - windowBits: How far back a match may reach, as a power of two.
    ///   - limit: How many bytes there may be.
    static func decompressed(
        _ bytes: [UInt8],
        after history: [UInt8] = [],
        windowBits: Int = 15,
        limit: Int = .max
    ) throws(Failure) -> [UInt8] {
        guard let stream = caf_inflate_make(-Int32(windowBits)) else { throw Failure(reason: "no memory") }
        defer { caf_inflate_free(stream) }
        let window = Array(history.suffix(1 << windowBits))
        inflateSetDictionary(stream, window, UInt32(window.count))
        // zlib checks no distance within what one step makes: where the window is small, a step makes one byte.
        var page = [UInt8](repeating: 0, count: windowBits == 15 ? 1 << 16 : 1)
        var (output, start, isBetweenBlocks) = ([UInt8](), 0, true)
        while true {
            let step = bytes[start...].withUnsafeBytes { input in
                page.withUnsafeMutableBytes { page in
                    caf_inflate(stream, input.baseAddress, input.count, page.baseAddress, page.count)
                }
            }
            start += step.consumed
            output += page[..<step.produced]
            guard output.count <= limit else { throw Failure(reason: "too many bytes") }
            switch step.status {
            case Z_OK, Z_BUF_ERROR: break
            // More blocks may follow a final one, in the next byte: RFC 7692 section 7.2.3.4. The window stays.
            case Z_STREAM_END: inflateResetKeep(stream)
            default: throw Failure(reason: stream.pointee.msg.map { String(cString: $0) } ?? "inconsistent data")
            }
            // zlib says so of a step that did something, and not again.
            if step.consumed > 0 || step.produced > 0 {
                isBetweenBlocks = step.status == Z_STREAM_END || stream.pointee.data_type == endOfBlock
            }
            // A full page may have hidden more.
            if start == bytes.count, step.produced < page.count { break }
            if step.consumed == 0, step.produced == 0 { break }
        }
        guard isBetweenBlocks, start == bytes.count else { throw Failure(reason: "bytes that end too early") }
        return output
    }
}
