import AFLoop
import AFState
import AFTransport
import AFWire
import Foundation

/// The URL protocol classes of a session.
struct ProtocolSettings: Sendable {
    /// Subclasses of `URLProtocol`, in the order in which the session asks them.
    var classes: [AnyClass] = []
}

/// The interceptors of a session.
struct InterceptionSettings: Sendable {
    var kept = KeptInterceptors()
}

/// A configuration as a session uses it: a value, with every setting in its valid range.
struct SessionSettings: Sendable {
    static let defaultResourceTimeout: TimeInterval = 7 * 24 * 60 * 60

    var timeoutIntervalForRequest = LoopInterval.usualTimeout
    var timeoutIntervalForResource = SessionSettings.defaultResourceTimeout
    var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    var additionalHeaders: [String: String] = [:]
    var maximumConnectionsPerHost = 6
    var maximumIdleConnections = 64
    var idleConnectionTimeout: TimeInterval = 60
    var maximumConnectionAge: TimeInterval = 600
    var maximumBodyInMemory = 1 << 30
    var expectsContinueAbove: Int64?
    var continueTimeout: TimeInterval = 1
    var unixDomainSocketPath: String?
    var callsBackOnNetworkThread = false
    var usesPipelining = false
    var tls = TLSConfiguration()
    var redirects = RedirectPolicy()
    var transportSecurity: HSTSStore?
    var temporaryFolder: String?
    var credentials = CredentialSettings()
    var cookies = CookieSettings()
    var cache = CacheSettings.shared
    var proxies = ProxySettings()
    var content = ContentSettings()
    var limits = LimitSettings()
    var protocols = ProtocolSettings()
    var monitoring = MonitoringSettings()
    var interception = InterceptionSettings()
    var background = BackgroundSettings()
    var networks = NetworkHints()

    /// Read once: another thread may change the environment during a read.
    static let systemTemporaryFolder = FileManager.default.temporaryDirectory.path

    var folderForDownloads: String { temporaryFolder ?? SessionSettings.systemTemporaryFolder }

    var requestTimeout: LoopInterval {
        LoopInterval(timeout: timeoutIntervalForRequest)
    }

    var resourceTimeout: LoopInterval {
        LoopInterval(timeout: timeoutIntervalForResource, default: SessionSettings.defaultResourceTimeout)
    }

    var pool: PoolSettings {
        let perHost = max(1, maximumConnectionsPerHost)
        return PoolSettings(
            limits: PoolLimits(
                perHost: perHost,
                // A host at its limit must be able to go idle between two bursts.
                maximumIdle: max(maximumIdleConnections, perHost),
                idleTime: LoopInterval(timeout: idleConnectionTimeout, default: 0),
                maximumAge: LoopInterval(timeout: maximumConnectionAge, default: 0),
                total: limits.maximumConnections.map { max(1, $0) }
            ),
            continuePatience: LoopInterval(timeout: continueTimeout, default: 0),
            rules: limits.connectionRules,
            queueInterval: limits.queueInterval,
            receiveRate: limits.receiveRate,
            sendRate: limits.sendRate
        )
    }
}
