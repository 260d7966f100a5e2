/// Base64 with padding (RFC 4648 §4).
package enum Base64 {
    package static func encode(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let count = (bytes.count + 2) / 3 * 4
        return [UInt8](unsafeUninitializedCapacity: count) { output, used in
            var index = 0
            while index < bytes.count {
                let left = bytes.count - index
                let one = UInt32(bytes[index])
                let two = left > 1 ? UInt32(bytes[index + 1]) : 0
                let three = left > 2 ? UInt32(bytes[index + 2]) : 0
                let group = one << 16 | two << 8 | three
                output[used] = letter(group >> 18)
                output[used + 1] = letter(group >> 12)
                output[used + 2] = left > 1 ? letter(group >> 6) : UInt8(ascii: "=")
                output[used + 3] = left > 2 ? letter(group) : UInt8(ascii: "=")
                used += 4
                index += 3
            }
        }
    }

    /// Nil unless every byte is part of the one canonical encoding of the result: no line breaks, full padding, no
    /// stray bits, which only a reader that is not asked for the canonical one drops.
    package static func decode(_ bytes: UnsafeRawBufferPointer, isCanonical: Bool = true) -> [UInt8]? {
        guard bytes.count % 4 == 0 else { return nil }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count / 4 * 3)
        for start in stride(from: 0, to: bytes.count, by: 4) {
            let isLast = start + 4 == bytes.count
            var padding = 0
            if isLast, bytes[start + 3] == UInt8(ascii: "=") {
                padding = bytes[start + 2] == UInt8(ascii: "=") ? 2 : 1
            }
            var group: UInt32 = 0
            for byte in bytes[start..<start + 4 - padding] {
                guard let bits = value(byte) else { return nil }
                group = group << 6 | bits
            }
            group <<= UInt32(6 * padding)
            let unused: UInt32 = padding == 2 ? 0xFFFF : padding == 1 ? 0xFF : 0
            guard group & unused == 0 || !isCanonical else { return nil }
            decoded.append(UInt8(truncatingIfNeeded: group >> 16))
            if padding < 2 { decoded.append(UInt8(truncatingIfNeeded: group >> 8)) }
            if padding < 1 { decoded.append(UInt8(truncatingIfNeeded: group)) }
        }
        return decoded
    }

    private static func letter(_ bits: UInt32) -> UInt8 {
        switch UInt8(truncatingIfNeeded: bits & 63) {
        case let bits where bits < 26: bits + UInt8(ascii: "A")
        case let bits where bits < 52: bits - 26 + UInt8(ascii: "a")
        case let bits where bits < 62: bits - 52 + UInt8(ascii: "0")
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
