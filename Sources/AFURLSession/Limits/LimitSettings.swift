import AFLoop
import AFTransport
import Foundation

/// The limits of a session: its times, and what it may take of the network.
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

    /// The request's own rules take precedence over the session's, but never widen them.
    func socketOptions(for request: TransferLimits?) -> SocketOptions {
        var options = link.socketOptions
        guard let request else { return options }
        if let marking = request.marking { options.mark(marking) }
        options.avoidsCellular = options.avoidsCellular || request.avoidsCellular
        return options
    }

    /// Only a positive number is a limit.
    static func interval(_ timeout: TimeInterval?) -> LoopInterval? {
        guard let timeout, timeout > 0 else { return nil }
        return LoopInterval(timeout: timeout)
    }
}

/// The limits that a request sets for itself.
struct RequestLimits: Sendable, Hashable {
    var queueTimeout: TimeInterval?
    var serviceType: URLRequest.NetworkServiceType?
    var allowsCellular = true
    var sendRate: Int?
}

/// The same in the space of a reference: nearly every request keeps the defaults.
enum OwnLimits: Sendable, Hashable {
    case usual
    indirect case own(RequestLimits)

    var value: RequestLimits {
        get { if case .own(let limits) = self { limits } else { RequestLimits() } }
        set { self = newValue == RequestLimits() ? .usual : .own(newValue) }
    }

    /// The limits in the form the transport takes. Nil if the request sets none.
    var forTransfer: TransferLimits? {
        guard case .own(let limits) = self else { return nil }
        return TransferLimits(
            queueInterval: LimitSettings.interval(limits.queueTimeout),
            sendRate: limits.sendRate,
            marking: limits.serviceType?.marking,
            avoidsCellular: !limits.allowsCellular
        )
    }
}

/// The marks on a connection's packets, and the networks it may use. Requests that differ in these do not share a
/// connection.
struct LinkRules: Sendable, Hashable {
    var serviceType = URLRequest.NetworkServiceType.default
    var allowsCellular = true

    var socketOptions: SocketOptions {
        var options = SocketOptions()
        options.mark(serviceType.marking)
        options.avoidsCellular = !allowsCellular
        return options
    }
}
