/// A connection's delegate that writes down everything it hears, in order.
final class ConnectionLog: URLConnectionDataDelegate {
    enum Event: Hashable, Sendable {
        case willSend(String, redirect: Int?)
        case challenge(String)
        case sent(Int, of: Int)
        case needsStream
        case response(Int)
        case data(String)
        case willCache
        case finished
        case failed(Int)
    }

    let events = Watched<[Event]>([])
    let body = Lock(Data())
    let responses = Lock<[URLResponse]>([])
    let error = Lock<URLError?>(nil)
    /// Threads by what they are, in order.
    private let hook: @Sendable (Event, URLConnection) -> Void
    private let redirect: @Sendable (URLRequest, URLResponse?) -> URLRequest?
    private let answer: @Sendable (URLAuthenticationChallenge) -> Void
    private let stream: @Sendable () -> InputStream?
    private let identity: Data?
    private let usesStorage: Bool

    init(
        usesStorage: Bool = true,
        identity: Data? = nil,
        redirect: @escaping @Sendable (URLRequest, URLResponse?) -> URLRequest? = { request, _ in request },
        stream: @escaping @Sendable () -> InputStream? = { nil },
        answer: @escaping @Sendable (URLAuthenticationChallenge) -> Void = {
            $0.sender?.performDefaultHandling(for: $0)
        },
        hook: @escaping @Sendable (Event, URLConnection) -> Void = { _, _ in }
    ) {
        self.usesStorage = usesStorage
        self.identity = identity
        self.redirect = redirect
        self.stream = stream
        self.answer = answer
        self.hook = hook
    }

    private func note(_ event: Event, _ connection: URLConnection) {
        events.change { $0.append(event) }
        hook(event, connection)
    }

    /// Waits for the end, and returns everything heard.
    @discardableResult
    func ended() async throws -> [Event] {
        try await events.wait("the end") { $0.contains { $0.isEnd } }
    }

    var text: String { String(decoding: body.withLock { $0 }, as: UTF8.self) }

    func connection(_ connection: URLConnection, didFailWithError error: any Error) {
        self.error.withLock { $0 = error as? URLError }
        note(.failed((error as? URLError)?.code.rawValue ?? 0), connection)
    }

    func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool { usesStorage }

    func connectionTrustIdentity(_ connection: URLConnection) -> Data? { identity }

    func connection(_ connection: URLConnection, willSendRequestFor challenge: URLAuthenticationChallenge) {
        note(.challenge(challenge.protectionSpace.authenticationMethod), connection)
        answer(challenge)
    }

    func connection(
        _ connection: URLConnection,
        willSend request: URLRequest,
        redirectResponse response: URLResponse?
    ) -> URLRequest? {
        note(
            .willSend(request.url?.path ?? "", redirect: (response as? HTTPURLResponse)?.statusCode),
            connection
        )
        return redirect(request, response)
    }

    func connection(_ connection: URLConnection, didReceive response: URLResponse) {
        responses.withLock { $0.append(response) }
        note(.response((response as? HTTPURLResponse)?.statusCode ?? 0), connection)
    }

    func connection(_ connection: URLConnection, didReceive data: Data) {
        body.withLock { $0.append(data) }
        note(.data(String(decoding: data, as: UTF8.self)), connection)
    }

    func connection(_ connection: URLConnection, needNewBodyStream request: URLRequest) -> InputStream? {
        note(.needsStream, connection)
        return stream()
    }

    func connection(
        _ connection: URLConnection,
        didSendBodyData bytesWritten: Int,
        totalBytesWritten: Int,
        totalBytesExpectedToWrite: Int
    ) {
        note(.sent(totalBytesWritten, of: totalBytesExpectedToWrite), connection)
    }

    func connection(
        _ connection: URLConnection,
        willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse? {
        note(.willCache, connection)
        return cachedResponse
    }

    func connectionDidFinishLoading(_ connection: URLConnection) {
        note(.finished, connection)
    }
}

extension ConnectionLog.Event {
    var isEnd: Bool {
        switch self {
        case .finished, .failed: true
        default: false
        }
    }
}

extension ConnectionSessions {
    /// Connections of its own, so that no test sees another's.
    static func loopback(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> ConnectionSessions {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        return ConnectionSessions(configuration: configuration, in: .system)
    }

    /// A connection that is called on the network thread.
    func start(_ request: URLRequest, _ delegate: any URLConnectionDelegate) throws -> URLConnection {
        guard let connection = URLConnection(request: request, delegate: delegate, in: self) else {
            throw URLError(.badURL)
        }
        connection.schedule(onNetworkThreadIn: [.default])
        connection.start()
        return connection
    }
}
