import AFLoop
import Foundation

/// How much of time and of the network a session takes.
struct LimitSettings: Sendable {
    var queueTimeout: TimeInterval?
    var connectTimeout: TimeInterval?
    var connectAttemptTimeout: TimeInterval?
    var tlsTimeout: TimeInterval?
    var waitsForConnectivity = false
    var maximumConnections: Int?
    var receiveRate: Int?
    var sendRate: Int?
    var addressFilter: AddressFilter?
    var overrides: [HostOverride] = []
    var link = LinkRules()

    var queueInterval: LoopInterval? { LimitSettings.interval(queueTimeout) }

    var connectionRules: ConnectionRules {
        ConnectionRules(
            connect: LimitSettings.interval(connectTimeout),
            attempt: LimitSettings.interval(connectAttemptTimeout),
            handshake: LimitSettings.interval(tlsTimeout),
            filter: addressFilter,
            overrides: overrides
        )
    }

    /// What the request says goes before what the session says, but does not widen it.
    func link(for request: OwnLimits) -> LinkRules {
        guard case .own(let request) = request else { return link }
        return LinkRules(
            serviceType: request.serviceType ?? link.serviceType,
            allowsCellular: link.allowsCellular && request.allowsCellular
        )
    }

    /// What is not a positive number is no limit.
    static func interval(_ timeout: TimeInterval?) -> LoopInterval? {
        guard let timeout, timeout > 0 else { return nil }
        return LoopInterval(timeout: timeout)
    }
}

/// What a request says about limits of its own.
struct RequestLimits: Sendable, Hashable {
    var queueTimeout: TimeInterval?
    var serviceType: URLRequest.NetworkServiceType?
    var allowsCellular = true
    var sendRate: Int?

    var queueInterval: LoopInterval? { LimitSettings.interval(queueTimeout) }
}

/// The same in the room of a reference: nearly every request leaves it at the usual.
enum OwnLimits: Sendable, Hashable {
    case usual
    indirect case own(RequestLimits)

    var value: RequestLimits {
        get { if case .own(let limits) = self { limits } else { RequestLimits() } }
        set { self = newValue == RequestLimits() ? .usual : .own(newValue) }
    }

    var queueInterval: LoopInterval? { if case .own(let limits) = self { limits.queueInterval } else { nil } }
    var sendRate: Int? { if case .own(let limits) = self { limits.sendRate } else { nil } }
}

/// What every connection of a session is made under.
struct ConnectionRules: Sendable {
    var connect: LoopInterval?
    var attempt: LoopInterval?
    var handshake: LoopInterval?
    var filter: AddressFilter?
    var overrides: [HostOverride] = []

    /// Where to dial. Nil if the key names nothing that could be dialled.
    func target(for key: ConnectionKey) -> DialTarget? {
        // A proxy is told the server's own name.
        guard !overrides.isEmpty, key.unixPath == nil, key.route == nil else { return key.target }
        return overrides.place(of: key.endpoint)?.target ?? key.target
    }

    /// - Parameter host: Whom the addresses belong to.
    func dialRules(_ link: LinkRules, to host: String, as role: AddressFilter.Role) -> DialRules {
        var rules = DialRules()
        rules.attemptLimit = attempt
        rules.options = link.socketOptions
        if let filter { rules.allows = { filter.allows($0, of: host, as: role) } }
        return rules
    }
}

/// What a connection's packets are marked as, and which networks it may take. Requests that differ in it do not share
/// a connection.
struct LinkRules: Sendable, Hashable {
    static let usual = LinkRules()

    var serviceType = URLRequest.NetworkServiceType.default
    var allowsCellular = true

    var socketOptions: SocketOptions {
        var options = SocketOptions()
        options.trafficClass = serviceType.codePoint << 2
        options.priority = serviceType.priority
        options.avoidsCellular = !allowsCellular
        return options
    }
}
