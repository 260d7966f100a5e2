package import AFLoop

/// The limits, the filter and the overrides for every connection of a session.
package struct ConnectionRules: Sendable {
    package var connect: LoopInterval?
    package var attempt: LoopInterval?
    package var handshake: LoopInterval?
    package var filter: AddressFilter?
    package var overrides = HostOverrides()
    /// These two as in `SocketOptions`.
    package var source: String?
    package var probeSeconds: Int32 = 0
    /// Nil: the system's.
    var resolver: LoopBound<any Resolver>?

    package init() {}

    /// Where to dial. Nil if the key names nothing that could be dialled.
    package func target(for key: ConnectionKey) -> DialTarget? {
        // Overrides do not apply through a proxy: it gets the server's own name.
        guard !overrides.isEmpty, key.unixPath == nil, key.route == nil else { return key.target }
        // A place that cannot be dialled does not lead to the server itself.
        guard let places = overrides.places(of: key.endpoint) else { return key.target }
        return places.target
    }

    /// - Parameter host: Whom the addresses belong to.
    func dialRules(_ link: LinkTerms, to host: String, as role: AddressFilter.Role) -> DialRules {
        var rules = DialRules()
        rules.attemptLimit = attempt
        rules.options.link = link
        rules.options.source = source
        rules.options.probeSeconds = probeSeconds
        if let filter { rules.allows = { filter.allows($0, of: host, as: role) } }
        return rules
    }
}

extension LinkTerms {
    package mutating func mark(_ marking: PacketMarking) {
        trafficClass = marking.codePoint << 2
        priority = marking.priority
    }
}
