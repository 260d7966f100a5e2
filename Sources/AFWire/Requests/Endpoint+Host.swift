import AFBase

extension Endpoint {
    /// A host that passed our grammar, in canonical spelling.
    ///
    /// - Names are lower-cased letters, digits, hyphens, dots and underscores, at most 253 bytes, labels at most 63.
    ///   International names arrive here as punycode; raw UTF-8 is refused.
    /// - One trailing dot makes a name absolute. `text` is without it: `example.com.` is the same peer as `example.com`
    ///   for SNI, certificates, pins, cookies and the pool, and both are equal. The resolver is asked with the dot, so
    ///   that no search list applies, and `Host`, targets and proxies get it as it stands in the URL. Two dots are
    ///   refused.
    /// - If all labels are numbers, decimal or hexadecimal, they must be a dotted quad without leading zeros. `0x7f.1`,
    ///   `2130706433` and `1.2.3` are addresses to some resolvers and names to others, hence refused. `test.83` is a
    ///   name to all of them.
    /// - IPv6 stands in brackets and is rewritten as RFC 5952 says. A zone (`%25eth0`, RFC 6874) is accepted on
    ///   link-local addresses only; it is used to connect and never sent.
    package struct Host: Sendable {
        package enum Kind: UInt8, Hashable, Sendable {
            case name
            case ipv4
            case ipv6
        }

        package let kind: Kind
        /// Whether a dot ends the name.
        package let isAbsolute: Bool
        /// Neither brackets nor zone nor final dot.
        package let text: String
        package let zone: String?

        package var bracketed: String { kind == .ipv6 ? "[\(text)]" : text }

        /// As it stands in a URL and in `Host`: with the final dot, without a zone.
        package var written: String { isAbsolute ? "\(text)." : bracketed }

        /// What the resolver is asked for: an address carries its zone here, and an absolute name its dot.
        package var connectName: String {
            if isAbsolute { return "\(text)." }
            guard let zone else { return text }
            return "\(text)%\(zone)"
        }

        /// The name for SNI and certificate checks. RFC 6066 §3 forbids literal addresses there.
        package var serverName: String? { kind == .name ? text : nil }

        /// - Parameter offset: where `bytes` begin in the text the caller sees; only for the position in errors.
        package init(_ bytes: UnsafeRawBufferPointer, offset: Int) throws(RequestRejection) {
            if bytes.first == UInt8(ascii: "[") {
                (kind, text, zone) = try Self.literal(bytes, offset: offset)
                isAbsolute = false
            } else {
                isAbsolute = bytes.count > 1 && bytes[bytes.count - 1] == UInt8(ascii: ".")
                (kind, text) = try Self.registeredName(bytes, offset: offset)
                zone = nil
            }
        }
    }
}

/// Two spellings of one peer are equal: whether a name is absolute says where it is looked up, not who it is.
extension Endpoint.Host: Hashable {
    package static func == (one: Endpoint.Host, other: Endpoint.Host) -> Bool {
        one.kind == other.kind && one.text == other.text && one.zone == other.zone
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(text)
        hasher.combine(zone)
    }
}

// MARK: - Names and dotted quads

extension Endpoint.Host {
    private static func registeredName(
        _ whole: UnsafeRawBufferPointer,
        offset: Int
    ) throws(RequestRejection) -> (Kind, String) {
        var count = whole.count
        if count > 1, whole[count - 1] == UInt8(ascii: ".") { count -= 1 }
        let bytes = UnsafeRawBufferPointer(rebasing: whole[..<count])
        if bytes.isEmpty { throw RequestRejection(.host, rule: .empty, at: offset) }

        try checkLabels(bytes, offset: offset)
        if bytes.count > 253 { throw RequestRejection(.host, rule: .tooLong, at: offset) }

        var kind = Kind.name
        if areNumbers(bytes) {
            // `1.2.3.4.` would be an address only to those who drop the dot.
            guard count == whole.count, IPAddressSyntax.isDottedQuad(bytes) else {
                throw RequestRejection(.host, rule: .numericHost, at: offset, excerpt: EscapedText(whole))
            }
            kind = .ipv4
        }
        let text = String(unsafeUninitializedCapacity: bytes.count) { output in
            for index in bytes.indices { output[index] = ASCII.folded(bytes[index]) }
            return bytes.count
        }
        return (kind, text)
    }

