/// One host, or the hosts of a domain.
///
/// - `api.example.com` is that host, and `192.0.2.1` or `::1` that address. `::ffff:192.0.2.1` is `192.0.2.1`.
/// - `*.example.com` is every host exactly one label below the domain.
/// - `**.example.com` is every host one or more labels below it.
///
/// Neither of the two includes the domain itself. ASCII letters are compared without their case, and one final dot is
/// ignored. A star stands for whole labels and only at the beginning. At least one label must follow it, but one is
/// enough: `*.internal` is a reasonable thing to say in a network of one's own, and no rule that needs no list of all
/// registries could tell it from `*.com`.
public struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    private let breadth: Breadth
    private let name: PeerName
    private let labels: Int

    private enum Breadth: Hashable {
        case exact
        case oneLabel
        case anyLabels
    }

    /// Reads a pattern; international names must be in their `xn--` form.
    public init(_ text: String) throws(HostPatternError) {
        let (breadth, rest) = Self.split(text)
        self.breadth = breadth
        guard let name = PeerName(String(rest))?.unmapped else {
            throw HostPatternError(pattern: text, message: Self.problem(with: rest.utf8))
        }
        self.name = name
        switch name {
        case .dns(let host):
            labels = host.utf8.reduce(1) { $0 + ($1 == UInt8(ascii: ".") ? 1 : 0) }
        case .ip:
            labels = 1
            guard breadth == .exact else {
                throw HostPatternError(
                    pattern: text,
                    message: "an address has no hosts below it; write the address alone"
                )
            }
        }
    }

    private init(breadth: Breadth, name: PeerName, labels: Int) {
        self.breadth = breadth
        self.name = name
        self.labels = labels
    }

    /// All patterns that match a host, the most specific first.
    package static func matching(_ host: PeerName) -> [HostPattern] {
        guard case .dns(let name) = host else { return [HostPattern(breadth: .exact, name: host.unmapped, labels: 1)] }
        var labels = name.utf8.reduce(1) { $0 + ($1 == UInt8(ascii: ".") ? 1 : 0) }
        var patterns = [HostPattern(breadth: .exact, name: host, labels: labels)]
        var rest = name.utf8[...]
        while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.index(after: dot)...]
            labels -= 1
            let domain = PeerName.dns(String(Substring(rest)))
            if patterns.count == 1 { patterns.append(HostPattern(breadth: .oneLabel, name: domain, labels: labels)) }
            patterns.append(HostPattern(breadth: .anyLabels, name: domain, labels: labels))
        }
        return patterns
    }

    /// The pattern in its canonical spelling.
    public var description: String {
        switch breadth {
        case .exact: "\(name)"
        case .oneLabel: "*.\(name)"
        case .anyLabels: "**.\(name)"
        }
    }

    /// Of the patterns that match a host, the one with the greatest number says the most
    /// about it. Two that match the same host have the same number only if they are equal.
    public var specificity: Int {
        2 * labels + (breadth == .anyLabels ? 0 : 1)
    }

    /// Whether this host is meant.
    public func matches(_ host: PeerName) -> Bool {
        switch (breadth, host, name) {
        case (.exact, _, _): host.unmapped == name
        case (_, .dns(let host), .dns(let domain)): isBelow(host.utf8, domain: domain.utf8)
        default: false
        }
    }

    private func isBelow(_ host: String.UTF8View, domain: String.UTF8View) -> Bool {
        let difference = host.count - domain.count
        guard difference >= 2 else { return false }
        let (above, end) = (host.prefix(difference - 1), host.dropFirst(difference - 1))
        guard end.first == UInt8(ascii: "."), end.dropFirst().elementsEqual(domain) else { return false }
        return breadth == .anyLabels || !above.contains(UInt8(ascii: "."))
    }

    private static func split(_ text: String) -> (Breadth, Substring) {
        if text.utf8.starts(with: "**.".utf8) { return (.anyLabels, text[...].dropFirst(3)) }
        if text.utf8.starts(with: "*.".utf8) { return (.oneLabel, text[...].dropFirst(2)) }
        return (.exact, text[...])
    }

    private static func problem(with rest: Substring.UTF8View) -> String {
        if rest.isEmpty { return "a host or domain is missing" }
        if rest.contains(UInt8(ascii: "*")) {
            return "a star stands for whole labels, at the beginning: *.example.com or **.example.com"
        }
        if rest.contains(where: { $0 >= 0x80 }) { return "an international name must be in its xn-- form" }
        if rest.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ":") }) {
            return "give the host only, without scheme, port and path"
        }
        return "it is not a host name (labels of 1 to 63 letters, digits, - and _, at most 253 bytes) nor an address"
    }
}

/// Why a text is no host pattern.
public struct HostPatternError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text.
    public let pattern: String
    /// What is wrong with it, for people.
    public let message: String

    /// The pattern, and what is wrong with it.
    public var description: String { "host pattern \"\(ByteText.escaped(pattern))\": \(message)" }
}
