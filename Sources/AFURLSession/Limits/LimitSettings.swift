import AFLoop
import AFTransport
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
    func socketOptions(for request: TransferLimits?) -> SocketOptions {
        var options = link.socketOptions
        guard let request else { return options }
        if let marking = request.marking { options.mark(marking) }
        options.avoidsCellular = options.avoidsCellular || request.avoidsCellular
        return options
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
}

/// The same in the room of a reference: nearly every request leaves it at the usual.
enum OwnLimits: Sendable, Hashable {
    case usual
    indirect case own(RequestLimits)

    var value: RequestLimits {
        get { if case .own(let limits) = self { limits } else { RequestLimits() } }
        set { self = newValue == RequestLimits() ? .usual : .own(newValue) }
    }

    /// As the transport wants them. Nil if the request says nothing.
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

/// What a connection's packets are marked as, and which networks it may take. Requests that differ in it do not share
/// a connection.
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
