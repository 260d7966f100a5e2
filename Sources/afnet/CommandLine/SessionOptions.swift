import AFURLSession
import Foundation

/// What makes a session. Groups that agree on all of it share one, and so its connections.
struct SessionOptions: Equatable {
    let security: SecurityOptions
    let proxy: ProxyOptions
    let unixSocket: String?
    let overrides: [HostOverride]
    /// In seconds; 0 is no limit.
    let maximumTime: Double
    let connectTime: Double
    let rate: Int?
    /// How many connections a host may have; nil for the usual number.
    let connections: Int?
    let usesCookies: Bool
    let isCompressed: Bool
    /// A folder; nil for no cache.
    let cache: String?
    let netrc: String?
    /// Nobody wants to hear of servers that a policy only reports.
    let isSilent: Bool
    /// Somebody has named a password for whoever asks.
    let mayTellPasswords: Bool

    init(_ arguments: Arguments) {
        security = arguments.security
        proxy = arguments.proxy
        unixSocket = arguments.unixSocket
        overrides = arguments.overrides
        maximumTime = arguments.maximumTime
        connectTime = arguments.connectTime
        connections = arguments.isParallel ? arguments.parallelMaximum ?? TransferGroup.usualMaximum : nil
        rate = arguments.rate
        usesCookies = arguments.cookies.isOn
        isCompressed = arguments.isCompressed
        cache = arguments.cacheMode == .noStore ? nil : arguments.cache
        netrc = arguments.netrc
        isSilent = arguments.security.policy != nil && arguments.isSilent && !arguments.showsErrors
        mayTellPasswords = arguments.netrc != nil
    }

    /// Without what files say, and without memory.
    var plainConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.hostOverrides = overrides
        configuration.unixDomainSocketPath = unixSocket
        if maximumTime > 0 {
            configuration.timeoutIntervalForResource = maximumTime
            configuration.timeoutIntervalForRequest = maximumTime
        }
        if connectTime > 0 {
            configuration.connectTimeout = connectTime
            configuration.tlsTimeout = connectTime
        }
        if let connections { configuration.httpMaximumConnectionsPerHost = connections }
        configuration.maximumBytesReceivedPerSecond = rate
        configuration.maximumBytesSentPerSecond = rate
        return configuration
    }
}
