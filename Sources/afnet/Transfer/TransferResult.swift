import AFURLSession
import Foundation

/// The result of one URL.
struct TransferResult {
    /// The URL as on the command line.
    let text: String
    /// The place of its word on the command line.
    var place = 0
    /// How many retries there were.
    var retries = 0
    /// The file with the body; nil for standard output.
    var file: String?
    /// The last request; nil if there was none.
    var request: URLRequest?
    var failure: TransferFailure?
    var metrics: URLSessionTaskMetrics?
    /// The last response.
    var response: HTTPURLResponse?
    /// The server, if its trust was evaluated.
    var server: ServerTrust?
    /// How many bytes of the body arrived.
    var received: Int64 = 0

    init(_ text: String, failure: TransferFailure? = nil) {
        self.text = text
        self.failure = failure
    }

    var code: ExitCode { failure?.code ?? .done }

    /// One transaction for each request that was sent, or was to be sent.
    var transactions: [URLSessionTaskTransactionMetrics] { metrics?.transactionMetrics ?? [] }

    /// The last transaction on the network.
    var exchange: URLSessionTaskTransactionMetrics? { transactions.last { $0.resourceFetchType != .localCache } }

    /// The URL after redirects.
    var effectiveURL: URL? { transactions.last?.request.url ?? request?.url }

    /// The target of a redirect that was not followed.
    var redirectURL: URL? {
        guard let response, (300..<400).contains(response.statusCode),
            let location = response.value(forHTTPHeaderField: "Location")
        else { return nil }
        let url = URL(string: location, relativeTo: response.url)?.absoluteURL
        // A URL without a path asks for the root.
        guard let url, url.host != nil, url.path.isEmpty, url.query == nil, url.fragment == nil else { return url }
        return URL(string: url.absoluteString + "/")
    }

    var connectionsMade: Int { transactions.count { !$0.isReusedConnection && $0.remoteAddress != nil } }

    /// The seconds from the beginning of the last exchange.
    func seconds(to date: KeyPath<URLSessionTaskTransactionMetrics, Date?>) -> Double {
        guard let exchange, let start = exchange.fetchStartDate, let end = exchange[keyPath: date] else { return 0 }
        return max(0, end.timeIntervalSince(start))
    }

    // MARK: - Heads

    /// The head of a response, and its kind.
    struct Head {
        enum Kind: String, Encodable { case informational, connect, redirect, auth, final }

        let kind: Kind
        let response: HTTPURLResponse
        var trailers: [(name: String, value: String)] = []
    }

    /// The heads of a transfer without a response.
    static func heads(of metrics: URLSessionTaskMetrics) -> [Head] {
        var result = TransferResult("")
        result.metrics = metrics
        return result.heads
    }

    /// All heads in the order of arrival.
    var heads: [Head] {
        transactions.indices.flatMap { index in
            let transaction = transactions[index]
            var heads: [Head] = []
            if let answer = transaction.proxyResponse { heads.append(Head(kind: .connect, response: answer)) }
            heads += transaction.informationalResponses.map { Head(kind: .informational, response: $0) }
            guard let response = transaction.response as? HTTPURLResponse, !isOfTunnel(transaction) else {
                return heads
            }
            let isLast = index == transactions.count - 1
            if !isLast, isConfirmation(response, before: index + 1) { return heads }
            let kind = isLast ? Head.Kind.final : Self.kind(of: response.statusCode)
            heads.append(Head(kind: kind, response: response, trailers: transaction.trailerFields))
            return heads
        }
    }

    /// Whether the proxy refused the tunnel, so that its reply stands in place of the response.
    private func isOfTunnel(_ transaction: URLSessionTaskTransactionMetrics) -> Bool {
        transaction.proxyResponse != nil && transaction.requestStartDate == nil
    }

    /// Whether a 304 of the server confirmed the cached response.
    private func isConfirmation(_ response: HTTPURLResponse, before next: Int) -> Bool {
        response.statusCode == 304 && transactions[next].resourceFetchType == .localCache
    }

    private static func kind(of status: Int) -> Head.Kind {
        switch status {
        case 300..<400: .redirect
        case 401, 407: .auth
        default: .final
        }
    }

    enum CacheUse: String, Encodable { case no, hit, revalidated }

    var cacheUse: CacheUse {
        guard let last = transactions.last, last.resourceFetchType == .localCache else { return .no }
        let former = transactions.dropLast().last?.response as? HTTPURLResponse
        return former.map { isConfirmation($0, before: transactions.count - 1) } ?? false ? .revalidated : .hit
    }
}
