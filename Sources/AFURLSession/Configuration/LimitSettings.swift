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
    var connectionSource: String?
    var probeInterval: TimeInterval?

    var queueInterval: LoopInterval? { LoopInterval.limit(queueTimeout) }

    var connectionRules: ConnectionRules {
        ConnectionRules(
            connect: LoopInterval.limit(connectTimeout),
            attempt: LoopInterval.limit(connectAttemptTimeout),
            handshake: LoopInterval.limit(tlsTimeout),
            filter: addressFilter,
            overrides: overrides,
            source: connectionSource,
            probeSeconds: probeSeconds
        )
    }

    /// In whole seconds, which the kernel takes up to 32767 of.
    private var probeSeconds: Int32 {
        guard let probeInterval else { return 0 }
        return probeInterval > 0 ? Int32(min(max(probeInterval.rounded(.up), 1), 32_767)) : -1
    }
}

/// The marks on a connection's packets, and the networks it may use. Requests that differ in these do not share a
/// connection.
struct LinkRules: Sendable, Hashable {
    var serviceType = URLRequest.NetworkServiceType.default
    var allowsCellular = true

    var terms: LinkTerms {
        var terms = LinkTerms()
        terms.mark(serviceType.marking)
        terms.avoidsCellular = !allowsCellular
        return terms
    }

    /// The request's own rules take precedence over the session's, but never widen them.
    func terms(for request: TransferLimits?) -> LinkTerms {
        var terms = terms
        guard let request else { return terms }
        if let marking = request.marking { terms.mark(marking) }
        terms.avoidsCellular = terms.avoidsCellular || request.avoidsCellular
        return terms
    }
}
