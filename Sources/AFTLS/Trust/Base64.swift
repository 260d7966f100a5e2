/// Base64 in one spelling only (RFC 4648 §4): padded, no white space, unused bits zero.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = (0..<3).reduce(0) { $0 << 8 | (start + $1 < bytes.count ? Int(bytes[start + $1]) : 0) }
            let digits = [18, 12, 6, 0].map { alphabet[group >> $0 & 63] }
            let used = min(3, bytes.count - start) + 1
            text += digits.prefix(used) + Array(repeating: UInt8(ascii: "="), count: 4 - used)
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let digits = Array(text)
        guard digits.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        for start in stride(from: 0, to: digits.count, by: 4) {
            let isLast = start + 4 == digits.count
            guard let group = decodeGroup(digits[start..<start + 4], mayBePadded: isLast) else { return nil }
            bytes += group
        }
        return bytes
    }

    private static func decodeGroup(_ digits: ArraySlice<UInt8>, mayBePadded: Bool) -> [UInt8]? {
        let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding == 0 || (mayBePadded && padding <= 2) else { return nil }
        var group = 0
        for digit in digits.dropLast(padding) {
            guard let value = value(of: digit) else { return nil }
            group = group << 6 | value
        }
        group <<= 6 * padding
        guard group & (1 << (8 * padding) - 1) == 0 else { return nil }
        return [16, 8, 0].prefix(3 - padding).map { UInt8(truncatingIfNeeded: group >> $0) }
    }

    private static func value(of digit: UInt8) -> Int? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(digit) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(digit) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
