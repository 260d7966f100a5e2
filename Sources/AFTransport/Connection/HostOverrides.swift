package import AFWire

/// The overrides of a session, found by the host: every request asks, and a session may have thousands of them.
package struct HostOverrides: Sendable {
    /// A host, in whatever spelling: see `isSameHost`.
    private enum Key: Hashable {
        case name(Endpoint.Host)
        case address(IPAddressSyntax.IPv6, zone: String?)

        init(_ host: Endpoint.Host) {
            self = host.address.map { .address($0, zone: host.zone) } ?? .name(host)
        }
    }

    private let all: [HostOverride]
    /// Where in the list those for one host are, and those for any, in order.
    private var ofHost: [Key: [Int]] = [:]
    private var ofAny: [Int] = []

    package init(_ overrides: [HostOverride] = []) {
        all = overrides
        for (index, override) in overrides.enumerated() {
            if let host = override.host {
                ofHost[Key(host), default: []].append(index)
            } else {
                ofAny.append(index)
            }
        }
    }

    package var isEmpty: Bool { all.isEmpty }

    /// Where to connect in place of `endpoint`, by the first override that is for it. Nil if none is.
    package func places(of endpoint: Endpoint) -> [Endpoint]? {
        guard !all.isEmpty else { return nil }
        let own = ofHost.isEmpty ? nil : ofHost[Key(endpoint.host)].flatMap { first(of: $0, for: endpoint) }
        let other = first(of: ofAny, for: endpoint)
        guard let own, let other else { return (own ?? other)?.places }
        return own.index < other.index ? own.places : other.places
    }

    private func first(of indices: [Int], for endpoint: Endpoint) -> (index: Int, places: [Endpoint])? {
        for index in indices {
            if let places = all[index].apply(to: endpoint) { return (index, places) }
        }
        return nil
    }
}
