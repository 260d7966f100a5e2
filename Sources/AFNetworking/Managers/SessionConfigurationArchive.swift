import Foundation

/// The plain values of a session's configuration, for an archive. Stores, monitors, credentials, proxies and TLS
/// settings are not archived; header fields are.
struct SessionConfigurationArchive: Codable {
    private static let key = "sessionConfiguration"

    private var timeoutForRequest: Double
    private var timeoutForResource: Double
    private var cachePolicy: UInt
    private var headers: [String: String]
    private var usesPipelining: Bool
    private var connectionsPerHost: Int
    private var setsCookies: Bool
    private var cookiePolicy: UInt
    private var waitsForConnectivity: Bool
    private var allowsCellularAccess: Bool
    private var networkServiceType: UInt
    private var maximumBodyInMemory: Int

    init(_ configuration: URLSessionConfiguration) {
        timeoutForRequest = configuration.timeoutIntervalForRequest
        timeoutForResource = configuration.timeoutIntervalForResource
        cachePolicy = configuration.requestCachePolicy.rawValue
        headers = [:]
        for case (let name as String, let value) in configuration.httpAdditionalHeaders ?? [:] {
            headers[name] = "\(value)"
        }
        usesPipelining = configuration.httpShouldUsePipelining
        connectionsPerHost = configuration.httpMaximumConnectionsPerHost
        setsCookies = configuration.httpShouldSetCookies
        cookiePolicy = configuration.httpCookieAcceptPolicy.rawValue
        waitsForConnectivity = configuration.waitsForConnectivity
        allowsCellularAccess = configuration.allowsCellularAccess
        networkServiceType = configuration.networkServiceType.rawValue
        maximumBodyInMemory = configuration.maximumBodyInMemory
    }

    func write(to coder: NSCoder) {
        guard let data = try? ArchivedJSON.data(self) else { return }
        coder.encode(data as NSData, forKey: SessionConfigurationArchive.key)
    }

    /// A default configuration with the values of the archive; nil if there are none.
    static func read(_ coder: NSCoder) -> URLSessionConfiguration? {
        guard let data = coder.decodeObject(of: NSData.self, forKey: key) as Data?,
            let archive = try? ArchivedJSON.value(SessionConfigurationArchive.self, in: data)
        else { return nil }
        return archive.configuration
    }

    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = timeoutForRequest
        configuration.timeoutIntervalForResource = timeoutForResource
        configuration.requestCachePolicy = URLRequest.CachePolicy(rawValue: cachePolicy) ?? .useProtocolCachePolicy
        if !headers.isEmpty { configuration.httpAdditionalHeaders = headers }
        configuration.httpShouldUsePipelining = usesPipelining
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        configuration.httpShouldSetCookies = setsCookies
        if let policy = HTTPCookie.AcceptPolicy(rawValue: cookiePolicy) {
            configuration.httpCookieAcceptPolicy = policy
        }
        configuration.waitsForConnectivity = waitsForConnectivity
        configuration.allowsCellularAccess = allowsCellularAccess
        if let type = URLRequest.NetworkServiceType(rawValue: networkServiceType) {
            configuration.networkServiceType = type
        }
        configuration.maximumBodyInMemory = maximumBodyInMemory
        return configuration
    }
}
