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

    var queueInterval: LoopInterval? { LoopInterval.limit(queueTimeout) }

    var connectionRules: ConnectionRules {
        ConnectionRules(
            connect: LoopInterval.limit(connectTimeout),
            attempt: LoopInterval.limit(connectAttemptTimeout),
            handshake: LoopInterval.limit(tlsTimeout),
            filter: addressFilter,
            overrides: overrides
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

    /// The request's own rules take precedence over the session's, but never widen them.
    func socketOptions(for request: TransferLimits?) -> SocketOptions {
        var options = socketOptions
        guard let request else { return options }
        if let marking = request.marking { options.mark(marking) }
        options.avoidsCellular = options.avoidsCellular || request.avoidsCellular
        return options
    }
}
