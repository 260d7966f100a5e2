import AFLoop
package import Foundation

/// What a session says about its connections, in the units of its configuration. A setting is declared here alone:
/// `URLSessionConfiguration` has a property for it, and what obeys it reads it.
package struct PoolSettings: Sendable {
    package var maximumConnectionsPerHost = 6
    /// To all hosts together. Nil: any number.
    package var maximumConnections: Int?
    package var maximumIdleConnections = 64
    package var idleConnectionTimeout: TimeInterval = 60
    package var maximumConnectionAge: TimeInterval = 600
    /// How long a request waits for `100 Continue` before it sends its body without.
    package var continueTimeout: TimeInterval = 1
    /// How long a request may wait for its turn.
    package var queueTimeout: TimeInterval?
    package var connectTimeout: TimeInterval?
    package var connectAttemptTimeout: TimeInterval?
    package var tlsTimeout: TimeInterval?
    /// How many bytes all connections together receive and send in a second. Nil: as many as they can.
    package var receiveRate: Int?
    package var sendRate: Int?
    package var addressFilter: AddressFilter?
    package var nameResolver: NameResolver?
    package var hostOverrides: [HostOverride] = []
    /// By a URL of the origin.
    package var minimumIdleConnections: [URL: Int] = [:]
    package var connectionSource: String?
    package var peerProbeInterval: TimeInterval?

    package init() {}
}

extension PoolSettings {
    var limits: PoolLimits {
        let perHost = max(1, maximumConnectionsPerHost)
        return PoolLimits(
            perHost: perHost,
            // A host at its limit must be able to go idle between two bursts.
            maximumIdle: max(maximumIdleConnections, perHost),
            idleTime: LoopInterval(timeout: idleConnectionTimeout, default: 0),
            maximumAge: LoopInterval(timeout: maximumConnectionAge, default: 0),
            total: maximumConnections.map { max(1, $0) }
        )
    }

    var rules: ConnectionRules {
        var rules = ConnectionRules()
        rules.connect = LoopInterval.limit(connectTimeout)
        rules.attempt = LoopInterval.limit(connectAttemptTimeout)
        rules.handshake = LoopInterval.limit(tlsTimeout)
        rules.filter = addressFilter
        rules.overrides = HostOverrides(hostOverrides)
        rules.source = connectionSource
        rules.probeSeconds = probeSeconds
        return rules
    }

    /// In whole seconds, which the kernel takes up to 32767 of.
    private var probeSeconds: Int32 {
        guard let peerProbeInterval else { return 0 }
        return peerProbeInterval > 0 ? Int32(min(max(peerProbeInterval.rounded(.up), 1), 32_767)) : -1
    }
}
