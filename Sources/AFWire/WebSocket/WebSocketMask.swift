/// The mask of one frame (RFC 6455 §5.3). A server must not be able to choose what passes a proxy, so each frame has a key
/// of its own, from a strong source of random numbers.
package struct WebSocketMask: Sendable, Equatable {
    let key: UInt32

    /// - Parameter key: The four bytes as they stand in the frame, the first one lowest.
    package init(key: UInt32) {
        self.key = key
    }

    /// Masks bytes in place, eight at a time, which is also how they are unmasked.
    ///
    /// - Parameter offset: How many bytes of the payload stand before these.
    package func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int = 0) {
        let turned = Self.rotated(key.littleEndian, by: offset & 3)
        let wide = UInt64(turned) << 32 | UInt64(turned)
        var position = 0
        while position + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self).littleEndian ^ wide
            bytes.storeBytes(of: word.littleEndian, toByteOffset: position, as: UInt64.self)
            position += 8
        }
        while position < bytes.count {
            bytes[position] ^= UInt8(truncatingIfNeeded: turned >> (8 * UInt32(position & 3)))
            position += 1
        }
    }

    private static func rotated(_ key: UInt32, by count: Int) -> UInt32 {
        count == 0 ? key : key >> (8 * UInt32(count)) | key << (32 - 8 * UInt32(count))
    }
}
