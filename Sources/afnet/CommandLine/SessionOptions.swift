import AFURLSession
import Foundation

/// What makes a session. Groups that agree on all of it share one, and so its connections.
struct SessionOptions: Equatable {
    let security: SecurityOptions
    let proxy: ProxyOptions
    let unixSocket: String?
    /// In seconds; 0 is no limit.
    let maximumTime: Double
    let connectTime: Double
    let usesCookies: Bool
    let isCompressed: Bool
    /// A folder; nil for no cache.
    let cache: String?
    let netrc: String?
    /// Somebody has named a password for whoever asks.
    let mayTellPasswords: Bool

    init(_ arguments: Arguments) {
        security = arguments.security
        proxy = arguments.proxy
        unixSocket = arguments.unixSocket
        maximumTime = arguments.maximumTime
        connectTime = arguments.connectTime
        usesCookies = arguments.cookies.isOn
        isCompressed = arguments.isCompressed
        cache = arguments.cacheMode == .noStore ? nil : arguments.cache
        netrc = arguments.netrc
        mayTellPasswords = arguments.netrc != nil
    }

    /// Without what files say, and without memory.
    var plainConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // Named here, although the session has its own, so that --verbose can show what is sent.
        configuration.httpAdditionalHeaders = Dictionary(uniqueKeysWithValues: Arguments.sessionFields)
        configuration.unixDomainSocketPath = unixSocket
        if maximumTime > 0 {
            configuration.timeoutIntervalForResource = maximumTime
            configuration.timeoutIntervalForRequest = maximumTime
        }
        if connectTime > 0 {
            configuration.connectTimeout = connectTime
            configuration.tlsTimeout = connectTime
        }
        return configuration
    }
}
