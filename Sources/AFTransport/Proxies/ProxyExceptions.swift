import AFBase
package import AFWire

/// Hosts that the session reaches without a proxy.
///
/// | entry | whom it means |
/// | --- | --- |
/// | `example.com` | that host; read with ``init(noProxy:)``, also every host below it |
/// | `.example.com`, `*.example.com` | every host below it, and not itself |
/// | `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]` | that address |
/// | `192.0.2.0/24`, `2001:db8::/32` | every address in that range |
/// | any of these but a range, and `:8080` behind it (IPv6 in brackets) | the same, on that port only |
/// | `*` | every host |
///
/// The session compares hosts as they stand in the URL and label by label: without case, without a trailing dot, an
/// IPv4 address mapped to IPv6 like the one it stands for. A zone does not count. It looks no name up to compare its
/// address.
public struct ProxyExceptions: Hashable, Sendable {
    package private(set) var rules: [ProxyExceptionRule] = []

    /// None: every host is reached through the proxy.
    public init() {}

    /// Reads entries one by one. An empty one means no host.
    public init(_ entries: [String]) throws(ProxyConfigurationError) {
        for entry in entries {
            let trimmed = ProxyExceptions.trimmed(Array(entry.utf8)[...])
            if trimmed.isEmpty { continue }
            guard let rule = ProxyExceptionRule(trimmed, includesHostsBelow: false) else {
                throw ProxyConfigurationError(.exception, in: "the list of exceptions")
            }
            rules.append(rule)
        }
    }

    /// Reads a list as it stands in the variable `no_proxy`: separated by commas or blanks, names with the hosts below
    /// them. Text that is no entry means no host, as in other programs that read the variable.
    public init(noProxy text: String) {
        let parts = Array(text.utf8).split { $0 == UInt8(ascii: ",") || isBlank($0) }
        rules = parts.compactMap { ProxyExceptionRule($0, includesHostsBelow: true) }
    }

    package func contains(_ endpoint: Endpoint) -> Bool {
        if rules.isEmpty { return false }
        let host = ProxyExceptionRule.Subject(endpoint)
        return rules.contains { $0.matches(host) }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return [] }
        return bytes[first...last]
    }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }

