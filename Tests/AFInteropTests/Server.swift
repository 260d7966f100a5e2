import AFURLSession
import Foundation
import Testing

/// The servers that `Tests/Support/Servers/with-servers` started, as its environment describes them.
enum Server: String, CaseIterable {
    case httpbin = "AFNET_INTEROP_HTTPBIN"
    case sink = "AFNET_INTEROP_SINK"
    case proxy = "AFNET_INTEROP_PROXY"
    case lockedProxy = "AFNET_INTEROP_PROXY_LOCKED"
    case socks = "AFNET_INTEROP_SOCKS"
    case lockedSOCKS = "AFNET_INTEROP_SOCKS_LOCKED"
    case microsocks = "AFNET_INTEROP_MICROSOCKS"
    case websockets = "AFNET_INTEROP_WEBSOCKETS"
    case securedWebsockets = "AFNET_INTEROP_WEBSOCKETS_TLS"
    case aiohttp = "AFNET_INTEROP_AIOHTTP"
    case securedAiohttp = "AFNET_INTEROP_AIOHTTP_TLS"

    /// What those ask for that are locked.
    static let user = "proxyuser"
    static let password = "two.words-77"

    /// True where a server that is missing must not go unnoticed.
    static var areAllRequired: Bool { ProcessInfo.processInfo.environment["AFNET_INTEROP"] == "everything" }

    var isServing: Bool { value != nil }

    private var value: String? { ProcessInfo.processInfo.environment[rawValue] }

    /// A place on a server that is no proxy.
    func url(_ path: String) throws -> URL {
        let base = try #require(value)
        return try #require(URL(string: base + path))
    }

    /// The port of a proxy.
    var port: Int { get throws { try #require(value.flatMap(Int.init)) } }
}

extension URLSession {
    func get(
        _ path: String,
        from server: Server,
        _ change: (inout URLRequest) -> Void = { _ in }
    ) async throws -> Answer {
        var request = URLRequest(url: try server.url(path))
        change(&request)
        return try Answer(await data(for: request))
    }
}

extension Answer {
    /// The object that the body is.
    var json: [String: Any] {
        get throws { try #require(JSONSerialization.jsonObject(with: body) as? [String: Any]) }
    }

    /// The bytes httpbin says it was sent.
    var echoed: Data {
        get throws {
            let text = try #require(json["data"] as? String)
            let prefix = "data:application/octet-stream;base64,"
            guard text.hasPrefix(prefix) else { return Data(text.utf8) }
            return try #require(Data(base64Encoded: String(text.dropFirst(prefix.count))))
        }
    }

    /// The request fields httpbin says it was sent.
    var sentFields: [String: String] { get throws { try #require(json["headers"] as? [String: String]) } }
}

/// Keeps what a task says about itself, and says who we are.
final class MetricsKeeper: URLSessionTaskDelegate, Sendable {
    private let credential: URLCredential?
    private let kept = Kept()

    init(_ credential: URLCredential? = nil) {
        self.credential = credential
    }

    private final class Kept: @unchecked Sendable {
        let lock = NSLock()
        var metrics: URLSessionTaskMetrics?
    }

    var transactions: [URLSessionTaskTransactionMetrics] {
        kept.lock.withLock { kept.metrics?.transactionMetrics ?? [] }
    }

    /// The statuses of all responses, in order.
    var statuses: [Int] { transactions.compactMap { ($0.response as? HTTPURLResponse)?.statusCode } }

    /// Where the last response came from.
    var source: URLSessionTaskMetrics.ResourceFetchType? { transactions.last?.resourceFetchType }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let isNew = credential != nil && challenge.previousFailureCount == 0
        completionHandler(isNew ? .useCredential : .performDefaultHandling, isNew ? credential : nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        kept.lock.withLock { kept.metrics = metrics }
    }
}

/// Follows no redirect.
final class RedirectRefusal: URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
