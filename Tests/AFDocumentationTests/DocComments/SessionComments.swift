import AFNetworking
import AFURLSession
import Foundation

private func show(_ data: Data) {}
private func show(_ text: String) {}
private func show(_ message: URLSessionWebSocketTask.Message) {}
private func report(_ error: (any Error)?) {}

private struct Item: Decodable {}
private func add(_ item: Item) {}
private func finish() {}

/// What doc comments of `AFURLSession` and `AFTLS` show. Compiled, and not run.
private enum SessionComments {
    static func identity(_ passphrase: String) throws {
        var identity = try ClientIdentity(
            certificatePath: "/etc/my-service/client.pem",
            keyPath: "/etc/my-service/client.key",
            passphrase: passphrase
        )
        identity.hosts = ["*.internal.example.com"]
        _ = identity
    }

    static func events(_ session: URLSession, _ request: URLRequest) async throws {
        for try await event in session.events(for: request) { show(event.data) }
        for try await item in session.jsonLines(of: Item.self, for: request) { add(item) }
        let source = EventStreamReader(request, session: session) { event in
            show(event.data)
        } completion: { error in
            report(error)
        }
        source.resume()
    }

    static func refused(_ session: URLSession, _ question: URLRequest) async throws {
        struct Problem: Decodable, Error {}
        do {
            for try await event in session.events(for: question) { show(event.data) }
        } catch let error as URLError {
            guard let refused = error.refusedResponse else { throw error }
            if refused.response.statusCode == 429 { show(refused.text) }
            throw try refused.decode(Problem.self)
        }
    }

    static func looked(_ session: URLSession, _ question: URLRequest) async throws {
        let (bytes, response) = try await session.bytes(for: question)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        for try await event in bytes.events { show(event.data) }
    }

    static func messages(_ session: URLSession, _ request: URLRequest) async throws {
        let socket = ReconnectingWebSocket(request, session: session)
        for try await message in socket.messages { show(message) }
    }

    static func netrc(_ configuration: URLSessionConfiguration) throws {
        configuration.netrc = try NetrcFile(contentsOf: URL(fileURLWithPath: "/home/me/.netrc"))
    }

    static func token(_ storage: URLCredentialStorage, _ token: String) {
        let space = URLProtectionSpace(
            host: "api.example.com",
            port: 443,
            protocol: "https",
            realm: nil,
            authenticationMethod: NSURLAuthenticationMethodHTTPBearer
        )
        storage.setDefaultCredential(URLCredential(bearerToken: token), for: space)
    }

