import AFBase
internal import Glibc

/// The byte classes and small numbers every HTTP parser needs, on raw bytes.
///
/// Nothing here knows Unicode: a protocol decision taken on `Character` sees CR LF
/// as one element and folds U+212A to "k".
package enum ByteScanning {
    // MARK: - Classes

    /// Whether `byte` may stand in a token (RFC 9110 §5.6.2).
    @inline(__always)
    package static func isToken(_ byte: UInt8) -> Bool {
        // Bit n of the first mask stands for byte n, of the second for byte 64 + n.
        let mask: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return byte < 128 && (mask >> UInt64(byte & 63)) & 1 == 1
    }

    /// Whether `bytes` is a token: not empty, and of token bytes only.
    package static func isToken(_ bytes: UnsafeRawBufferPointer) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { isToken($0) }
    }

    /// Whether `byte` is optional white space: SP or HTAB, nothing else.
    @inline(__always)
    package static func isOWS(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Whether `byte` is a control other than HTAB, which no field value may hold.
    @inline(__always)
    package static func isForbiddenControl(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7F }

    /// Whether `byte` is printable ASCII, SP included.
    static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

    // MARK: - Ranges

    /// `bytes` without white space at either end.
    package static func trimmingOWS(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var start = 0
        var end = bytes.count
        while start < end, isOWS(bytes[start]) { start += 1 }
        while end > start, isOWS(bytes[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// Offset of the first `byte` at or after `start`, if any.
    @inline(__always)
    package static func firstIndex(of byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress else { return nil }
        guard let found = memchr(base + start, CInt(byte), bytes.count - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// Calls `body` with each element of a comma-separated list, white space removed.
    ///
    /// Empty elements are reported too; quotes have no meaning, so this is only for lists of tokens and numbers.
    package static func forEachListElement<Failure: Error>(
        of bytes: UnsafeRawBufferPointer,
        body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var start = 0
        while true {
            let comma = firstIndex(of: 0x2C, in: bytes, from: start) ?? bytes.count
            try body(trimmingOWS(UnsafeRawBufferPointer(rebasing: bytes[start..<comma])))
            guard comma < bytes.count else { return }
            start = comma + 1
        }
    }

    /// Whether `bytes` equals `lowercase`, ignoring the case of ASCII letters.
    package static func equalsIgnoringCase(_ bytes: UnsafeRawBufferPointer, lowercase: StaticString) -> Bool {
        guard bytes.count == lowercase.utf8CodeUnitCount else { return false }
        let other = lowercase.utf8Start
        for index in 0..<bytes.count where ASCII.folded(bytes[index]) != other[index] { return false }
        return true
    }

    /// Whether both are equal, ignoring the case of ASCII letters.
    package static func equalsIgnoringCase(_ one: UnsafeRawBufferPointer, other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        for index in 0..<one.count where ASCII.folded(one[index]) != ASCII.folded(other[index]) { return false }
        return true
    }

    // MARK: - Numbers

    /// The value of one or more ASCII digits, or nil if anything else is there or it passes 2^63 − 1.
    ///
    /// The standard library's initialisers take a sign, which the grammar of no HTTP number has.
    package static func decimal(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in bytes {
            guard ASCII.isDigit(byte) else { return nil }
            let (product, productOverflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflows) = product.addingReportingOverflow(Int64(byte &- 0x30))
            guard !productOverflows, !sumOverflows else { return nil }
            value = sum
        }
        return value
    }

    /// The value of one hexadecimal digit, in either case.
    @inline(__always)
    package static func hexDigit(_ byte: UInt8) -> UInt8? {
        if ASCII.isDigit(byte) { return byte &- 0x30 }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }

    /// The value of one or more hexadecimal digits, or nil if anything else is there or it passes 2^63 − 1.
    package static func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in bytes {
            guard let digit = hexDigit(byte), value < 1 << 59 else { return nil }
            value = value << 4 | Int64(digit)
        }
        return value
    }
}
