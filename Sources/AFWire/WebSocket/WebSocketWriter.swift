/// Writes the frames of a client.
package enum WebSocketWriter {
    /// The longest head, with its mask.
    private static let longestHead = 14

    /// Adds a frame, with its payload masked (RFC 6455 §5.1).
    ///
    /// - Parameter payload: At most 125 bytes in a control frame.
    package static func append(
        _ opcode: WebSocketOpcode,
        payload: UnsafeRawBufferPointer,
        isFinal: Bool = true,
        isCompressed: Bool = false,
        mask: WebSocketMask,
        to frames: inout [UInt8]
    ) {
        appendHead(opcode, count: payload.count, isFinal: isFinal, isCompressed: isCompressed, mask: mask, to: &frames)
        appendPayload(payload, mask: mask, to: &frames)
    }

    /// Adds the head of a frame with a payload of `count` bytes, which follow in any pieces.
    package static func appendHead(
        _ opcode: WebSocketOpcode,
        count: Int,
        isFinal: Bool = true,
        isCompressed: Bool = false,
        mask: WebSocketMask,
        to frames: inout [UInt8]
    ) {
        assert(!opcode.isControl || count <= 125 && isFinal && !isCompressed)
        frames.append(addingCapacity: longestHead + min(count, 1024)) { output in
            output.append(opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0))
            switch count {
            case ...125: output.append(0x80 | UInt8(count))
            case ...0xFFFF:
                output.append(0x80 | 126)
                withUnsafeBytes(of: UInt16(count).bigEndian) { output.append($0) }
            default:
                output.append(0x80 | 127)
                withUnsafeBytes(of: UInt64(count).bigEndian) { output.append($0) }
            }
            withUnsafeBytes(of: mask.key.littleEndian) { output.append($0) }
        }
    }

    /// Adds a piece of a payload.
    ///
    /// - Parameter offset: How many bytes of the payload stand before the piece.
    package static func appendPayload(
        _ piece: UnsafeRawBufferPointer,
        mask: WebSocketMask,
        at offset: Int = 0,
        to frames: inout [UInt8]
    ) {
        frames.append(addingCapacity: piece.count) { output in
            output.append(piece)
            output.withUnsafeMutableBufferPointer { buffer, used in
                let added = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<used])
                mask.apply(to: added, at: offset)
            }
        }
    }
}
