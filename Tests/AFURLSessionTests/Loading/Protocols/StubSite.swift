/// A host that exists in one test only, and what the class says for it.
final class StubSite: Sendable {
    typealias Handler = @Sendable (StubProtocol) -> Void

    struct Log: Sendable {
        var started = 0
        var stopped = 0
        var requests: [URLRequest] = []
        var cached: [CachedURLResponse?] = []
    }

    let host = "stub-\(UUID().uuidString.lowercased())"
    let log = Watched(Log())
    fileprivate static let handlers = Lock<[String: (site: Watched<Log>, handler: Handler)]>([:])

    init(_ handler: @escaping Handler = { $0.answer("hello") }) {
        StubSite.handlers.withLock { $0[host] = (log, handler) }
    }

    deinit {
        StubSite.handlers.withLock { $0[host] = nil }
    }

    func url(_ path: String = "/", scheme: String = "http") -> URL {
        URL(string: "\(scheme)://\(host)\(path)") ?? URL(fileURLWithPath: path)
    }

    func stopped(_ count: Int = 1) async throws {
        try await log.wait("\(count) stops") { $0.stopped >= count }
    }

    static func session(
        delegate: (any URLSessionDelegate)? = nil,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        URLSession.loopback(delegate: delegate) {
            $0.protocolClasses = [StubProtocol.self]
            configure($0)
        }
    }
}

/// Answers for the sites of this process, in the way most such classes are written.
final class StubProtocol: URLProtocol, @unchecked Sendable {
    private static func entry(of request: URLRequest) -> (site: Watched<StubSite.Log>, handler: StubSite.Handler)? {
        let host = URLComponents(string: request.url?.absoluteString ?? "")?.host
        return host.flatMap { host in StubSite.handlers.withLock { $0[host] } }
    }

    override class func canInit(with request: URLRequest) -> Bool { entry(of: request) != nil }

    override func startLoading() {
        guard let entry = StubProtocol.entry(of: request) else { return }
        entry.site.change { log in
            log.started += 1
            log.requests.append(request)
            log.cached.append(cachedResponse)
        }
        entry.handler(self)
    }

    override func stopLoading() {
        StubProtocol.entry(of: request)?.site.change { $0.stopped += 1 }
    }

    // MARK: - For handlers

    func response(_ status: Int = 200, _ fields: [String: String] = [:]) -> URLResponse {
        let url = request.url ?? URL(fileURLWithPath: "/")
        return HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
            ?? URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }

    func begin(_ response: URLResponse? = nil, _ policy: URLCache.StoragePolicy = .notAllowed) {
        client?.urlProtocol(self, didReceive: response ?? self.response(), cacheStoragePolicy: policy)
    }

    func load(_ text: String) { load(Data(text.utf8)) }

    func load(_ data: Data) { client?.urlProtocol(self, didLoad: data) }

    func finish() { client?.urlProtocolDidFinishLoading(self) }

    func fail(_ error: any Error) { client?.urlProtocol(self, didFailWithError: error) }

    func answer(_ text: String, _ status: Int = 200, _ fields: [String: String] = [:]) {
        begin(response(status, fields))
        load(text)
        finish()
    }

    func redirect(to url: URL, _ status: Int = 302, _ change: (inout URLRequest) -> Void = { _ in }) {
        var request = request
        request.url = url
        change(&request)
        client?.urlProtocol(self, wasRedirectedTo: request, redirectResponse: response(status))
    }
}
