import AFBase

/// Whom a certificate must be for: a DNS name or an IP address, in one canonical form.
@nonexhaustive
public enum PeerName: Hashable, Sendable, CustomStringConvertible {
    /// A host name: ASCII in lower case, without the final dot, at most 253 bytes.
    case dns(String)
    /// An address: 4 bytes for IPv4, 16 for IPv6. An IPv4 address written as IPv6 stays IPv6.
    case ip([UInt8])

    /// The name of a host as it stands in a URL.
    ///
    /// Takes `Example.com.`, `192.0.2.1`, `[::1]` and `::1`; the zone of an IPv6
    /// address is dropped, because no certificate knows it. Nil for what another program could read differently: an
    /// empty name or label, a leading dot or a second final one, NUL, other than letters, digits, `-`, `_` and dots
    /// (international names must have been turned into `xn--` form), an `xn--` label that says nothing, and names of
    /// numbers only, which some readers take for an address (`127.1`, `0x7f000001`).
    public init?(_ host: String) {
        if let address = Self.address(host) {
            self = .ip(address)
            return
        }
        var bytes = Array(host.utf8)
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        for index in bytes.indices { bytes[index] = ASCII.folded(bytes[index]) }
        guard DNSName.isValid(bytes[...]), !DNSName.isNumeric(bytes), Self.labelsDecode(bytes) else { return nil }
        self = .dns(String(decoding: bytes, as: UTF8.self))
    }

    /// The name, or the address in its usual notation.
    public var description: String {
        switch self {
        case .dns(let name): ByteText.escaped(name)
        case .ip(let bytes): IPText.text(of: bytes) ?? "an address of \(bytes.count) bytes"
        }
    }

    /// An IPv4 address that is written as IPv6, as the address that it is; all else as it is. To a certificate the two are
    /// different names, to rules about hosts they are one host.
    package var unmapped: PeerName {
        if case .ip(let bytes) = self, case .mapped(let host)? = ReachedIPv4(bytes) { return .ip(host) }
        return self
    }

    /// The IPv4 address to which a translator of the network leads.
    package var translated: PeerName? {
        if case .ip(let bytes) = self, case .translated(let host)? = ReachedIPv4(bytes) { return .ip(host) }
        return nil
    }

    private static func address(_ host: String) -> [UInt8]? {
        var text = host.utf8[...]
        let isBracketed = text.first == UInt8(ascii: "[")
        if isBracketed {
            guard text.last == UInt8(ascii: "]") else { return nil }
            text = text.dropFirst().dropLast()
        }
        if let zone = text.firstIndex(of: UInt8(ascii: "%")) {
            guard text[..<zone].contains(UInt8(ascii: ":")), text.index(after: zone) < text.endIndex,
                !text.contains(0)
            else { return nil }
            text = text[..<zone]
        }
        guard let bytes = IPText.bytes(of: String(decoding: text, as: UTF8.self)) else { return nil }
        return isBracketed && bytes.count != 16 ? nil : bytes
    }

    private static func labelsDecode(_ name: [UInt8]) -> Bool {
        name.split(separator: UInt8(ascii: ".")).allSatisfy { label in
            !label.starts(with: "xn--".utf8) || Punycode.isCanonical(label.dropFirst(4))
        }
    }
}
