/// Writes the frames of a client.
package enum WebSocketWriter {
    /// Adds a frame, with its payload masked (RFC 6455 §5.1).
    ///
    /// - Parameter payload: At most 125 bytes in a control frame.
    package static func append(
        _ opcode: WebSocketOpcode,
        _ payload: UnsafeRawBufferPointer,
        isFinal: Bool = true,
        isCompressed: Bool = false,
        mask: WebSocketMask,
        to frames: inout [UInt8]
    ) {
        assert(!opcode.isControl || payload.count <= 125 && isFinal && !isCompressed)
        frames.append(opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0))
        switch payload.count {
        case ...125: frames.append(0x80 | UInt8(payload.count))
        case ...0xFFFF:
            frames.append(0x80 | 126)
            withUnsafeBytes(of: UInt16(payload.count).bigEndian) { frames += $0 }
        default:
            frames.append(0x80 | 127)
            withUnsafeBytes(of: UInt64(payload.count).bigEndian) { frames += $0 }
        }
        withUnsafeBytes(of: mask.key.littleEndian) { frames += $0 }
        let start = frames.count
        frames += payload
        frames.withUnsafeMutableBytes { mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }
}
