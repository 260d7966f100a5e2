import AFWire
import CAFZlib
import Glibc

/// Unpacks the messages of a server (RFC 7692 §7.2.2). Confined to the loop.
final class MessageInflater {
    /// What the sender leaves out at the end of each message.
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
    /// What zlib says at the end of a block, if no bit of the last byte is left.
    private static let endOfBlock: CInt = 128

    private let windowBits: Int
    private let resetsContext: Bool
    private var stream: UnsafeMutablePointer<z_stream>?
    private var isBetweenBlocks = true

    init(_ agreed: WebSocketCompression) {
        windowBits = agreed.serverWindowBits
        resetsContext = agreed.serverResetsContext
    }

    deinit {
        caf_inflate_free(stream)
    }

    /// Unpacks a piece of a message.
    ///
    /// - Parameters:
    ///   - page: Where it is unpacked, piece by piece.
    ///   - take: Gets what was unpacked. It throws to stop.
    func inflate(
        _ piece: UnsafeRawBufferPointer,
        page: UnsafeMutableRawBufferPointer,
        take: (UnsafeRawBufferPointer) throws(WebSocketFailure) -> Void
    ) throws(WebSocketFailure) {
        let stream = try made()
        var rest = piece
        while true {
            let step = caf_inflate(stream, rest.baseAddress, rest.count, page.baseAddress, page.count)
            rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
            if step.produced > 0 { try take(UnsafeRawBufferPointer(rebasing: page[..<step.produced])) }
            switch step.status {
            case Z_OK, Z_BUF_ERROR: break
            // RFC 7692 §7.2.3.4: a message may have a last block, and others behind it. The window stays.
            case Z_STREAM_END: if inflateResetKeep(stream) != Z_OK { throw .damaged("no way on") }
            case Z_MEM_ERROR: throw .noMemory
            default: throw .damaged(InflateCodec.words(stream.pointee.msg))
            }
            // zlib says so of a step that did something, and not again.
            if step.consumed > 0 || step.produced > 0 {
                isBetweenBlocks = step.status == Z_STREAM_END || stream.pointee.data_type == Self.endOfBlock
            }
            // A full page may have hidden more.
            if rest.isEmpty, step.produced < page.count { return }
            if step.consumed == 0, step.produced == 0, step.status != Z_STREAM_END { throw .damaged("no way on") }
        }
    }

    /// Unpacks what the end of a message adds. A message that ends within a block is not all that the server has packed.
    ///
    /// A server that leaves the tail in, or ends its last block as if no other followed, has sent all of it.
    func endMessage(
        page: UnsafeMutableRawBufferPointer,
        take: (UnsafeRawBufferPointer) throws(WebSocketFailure) -> Void
    ) throws(WebSocketFailure) {
        if !isBetweenBlocks {
            let tail = Self.tail
            let result = tail.withUnsafeBytes { tail in
                Result { () throws(WebSocketFailure) in try inflate(tail, page: page, take: take) }
            }
            try result.get()
            guard isBetweenBlocks else { throw .damaged("it ends within a block") }
        }
        if resetsContext, inflateReset(stream) != Z_OK {
            caf_inflate_free(stream)
            stream = nil
        }
    }

    private func made() throws(WebSocketFailure) -> UnsafeMutablePointer<z_stream> {
        if let stream { return stream }
        guard let made = caf_inflate_make(-Int32(windowBits)) else { throw .noMemory }
        stream = made
        return made
    }
}
