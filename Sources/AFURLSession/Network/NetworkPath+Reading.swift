import AFLoop

/// Addresses far away. The monitor sends them no packet: it only asks the kernel which route it would take. They are
/// those of the oldest root name server, and hardly any machine has a route of its own to it.
///
/// Asking is better than looking for a default route in a table: there may be several tables and rules, and tunnels
/// that replace the default route by two halves.
enum FarAddresses {
    static let ipv4 = SocketAddress(internetBytes: [198, 41, 0, 4])
    static let ipv6 = SocketAddress(internetBytes: [0x20, 1, 5, 3, 0xBA, 0x3E, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x30])
    static let all = [ipv4, ipv6].compactMap { $0 }
}

extension NetworkPath {
    typealias Reading = Result<NetworkReading, NetlinkFailure>

    /// - Parameters:
    ///   - finding: The result of the lookup, if the target is a name.
    init(to target: PathTarget, finding: HostFinding, in result: Reading) {
        let reading: NetworkReading
        switch result {
        case .success(let success): reading = success
        case .failure(let failure):
            self.init(.unknown(failure.explanation), reading: NetworkReading(interfaces: [], routes: [:]))
            return
        }
        switch (target, finding) {
        case (.machine, _): self.init(PathVerdict.machine(in: reading), reading: reading)
        case (.address(let address), _):
            self.init(PathVerdict(to: [address], called: nil, in: reading), reading: reading)
        case (.impossible(let reason), _): self.init(.closed(reason), reading: reading)
        case (.name(let name), .pending): self.init(.unknown("\(name) has not been looked up yet"), reading: reading)
        case (.name(let name), .failed(let failure)):
            self.init(.closed("\(name) cannot be looked up: \(failure.message)"), reading: reading)
        case (.name(let name), .found(let addresses)):
            self.init(PathVerdict(to: addresses, called: name, in: reading), reading: reading)
        }
    }

    private init(_ verdict: PathVerdict, reading: NetworkReading) {
        switch verdict {
        case .open(let found): (status, interface, reason) = (.satisfied, NetworkInterface(found), nil)
        case .closed(let text): (status, interface, reason) = (.unsatisfied, nil, text)
        case .unknown(let text): (status, interface, reason) = (.unknown, nil, text)
        }
        hasIPv4DefaultRoute = reading.decision(to: FarAddresses.ipv4)?.isOpen ?? false
        hasIPv6DefaultRoute = reading.decision(to: FarAddresses.ipv6)?.isOpen ?? false
        interfaces = reading.interfaces.map { NetworkInterface($0) }
    }
}

/// What a reading says about a target.
enum PathVerdict: Hashable {
    case open(InterfaceState)
    case closed(String)
    case unknown(String)

    /// - Parameter name: The name that has these addresses.
    init(to addresses: [SocketAddress], called name: String?, in reading: NetworkReading) {
        var reason: String?
        for address in addresses {
            switch reading.decision(to: address) {
            case .open(let interface):
                self = .open(interface)
                return
            case .closed(let obstacle):
                let whom = name.map { "\($0) (\(address.host))" } ?? address.host
                reason = reason ?? "no way to \(whom): \(obstacle)"
            case nil: break
            }
        }
        self = reason.map { .closed($0) } ?? .unknown("the kernel has not been asked yet")
    }

    static func machine(in reading: NetworkReading) -> PathVerdict {
        let (ipv4, ipv6) = (reading.decision(to: FarAddresses.ipv4), reading.decision(to: FarAddresses.ipv6))
        let interfaces = [ipv4, ipv6].compactMap { way in if case .open(let found) = way { found } else { nil } }
        if let best = interfaces.first(where: { $0.kind != .cellular }) ?? interfaces.first { return .open(best) }
        guard case .closed(let first) = ipv4, case .closed(let second) = ipv6 else {
            return .unknown("the kernel has not been asked yet")
        }
        let details = first == second ? "\(first)" : "for IPv4 \(first), for IPv6 \(second)"
        return .closed("no way to the internet: \(details)")
    }
}

extension NetworkReading {
    /// Nil if the reading did not ask for the route to this address.
    func decision(to address: SocketAddress?) -> RouteDecision? {
        guard let address, let answer = routes[address] else { return nil }
        return RouteDecision(to: address, by: answer, in: self)
    }
}

extension RouteDecision {
    var isOpen: Bool { if case .open = self { true } else { false } }
}

extension NetlinkFailure {
    var explanation: String {
        switch self {
        case .refused(let error):
            "the kernel could not be asked about its network: \(error). A sandbox may forbid sockets of AF_NETLINK"
        case .unsettled: "the network was changing all the while it was looked at"
        }
    }
}
