import AFNetworking
import AFURLSession

/// The options that make a session. Groups with equal options share a session and its connections.
struct SessionOptions: Equatable {
    let security: SecurityOptions
    let proxy: ProxyOptions
    let unixSocket: String?
    let overrides: [HostOverride]
    /// Whether there is a `--connect-to`.
    let connectsElsewhere: Bool
    let family: AddressFamily?
    let continueTime: Double?
    /// Whether no `--header` takes the field Expect out.
    let keepsBodiesBack: Bool
    let source: String?
    let probeTime: Double?
    /// In seconds; 0 is no limit.
    let connectTime: Double
    let rate: Int?
    /// How many connections a host may have; nil for the usual number.
    let connections: Int?
    /// The folder of the cache; nil for no cache.
    let cache: String?
    /// The login of the group that answers challenges. With basic, each request has its login already.
    let login: Login?
    let loginScheme: LoginScheme
    /// Whether messages about servers that a policy only reports are left out.
    let isSilent: Bool

    init(_ arguments: Arguments) {
        security = arguments.security
        proxy = arguments.proxy
        unixSocket = arguments.unixSocket
        overrides = arguments.overrides
        connectsElsewhere = !arguments.connectsTo.isEmpty
        family = arguments.family
        continueTime = arguments.continueTime
        keepsBodiesBack = !arguments.fields.map(\.lowercased).contains(.removed(name: "expect"))
        source = arguments.source
        probeTime = arguments.probeTime
        connectTime = arguments.connectTime
        connections = arguments.isParallel ? arguments.parallelMaximum ?? TransferGroup.usualMaximum : arguments.parts
        rate = arguments.rate
        cache = arguments.cacheMode == .noStore ? nil : arguments.cache
        login = arguments.loginScheme == .basic ? nil : arguments.login
        loginScheme = login == nil ? .basic : arguments.loginScheme
        isSilent = arguments.security.policy != nil && arguments.isSilent && !arguments.showsErrors
    }

    /// Whether both make the same session.
    ///
    /// `==` compares text as Unicode does: an accented letter equals its letter with a combining accent. For servers and
    /// the file system they differ, so their bytes must be the same too.
    func makesSame(as other: SessionOptions) -> Bool {
        self == other && String(reflecting: self).utf8.elementsEqual(String(reflecting: other).utf8)
    }

    /// A longer body waits for the server to say that it wants it, as in curl: one that is refused, or needs a password
    /// first, is not sent in vain.
    private static let largeBody: Int64 = 1 << 20

    /// The configuration without files, cookies and caches.
    var plainConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.hostOverrides = overrides
        configuration.unixDomainSocketPath = unixSocket
        configuration.connectionSource = source
        configuration.peerProbeInterval = probeTime
        configuration.addressFilter = family?.filter
        if keepsBodiesBack { configuration.expectsContinueAbove = Self.largeBody }
        if let continueTime { configuration.continueTimeout = continueTime }
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