    /// Checks characters and label lengths in one pass.
    private static func checkLabels(_ bytes: UnsafeRawBufferPointer, offset: Int) throws(RequestRejection) {
        let allowed = ASCIISet.hostName
        var label = 0
        for index in bytes.indices {
            let byte = bytes[index]
            if !allowed.contains(byte) { throw refusal(of: byte, at: index, in: bytes, offset: offset) }
            guard byte == UInt8(ascii: ".") else { continue }
            try checkLabel(label..<index, offset: offset)
            label = index + 1
        }
        try checkLabel(label..<bytes.count, offset: offset)
    }

    @inline(__always)
    private static func checkLabel(_ label: Range<Int>, offset: Int) throws(RequestRejection) {
        if label.isEmpty { throw RequestRejection(.host, rule: .emptyLabel, at: offset + label.lowerBound) }
        if label.count > 63 { throw RequestRejection(.host, rule: .labelTooLong, at: offset + label.lowerBound) }
    }

    private static func refusal(
        of byte: UInt8,
        at index: Int,
        in bytes: UnsafeRawBufferPointer,
        offset: Int
    ) -> RequestRejection {
        let rule: RequestRejection.Rule =
            switch byte {
            case UInt8(ascii: "%"): .percentInHost
            case UInt8(ascii: "\\"): .backslash
            case 0..<0x20, 0x7F: .control
            default: .forbiddenByte
            }
        return RequestRejection(.host, rule: rule, at: offset + index, excerpt: EscapedText(bytes))
    }

    /// Whether `inet_aton` would read all labels as numbers, or nearly: decimal digits, or `0x` and hexadecimal ones.
    /// How many labels there are and how large the numbers are does not matter.
    private static func areNumbers(_ name: UnsafeRawBufferPointer) -> Bool {
        // Nearly all names begin with a letter.
        guard let first = name.first, ASCIISet.digits.contains(first) else { return false }
        // Not by `split`, which allocates: each request to an address comes by here.
        var rest = name[...]
        while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
            guard isNumber(rest[..<dot]) else { return false }
            rest = rest[(dot + 1)...]
        }
        return isNumber(rest)
    }

    private static func isNumber(_ label: Slice<UnsafeRawBufferPointer>) -> Bool {
        if label.allSatisfy(ASCIISet.digits.contains) { return true }
        guard label.starts(with: "0x".utf8) || label.starts(with: "0X".utf8) else { return false }
        return label.dropFirst(2).allSatisfy { ByteScanning.hexDigit($0) != nil }
    }
}

// MARK: - IPv6 literals

extension Endpoint.Host {
    private static func literal(
        _ bytes: UnsafeRawBufferPointer,
        offset: Int
    ) throws(RequestRejection) -> (Kind, String, String?) {
        // The longest address is 45 bytes, a zone at most 15 and its delimiter 3.
        guard bytes.count > 2, bytes.count <= 80, bytes[bytes.count - 1] == UInt8(ascii: "]") else {
            throw RequestRejection(.host, rule: .notIPv6, at: offset, excerpt: EscapedText(bytes))
        }
        let inner = bytes[1..<bytes.count - 1]
        let percent = inner.firstIndex(of: UInt8(ascii: "%")) ?? inner.endIndex
        guard let address = IPAddressSyntax.ipv6(UnsafeRawBufferPointer(rebasing: inner[..<percent])) else {
            throw RequestRejection(.host, rule: .notIPv6, at: offset, excerpt: EscapedText(bytes))
        }
        var zone: String?
        if percent < inner.endIndex {
            guard address.isLinkLocal, let name = zoneName(inner[percent...]) else {
                throw RequestRejection(.host, rule: .zoneNotAllowed, at: offset + percent, excerpt: EscapedText(bytes))
            }
            zone = name
        }
        return (.ipv6, address.text, zone)
    }

    /// `%25` and an interface name or number, at most 15 bytes as the kernel allows.
    private static func zoneName(_ bytes: Slice<UnsafeRawBufferPointer>) -> String? {
        guard bytes.starts(with: "%25".utf8) else { return nil }
        let name = bytes.dropFirst(3)
        guard (1...15).contains(name.count), name.allSatisfy(ASCIISet.unreserved.contains) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }
}
