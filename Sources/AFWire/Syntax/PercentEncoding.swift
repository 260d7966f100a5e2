/// The one percent codec (RFC 3986 §2.1). Sizes are exact: the input is measured before anything is allocated.
package enum PercentEncoding {
    /// Encodes every byte outside `allowed`, and `%` itself unless it is a member.
    package static func encode(_ bytes: UnsafeRawBufferPointer, allowed: ASCIISet) -> [UInt8] {
        let foreign = bytes.reduce(into: 0) { count, byte in count += allowed.contains(byte) ? 0 : 1 }
        return [UInt8](unsafeUninitializedCapacity: bytes.count + 2 * foreign) { output, used in
            for byte in bytes {
                if allowed.contains(byte) {
                    output[used] = byte
                    used += 1
                } else {
                    write(byte, to: output, at: &used)
                }
            }
        }
    }

    package static func encode(_ text: String, allowed: ASCIISet) -> String {
        text.withUTF8Bytes { String(decoding: encode($0, allowed: allowed), as: UTF8.self) }
    }

    /// Encodes what is outside `allowed` but leaves triplets that are encoded already, so that a second pass
    /// changes nothing. A `%` that begins no triplet becomes `%25`.
    package static func encodeOnce(_ bytes: UnsafeRawBufferPointer, allowed: ASCIISet, prefix: [UInt8] = []) -> [UInt8]
    {
        let foreign = countForeign(bytes, allowed: allowed)
        return [UInt8](unsafeUninitializedCapacity: prefix.count + bytes.count + 2 * foreign) { output, used in
            for byte in prefix {
                output[used] = byte
                used += 1
            }
            for index in bytes.indices {
                let byte = bytes[index]
                if allowed.contains(byte) || isTriplet(bytes, at: index) {
                    output[used] = byte
                    used += 1
                } else {
                    write(byte, to: output, at: &used)
                }
            }
        }
    }

    /// The bytes a well-formed encoding stands for, or nil if a `%` begins no triplet. Decodes once; never apply it
    /// to something that goes on the wire.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "%") else {
                decoded.append(bytes[index])
                index += 1
                continue
            }
            guard index + 2 < bytes.count, let high = ByteScanning.hexDigit(bytes[index + 1]),
                let low = ByteScanning.hexDigit(bytes[index + 2])
            else { return nil }
            decoded.append(high << 4 | low)
            index += 3
        }
        return decoded
    }

    private static func countForeign(_ bytes: UnsafeRawBufferPointer, allowed: ASCIISet) -> Int {
        var count = 0
        for index in bytes.indices where !allowed.contains(bytes[index]) && !isTriplet(bytes, at: index) {
            count += 1
        }
        return count
    }

    @inline(__always)
    private static func isTriplet(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        bytes[index] == UInt8(ascii: "%") && bytes.count - index > 2
            && ByteScanning.hexDigit(bytes[index + 1]) != nil && ByteScanning.hexDigit(bytes[index + 2]) != nil
    }

    @inline(__always)
    private static func write(_ byte: UInt8, to output: UnsafeMutableBufferPointer<UInt8>, at used: inout Int) {
        output[used] = UInt8(ascii: "%")
        output[used + 1] = digit(byte >> 4)
        output[used + 2] = digit(byte & 15)
        used += 3
    }

    /// RFC 3986 §2.1 prefers upper case.
    @inline(__always)
    private static func digit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? nibble &+ 0x30 : nibble &+ 0x37 }
}