    static func canned(_ configuration: URLSessionConfiguration) {
        final class CannedProtocol: URLProtocol, @unchecked Sendable {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.path == "/user" }

            override func startLoading() {
                guard let url = request.url,
                    let response = HTTPURLResponse(
                        url: url,
                        statusCode: 200,
                        httpVersion: "HTTP/1.1",
                        headerFields: ["Content-Type": "application/json"]
                    )
                else { return }
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client?.urlProtocol(self, didLoad: Data(#"{"name": "Ada"}"#.utf8))
                client?.urlProtocolDidFinishLoading(self)
            }
        }

        configuration.protocolClasses = [CannedProtocol.self]
    }

    static func connection(_ url: URL) {
        final class Page: URLConnectionDataDelegate {
            func connection(_ connection: URLConnection, didReceive data: Data) { show(data) }
            func connectionDidFinishLoading(_ connection: URLConnection) { finish() }
        }

        let connection = URLConnection(request: URLRequest(url: url), delegate: Page())
        _ = connection
    }

    static func monitor() async {
        let monitor = NetworkMonitor()
        print(monitor.currentPath.status)
        for await path in monitor.paths {
            print(path.status, path.interface?.name ?? "-", path.reason ?? "")
        }
    }

    static func executor(_ session: URLSession, _ urls: [URL]) async throws {
        @Sendable func handle(_ answer: (Data, URLResponse)) async throws {}

        try await withTaskExecutorPreference(URLSession.networkExecutor) {
            for url in urls { try await handle(session.data(from: url)) }
        }
    }

    static func recorder(_ configuration: URLSessionConfiguration, _ file: URL) throws {
        let recorder = HARRecorder()
        configuration.eventMonitors = [recorder]

        try recorder.archive().write(to: file)
    }

    static func proxies(_ secret: String) throws {
        let office = try ProxyServer("http://proxy.example.com:3128")
        let lab = try ProxyServer(.socks5h, host: "::1", port: 1080, user: "me", password: secret)
        _ = (office, lab)
    }

    static func bytes(_ session: URLSession, _ url: URL, _ handle: (String) -> Void) async throws {
        let (bytes, response) = try await session.bytes(from: url)
        for try await line in bytes.lines { handle(line) }
        _ = response
    }

    static func collector(_ session: URLSession, _ request: URLRequest) async throws {
        let collector = TaskMetricsCollector()
        let (data, response) = try await session.data(for: request, delegate: collector)
        print(collector.metrics?.transactionMetrics.count ?? 0)
        _ = (data, response)
    }

    static func tls(_ configuration: URLSessionConfiguration) throws {
        var tls = TLSConfiguration()
        tls.anchors = try .file("/etc/my-company/root.pem")
        configuration.tls = tls
    }

    static func fingerprint(_ allowedHost: String, _ isStrict: Bool) -> [UInt8] {
        var fingerprint = TrustFingerprint("com.example.LabEvaluator")
        fingerprint.add(allowedHost.utf8)
        fingerprint.add([isStrict ? 1 : 0])
        return fingerprint.bytes
    }

    static func webSocket(_ session: URLSession) async throws {
        let task = session.webSocketTask(with: URL(string: "wss://chat.example.com/")!)
        task.resume()
        try await task.send(.string("hello"))
        for try await message in task.messages { show(message) }
    }

    static func reconnecting(
        _ request: URLRequest,
        _ session: URLSession,
        _ listener: any ReconnectingWebSocketDelegate
    ) async throws {
        let socket = ReconnectingWebSocket(request, session: session, delegate: listener)
        socket.resume()
        try await socket.send(.string("hello"))
    }

    static func stream(_ session: URLSession) async throws {
        let task = session.streamTask(withHostName: "mail.example.com", port: 25)
        task.resume()
        let (greeting, _) = try await task.readData(ofMinLength: 1, maxLength: 512, timeout: 30)
        _ = greeting
    }

    static func secrets() {
        SecretNames.added.insert("X-Tenant-Pass")
    }

    static func addresses(_ configuration: URLSessionConfiguration) {
        configuration.addressFilter = .publicAddressesOnly
        configuration.addressFilter = AddressFilter { $0.role == .proxy || $0.address.hasPrefix("10.1.") }
    }

    static func adapter(_ configuration: URLSessionConfiguration) {
        configuration.requestInterceptors = [
            AdaptingInterceptor { request, _ in
                var request = request
                request.setValue(UUID().uuidString, forHTTPHeaderField: "X-Request-ID")
                return request
            }
        ]
    }

    static func retrier(_ request: inout URLRequest) {
        request.requestInterceptors = [
            RetryingInterceptor { attempt in
                attempt.status == 409 && attempt.number < 3 ? .retry(after: .seconds(1)) : .giveUp
            }
        ]
    }

    static func interceptor(_ configuration: URLSessionConfiguration) {
        struct Versioned: TaskInterceptor {
            func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
                var request = request
                request.setValue("2", forHTTPHeaderField: "X-Api-Version")
                return request
            }
        }

        configuration.requestInterceptors = [Versioned(), RetryRules()]
    }

    static func tokens(_ configuration: URLSessionConfiguration, _ session: URLSession) throws {
        let tokens = try TokenInterceptor(for: [URL(string: "https://api.example.com")!]) { old in
            var request = URLRequest(url: URL(string: "https://login.example.com/token")!)
            request.httpMethod = "POST"
            let (data, _) = try await session.data(for: request)
            return String(decoding: data, as: UTF8.self)
        }
        configuration.requestInterceptors = [tokens]
    }

    static func authority(_ connection: URLConnection) throws {
        var tls = TLSConfiguration()
        tls.anchors = try .file("/etc/my-company/root.pem")
        connection.tls = tls
    }
}
