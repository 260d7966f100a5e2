/// Literal addresses, strictly: what `inet_pton` accepts and not one spelling more.
package enum IPAddressSyntax {
    package struct IPv6: Hashable, Sendable {
        /// Eight groups, most significant first.
        package let groups: [UInt16]

        /// The address in network order.
        package var bytes: [UInt8] { groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }

        package var isLinkLocal: Bool { groups[0] & 0xFFC0 == 0xFE80 }
    }

    /// Four decimal numbers from 0 to 255 without leading zeros.
    package static func isDottedQuad(_ bytes: UnsafeRawBufferPointer) -> Bool {
        dottedQuad(bytes[...]) != nil
    }

    static func dottedQuad(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt32? {
        var address: UInt32 = 0
        var number = -1
        var parts = 0
        for byte in bytes {
            if byte == UInt8(ascii: ".") {
                guard number >= 0, parts < 3 else { return nil }
                address = address << 8 | UInt32(number)
                number = -1
                parts += 1
                continue
            }
            // A second digit after a zero is octal to some parsers.
            guard ASCIISet.digits.contains(byte), number != 0 else { return nil }
            number = max(number, 0) * 10 + Int(byte - UInt8(ascii: "0"))
            if number > 255 { return nil }
        }
        guard parts == 3, number >= 0 else { return nil }
        return address << 8 | UInt32(number)
    }

    package static func ipv6(_ bytes: UnsafeRawBufferPointer) -> IPv6? {
        guard (2...45).contains(bytes.count) else { return nil }
        var groups: [UInt16] = []
        var gap: Int?
        var index = 0
        if bytes[0] == UInt8(ascii: ":") {
            guard bytes[1] == UInt8(ascii: ":") else { return nil }
            gap = 0
            index = 2
        }
        while index < bytes.count {
            let end = bytes[index...].firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
            let piece = bytes[index..<end]
            if piece.contains(UInt8(ascii: ".")) {
                guard end == bytes.count, let quad = dottedQuad(piece) else { return nil }
                groups.append(UInt16(quad >> 16))
                groups.append(UInt16(quad & 0xFFFF))
                break
            }
            guard let group = group(piece) else { return nil }
            groups.append(group)
            if end == bytes.count { break }
            index = end + 1
            if index == bytes.count { return nil }  // a single colon at the end
            if bytes[index] == UInt8(ascii: ":") {
                guard gap == nil else { return nil }
                gap = groups.count
                index += 1
            }
        }
        return fill(groups, gap: gap)
    }

    private static func group(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt16? {
        guard (1...4).contains(bytes.count) else { return nil }
        var value: UInt16 = 0
        for byte in bytes {
            guard let digit = ByteScanning.hexDigit(byte) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    private static func fill(_ groups: [UInt16], gap: Int?) -> IPv6? {
        guard let gap else { return groups.count == 8 ? IPv6(groups: groups) : nil }
        // RFC 4291 lets `::` stand for one group or more; for none it would be a second spelling of a full address.
        guard groups.count < 8 else { return nil }
        var all = groups
        all.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
        return IPv6(groups: all)
    }
}

extension IPAddressSyntax.IPv6 {
    /// The canonical text of RFC 5952: lower case, no leading zeros, the longest run of zeros as `::`.
    package var text: String {
        if groups[..<5].allSatisfy({ $0 == 0 }), groups[5] == 0xFFFF {
            return "::ffff:\(groups[6] >> 8).\(groups[6] & 255).\(groups[7] >> 8).\(groups[7] & 255)"
        }
        let run = longestZeroRun
        let hex = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard run.count >= 2 else { return hex(groups[...]) }
        return "\(hex(groups[..<run.lowerBound]))::\(hex(groups[run.upperBound...]))"
    }

    private var longestZeroRun: Range<Int> {
        var best = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || groups[index] != 0 {
            if index - start > best.count { best = start..<index }
            start = index + 1
        }
        return best
    }
}
