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
