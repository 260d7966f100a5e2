/// Writes what stands around the content of a chunked body (RFC 9112 §7.1).
///
/// A chunk is its header, as many bytes as announced, and ``chunkEnd``. The content
/// itself is not copied here, so that it can leave in the same `writev`.
package enum ChunkWriter {
    /// What follows the content of every chunk.
    package static let chunkEnd: [UInt8] = [0x0D, 0x0A]

    /// Appends the line before `count` bytes of content.
    ///
    /// A chunk of no bytes would end the body, so for `count` 0 nothing is appended, and no chunk end may be either.
    package static func appendHeader(for count: Int, to buffer: inout [UInt8]) {
        guard count > 0 else { return }
        let digits = (Int.bitWidth - count.leadingZeroBitCount + 3) / 4
        for place in stride(from: (digits - 1) * 4, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: count >> place) & 15
            buffer.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
        }
        buffer.append(contentsOf: chunkEnd)
    }

    /// Appends the last chunk, the trailer fields, and the empty line behind them.
    package static func appendEnd(trailers: HTTPHeaders? = nil, to buffer: inout [UInt8]) {
        buffer.append(0x30)
        buffer.append(contentsOf: chunkEnd)
        trailers?.withBytes { buffer.append(contentsOf: $0) }
        buffer.append(contentsOf: chunkEnd)
    }
}