/// One entry in a list of exceptions.
package struct ProxyExceptionRule: Hashable, Sendable {
    private enum Whom: Hashable {
        case everybody
        case host(String)
        /// Labels behind a dot.
        case below(String)
        case network(IPAddressSyntax.IPv6, bits: Int)
    }

    private let whom: [Whom]
    private let port: UInt16?

    /// A host that is looked for in the list, in the form in which entries are compared.
    package struct Subject {
        package let name: String
        package let address: IPAddressSyntax.IPv6?
        package let port: UInt16

        package init(_ endpoint: Endpoint) {
            name = endpoint.host.text
            address = endpoint.host.address
            port = endpoint.port
        }
    }

    package func matches(_ host: Subject) -> Bool {
        guard port == nil || port == host.port else { return false }
        return whom.contains { whom in
            switch whom {
            case .everybody: true
            case .host(let name): host.address == nil && host.name == name
            case .below(let suffix):
                host.address == nil && host.name.utf8.count > suffix.utf8.count && host.name.hasSuffix(suffix)
            case .network(let network, let bits): host.address.map { $0.starts(with: network, bits: bits) } ?? false
            }
        }
    }

    /// Nil if it is no entry.
    package init?(_ text: ArraySlice<UInt8>, includesHostsBelow: Bool) {
        if text.elementsEqual("*".utf8) {
            (whom, port) = ([.everybody], nil)
        } else if text.contains(UInt8(ascii: "/")) {
            guard let network = ProxyExceptionRule.network(text) else { return nil }
            (whom, port) = ([network], nil)
        } else {
            guard let (whom, port) = ProxyExceptionRule.host(text, includesHostsBelow: includesHostsBelow) else {
                return nil
            }
            (self.whom, self.port) = (whom, port)
        }
    }

    private static func network(_ text: ArraySlice<UInt8>) -> Whom? {
        guard let slash = text.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        guard let (host, port) = try? ProxyURL.hostAndPort(bracketed(text[..<slash])), port == nil,
            let address = host.address, let bits = bits(text[(slash + 1)...])
        else { return nil }
        let offset = host.kind == .ipv4 ? 96 : 0
        guard bits + offset <= 128 else { return nil }
        return .network(address, bits: bits + offset)
    }

    private static func bits(_ digits: ArraySlice<UInt8>) -> Int? {
        if digits.elementsEqual("0".utf8) { return 0 }
        return ProxyURL.port(digits).map(Int.init)
    }

    private static func host(_ text: ArraySlice<UInt8>, includesHostsBelow: Bool) -> ([Whom], UInt16?)? {
        var rest = text
        let isSuffix = rest.starts(with: "*.".utf8) || rest.first == UInt8(ascii: ".")
        if isSuffix { rest = rest.first == UInt8(ascii: "*") ? rest.dropFirst(2) : rest.dropFirst() }
        guard let (host, port) = try? ProxyURL.hostAndPort(isSuffix ? rest : bracketed(rest)) else { return nil }
        if let address = host.address { return isSuffix ? nil : ([.network(address, bits: 128)], port) }
        let below = Whom.below(".\(host.text)")
        if isSuffix { return ([below], port) }
        return (includesHostsBelow ? [.host(host.text), below] : [.host(host.text)], port)
    }

    /// An IPv6 address may stand alone, and has no port then. What names a zone means the address.
    private static func bracketed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBare = text.first != UInt8(ascii: "[")
        guard text.count(where: { $0 == UInt8(ascii: ":") }) > 1 else { return text }
        guard let percent = text.firstIndex(of: UInt8(ascii: "%")) else {
            return isBare ? [UInt8(ascii: "[")] + text + [UInt8(ascii: "]")] : text
        }
        if isBare { return [UInt8(ascii: "[")] + text[..<percent] + [UInt8(ascii: "]")] }
        guard let bracket = text.firstIndex(of: UInt8(ascii: "]")), bracket > percent else { return text }
        return text[..<percent] + text[bracket...]
    }
}

extension Endpoint.Host {
    /// A literal address; one of IPv4 as it is mapped to IPv6.
    package var address: IPAddressSyntax.IPv6? {
        switch kind {
        case .name: nil
        case .ipv4: "::ffff:\(text)".withUTF8Bytes { IPAddressSyntax.ipv6($0) }
        case .ipv6: text.withUTF8Bytes { IPAddressSyntax.ipv6($0) }
        }
    }

    /// This machine, whatever its name service says: RFC 6761 §6.3 for names; to the kernel also the unspecified
    /// addresses are itself.
    package var isLoopback: Bool {
        guard let address else { return text == "localhost" || text.hasSuffix(".localhost") }
        if case .mapped(let host)? = ReachedIPv4(address.bytes) { return host[0] == 127 || host == [0, 0, 0, 0] }
        return address.groups[..<7].allSatisfy { $0 == 0 } && address.groups[7] <= 1
    }

    /// Whether both lead to one host, as an IPv4 address does and the same one written as IPv6.
    package func isSameHost(as other: Endpoint.Host) -> Bool {
        guard let address, let otherAddress = other.address else { return self == other }
        return address == otherAddress && zone == other.zone
    }
}

extension IPAddressSyntax.IPv6 {
    fileprivate func starts(with network: IPAddressSyntax.IPv6, bits: Int) -> Bool {
        for index in 0..<8 {
            let left = bits - 16 * index
            if left <= 0 { return true }
            let mask: UInt16 = left >= 16 ? 0xFFFF : ~(0xFFFF >> UInt16(left))
            guard groups[index] & mask == network.groups[index] & mask else { return false }
        }
        return true
    }
}
