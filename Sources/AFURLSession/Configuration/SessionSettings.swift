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
    var kept: (any KeptInterceptors)?
}

/// A configuration as a session uses it: a value, with every setting in its valid range.
struct SessionSettings: Sendable {
    static let defaultResourceTimeout: TimeInterval = 7 * 24 * 60 * 60

    var timeoutIntervalForRequest = LoopInterval.usualTimeout
    var timeoutIntervalForResource = SessionSettings.defaultResourceTimeout
    var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    var additionalHeaders: [String: String] = [:]
    var maximumBodyInMemory = 1 << 30
    var expectsContinueAbove: Int64?
    var unixDomainSocketPath: String?
    var callsBackOnNetworkThread = false
    /// Whether the delegate allows each response, so that the session need not wait for its answer.
    var allowsEveryResponse = false
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
    var pool = PoolSettings()
    var link = LinkRules()
    var waitsForConnectivity = false
    var protocols = ProtocolSettings()
    var monitoring = MonitoringSettings()
    var interception = InterceptionSettings()
    var background = BackgroundSettings()
    var networks = NetworkHints()

    /// Read once: another thread may change the environment during a read.
    static let systemTemporaryFolder =
        plainFolder(ProcessVariables.text(of: "TMPDIR")) ?? FileManager.default.temporaryDirectory.path

    /// The folder that Foundation takes for temporary files, found without its URLs, whose first path costs as much as
    /// ten requests. Nil for a path that is not plain: Foundation has to say.
    ///
    /// - Parameter variable: The value of `TMPDIR`.
    static func plainFolder(_ variable: String?) -> String? {
        guard let variable else { return "/tmp" }
        var former: UInt8?
        for byte in variable.utf8 {
            switch byte {
            case UInt8(ascii: "/") where former != UInt8(ascii: "/"): break
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                guard former != nil else { return nil }
            default: return nil
            }
            former = byte
        }
        guard variable.utf8.count > 1 else { return nil }
        return former == UInt8(ascii: "/") ? String(variable.dropLast()) : variable
    }

    var folderForDownloads: String { temporaryFolder ?? SessionSettings.systemTemporaryFolder }

    var requestTimeout: LoopInterval {
        LoopInterval(timeout: timeoutIntervalForRequest)
    }

    var resourceTimeout: LoopInterval {
        LoopInterval(timeout: timeoutIntervalForResource, default: SessionSettings.defaultResourceTimeout)
    }
}
