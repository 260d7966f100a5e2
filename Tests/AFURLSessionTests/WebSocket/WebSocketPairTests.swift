@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

/// What else a session has, and WebSockets: each pair against a real server on the loopback interface.
@Suite(.serialized)
struct WebSocketPairTests {
    let server: TestServer
    private let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
        server.install(.webSockets)
    }

    private func url(_ path: String, _ scheme: String = "ws", on server: TestServer? = nil, host: String = "127.0.0.1")
        throws -> URL
    {
        try #require(URL(string: "\(scheme)://\(host):\((server ?? self.server).port)\(path)"))
    }

    /// Sends a word and receives it again.
    private func echo(_ task: URLSessionWebSocketTask, _ word: String = "hello") async throws {
        task.resume()
        try await task.send(.string(word))
        #expect(try await task.receive() == .string(word))
        task.cancel(with: .normalClosure, reason: nil)
    }

    private func failure(of task: URLSessionWebSocketTask) async -> URLError? {
        do {
            try await task.open()
            Issue.record("the WebSocket is open")
            return nil
        } catch {
            return error as? URLError
        }
    }

    // MARK: - The request

    @Test func `http and https name WebSockets, too, and ws names nothing else`() async throws {
        try await echo(session.webSocketTask(with: url("/ws/echo", "http")))
        let task = session.webSocketTask(with: try url("/ws/echo"))
        try await echo(task)
        #expect(task.originalRequest?.url?.scheme == "ws" && task.response?.url?.scheme == "ws")

        let outcome = try await session.outcome(of: URLRequest(url: url("/ws/echo")))
        #expect(outcome.error?.code == .unsupportedURL)
    }

    @Test func `T-WSS-13 a response that opens a WebSocket is refused where none was asked for`() async throws {
        server.script(
            .expectHead,
            .send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        )
        let outcome = try await URLSession.loopback().outcome(of: server.url("/get"))
        #expect(outcome.error?.code == .cannotParseResponse)
    }

    @Test func `the fields of the handshake are the session's, the rest is the caller's`() async throws {
        var request = URLRequest(url: try url("/ws/echo"))
        request.setValue("mine", forHTTPHeaderField: "Sec-WebSocket-Key")
        request.setValue("permessage-mine", forHTTPHeaderField: "Sec-WebSocket-Extensions")
        request.setValue("8", forHTTPHeaderField: "Sec-WebSocket-Version")
        request.setValue("h2c", forHTTPHeaderField: "Upgrade")
        request.setValue("close", forHTTPHeaderField: "Connection")
        request.setValue("own.test", forHTTPHeaderField: "Host")
        request.setValue("token", forHTTPHeaderField: "X-Token")
        let session = URLSession.loopback { $0.httpAdditionalHeaders = ["Connection": "close", "X-All": "1"] }
        try await echo(session.webSocketTask(with: request))

        let fields = try #require(server.requests.first?.headers)
        #expect(fields["Upgrade"] == "websocket" && fields["Connection"] == "Upgrade")
        #expect(fields["Sec-WebSocket-Version"] == "13" && fields["Host"] == "own.test")
        #expect(fields["X-Token"] == "token" && fields["X-All"] == "1")
        #expect(fields["Sec-WebSocket-Extensions"] == "permessage-deflate; client_max_window_bits")
        #expect(fields["Sec-WebSocket-Key"] != "mine")
    }

    @Test func `what opens no WebSocket is not sent`() async throws {
        var post = URLRequest(url: try url("/ws/echo"))
        post.httpMethod = "POST"
        var body = URLRequest(url: try url("/ws/echo"))
        body.httpBody = Data("x".utf8)
        var old = URLRequest(url: try url("/ws/echo"))
        old.usesHTTP10 = true
        for request in [post, body, old] {
            #expect(await failure(of: session.webSocketTask(with: request))?.code == .badURL)
        }
        for names in [["a b"], [""], ["a", "a"], ["é"]] {
            let task = session.webSocketTask(with: try url("/ws/echo"), protocols: names)
            #expect(await failure(of: task)?.code == .badURL)
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `T-WSS-03 the server chooses among the subprotocols, those of the fields included`() async throws {
        var request = URLRequest(url: try url("/ws/echo?protocol=third,second"))
        request.setValue("second, third", forHTTPHeaderField: "Sec-WebSocket-Protocol")
        let task = session.webSocketTask(with: request, options: WebSocketOptions(protocols: ["first"]))
        #expect(try await task.open() == "second" || task.subprotocol == "third")
        #expect(server.requests.first?.headers["Sec-WebSocket-Protocol"] == "first, second, third")

        let unasked = session.webSocketTask(with: try url("/ws/bad/protocol"), protocols: ["mine"])
        #expect(await failure(of: unasked)?.loadFailure?.detail == .upgrade)
    }

    @Test(arguments: [
        "accept", "no-accept", "no-upgrade", "no-connection", "upgrade", "connection", "extension", "status",
    ])
    func `T-WSS-02 T-WSS-03 a handshake with a flaw opens nothing`(flaw: String) async throws {
        let task = URLSession.loopback().webSocketTask(with: try url("/ws/bad/\(flaw)"))
        let error = await failure(of: task)
        #expect(error?.code == .badServerResponse && error?.loadFailure?.detail == .upgrade, "\(error as Any)")
        #expect(error?.loadFailure?.message.contains("127.0.0.1") == true)
    }

    @Test(arguments: [200, 204, 400, 404, 426, 500]) func `another status is an error, and the response is there`(
        status: Int
    ) async throws {
        server.route("GET", "/no", ServerReply.status(status))
        let task = URLSession.loopback().webSocketTask(with: try url("/no"))
        #expect(await failure(of: task)?.code == .badServerResponse)
        #expect((task.response as? HTTPURLResponse)?.statusCode == status)
    }

    @Test(arguments: [
        "mask", "rsv", "opcode", "continuation", "interleaved", "length", "fragmented-control", "long-control", "utf8",
        "close-length", "close-utf8", "oversized",
    ])
    func `T-WSS-22 a server that breaks a rule is told so`(rule: String) async throws {
        let task = URLSession.loopback().webSocketTask(with: try url("/ws/bad/\(rule)"))
        task.resume()
        await #expect(throws: URLError.self) {
            for try await _ in task.messages {}
        }
        let code: UInt16 = rule == "utf8" || rule == "close-utf8" ? 1007 : rule == "oversized" ? 1009 : 1002
        try await eventually { server.connections.first?.frames.last?.closeCode == code }
    }

    // MARK: - Steps of the load

    @Test func `T-WSS-02 a server that asks for credentials gets them, and each request has its own key`() async throws
    {
        server.route("GET", "/secret") { request in
            guard request.headers["Authorization"] != nil else {
                return .status(401).header("WWW-Authenticate", "Basic realm=\"r\"")
            }
            return .webSocket { try $0.send(text: "in") }
        }
        let witness = Witness { $0.challenge = URLSession.AuthChallengeDisposition.password("me", "secret") }
        let task = URLSession.loopback(delegate: witness).webSocketTask(with: try url("/secret"))
        task.resume()
        #expect(try await task.receive() == .string("in"))
        let keys = server.requests.compactMap { $0.headers["Sec-WebSocket-Key"] }
        #expect(keys.count == 2 && Set(keys).count == 2)
    }

    @Test func `cookies go with the request, and those of the 101 are kept`() async throws {
        server.route("GET", "/ws") { _ in
            ServerReply.webSocket { try $0.send(text: $0.request.headers["Cookie"] ?? "none") }
                .header("Set-Cookie", "a=1")
        }
        let session = URLSession.loopback { $0.httpCookieStorage = HTTPCookieStorage() }
        for expected in ["none", "a=1"] {
            let task = session.webSocketTask(with: try url("/ws"))
            task.resume()
            #expect(try await task.receive() == .string(expected))
        }
    }

    @Test func `T-WSS-10 T-WSS-23 redirects are followed, and secrets stay in their origin`() async throws {
        let other = try TestServer()
        other.install(.webSockets)
        let target = try url("/ws/echo", on: other, host: "localhost").absoluteString
        server.route("GET", "/here", ServerReply.status(302).header("Location", "/ws/echo"))
        server.route("GET", "/there", ServerReply.status(307).header("Location", target))
        for path in ["/here", "/there"] {
            var request = URLRequest(url: try url(path))
            request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
            let task = session.webSocketTask(with: request, options: WebSocketOptions(protocols: ["token.secret"]))
            try await echo(task)
            #expect(task.currentRequest?.url?.scheme == "ws")
        }
        #expect(server.requests.allSatisfy { $0.headers["Authorization"] == "Bearer secret" })
        #expect(server.requests.allSatisfy { $0.headers["Sec-WebSocket-Protocol"] == "token.secret" })
        #expect(other.requests.count == 1 && other.requests[0].headers["Authorization"] == nil)
        #expect(other.requests.first?.headers["Sec-WebSocket-Protocol"] == nil)
    }

    @Test func `T-WSS-10 a delegate that leads to another origin takes no secrets there`() async throws {
        let other = try TestServer()
        other.install(.webSockets)
        let target = try url("/ws/echo", on: other, host: "localhost")
        server.route("GET", "/there", ServerReply.status(302).header("Location", "/ws/echo"))
        let witness = Witness {
            $0.redirect = { _, request, done in
                var request = request
                request.url = target
                done(request)
            }
        }
        var request = URLRequest(url: try url("/there"))
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        try await echo(URLSession.loopback(delegate: witness).webSocketTask(with: request))
        #expect(other.requests.count == 1 && other.requests[0].headers["Authorization"] == nil)
    }

    @Test
    func `T-WSS-10 T-WSS-23 a delegate that makes the request for another origin anew takes no subprotocol there`()
        async throws
    {
        let other = try TestServer()
        other.install(.webSockets)
        let target = try url("/ws/echo", on: other, host: "localhost").absoluteString
        server.route("GET", "/there", ServerReply.status(307).header("Location", target))
        let witness = Witness {
            $0.redirect = { _, request, done in done(request.url.map { URLRequest(url: $0) }) }
        }
        let session = URLSession.loopback(delegate: witness)

        let options = WebSocketOptions(protocols: ["token.secret"])
        try await echo(session.webSocketTask(with: URLRequest(url: url("/there")), options: options))

        #expect(server.requests.first?.headers["Sec-WebSocket-Protocol"] == "token.secret")
        #expect(other.requests.count == 1 && other.requests[0].headers["Sec-WebSocket-Protocol"] == nil)
    }

    @Test func `a delegate names the subprotocols that another origin may know`() async throws {
        let other = try TestServer()
        other.install(.webSockets)
        let target = try url("/ws/echo?protocol=chat", on: other, host: "localhost").absoluteString
        server.route("GET", "/there", ServerReply.status(307).header("Location", target))
        let witness = Witness {
            $0.redirect = { _, request, done in
                var request = request
                request.setValue("chat", forHTTPHeaderField: "Sec-WebSocket-Protocol")
                done(request)
            }
        }
        let options = WebSocketOptions(protocols: ["chat", "token.secret"])

        let task = URLSession.loopback(delegate: witness)
            .webSocketTask(with: URLRequest(url: try url("/there")), options: options)

        #expect(try await task.open() == "chat")
        #expect(other.requests.first?.headers["Sec-WebSocket-Protocol"] == "chat")
    }

    @Test func `a delegate that makes the redirected request anew opens a WebSocket all the same`() async throws {
        server.route("GET", "/there", ServerReply.status(302).header("Location", "/nowhere"))
        let target = try url("/ws/echo")
        let witness = Witness { $0.redirect = { _, _, done in done(URLRequest(url: target)) } }
        try await echo(URLSession.loopback(delegate: witness).webSocketTask(with: url("/there")))
    }

    @Test func `interceptors change the request, and send it again after a 503`() async throws {
        let count = Lock(0)
        server.route("GET", "/busy") { request in
            guard
                count.withLock({
                    $0 += 1; return $0
                }) > 1
            else { return .status(503) }
            return .webSocket { try $0.send(text: $0.request.headers["X-Added"] ?? "") }
        }
        struct Adding: TaskInterceptor {
            func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
                var request = URLRequest(url: try #require(request.url))
                request.setValue("yes", forHTTPHeaderField: "X-Added")
                return request
            }
        }
        var rules = RetryRules()
        rules.baseDelay = .milliseconds(1)
        let session = URLSession.loopback { [rules] in $0.requestInterceptors = [Adding(), rules] }
        let task = session.webSocketTask(with: try url("/busy"))
        task.resume()
        #expect(try await task.receive() == .string("yes"))
        #expect(count.withLock { $0 } == 2)
    }

    @Test func `a token is added where it belongs`() async throws {
        server.route("GET", "/ws", .webSocket { try $0.send(text: $0.request.headers["Authorization"] ?? "") })
        let tokens = try TokenInterceptor(for: [server.url("/")], token: "t") { _ in "t" }
        let session = URLSession.loopback { $0.requestInterceptors = [tokens] }
        let task = session.webSocketTask(with: try url("/ws"))
        task.resume()
        #expect(try await task.receive() == .string("Bearer t"))
    }

    @Test func `T-WSS-21 the cache neither stores nor answers a handshake`() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        server.route("GET", "/ws") { request in
            guard request.headers["Upgrade"] != nil else {
                return ServerReply.text("page").header("Cache-Control", "max-age=100")
            }
            return ServerReply.webSocket { try $0.send(text: "in") }.header("Cache-Control", "max-age=100")
        }
        let session = URLSession.loopback { $0.urlCache = cache }
        #expect(try await session.outcome(of: server.url("/ws")).text == "page")
        for _ in 0..<2 {
            let task = session.webSocketTask(with: try url("/ws"))
            task.resume()
            #expect(try await task.receive() == .string("in"))
        }
        #expect(try await session.outcome(of: server.url("/ws")).text == "page")
        #expect(server.requests.count == 3)
    }

    @Test func `T-WSS-14 a host that wants TLS gets it`() async throws {
        let site = try SecuredSite()
        site.server.install(.webSockets)
        let entry = HSTSStore.Entry(host: "localhost", includesSubdomains: false, expires: .distantFuture)
        let known = HSTSStore(entries: [try #require(entry)])
        let session = URLSession.loopback {
            $0.tls.anchors = .certificates([site.authority.certificate])
            $0.strictTransportSecurity = known
        }
        try await echo(session.webSocketTask(with: url("/ws/echo", on: site.server, host: "localhost")))
        #expect(site.server.connections.allSatisfy { $0.tls != nil })
    }

    // MARK: - Connections

    @Test func `T-WSS-11 a server that is not trusted gets no byte of a WebSocket`() async throws {
        let site = try SecuredSite()
        site.server.install(.webSockets)
        let task = URLSession.loopback().webSocketTask(
            with: try url("/ws/echo", "wss", on: site.server, host: "localhost")
        )
        #expect(await failure(of: task)?.loadFailure?.reason == .trust)
        #expect(site.server.requests.isEmpty)

        let session = URLSession.loopback { $0.tls.anchors = .certificates([site.authority.certificate]) }
        try await echo(session.webSocketTask(with: url("/ws/echo", "wss", on: site.server, host: "localhost")))
    }

    @Test(arguments: [true, false])
    func `T-WSS-12 a proxy passes a WebSocket on, and does not read it`(isSecured: Bool) async throws {
        let proxy = try TestProxy()
        let site = try SecuredSite()
        site.server.install(.webSockets)
        var proxies = ProxyConfiguration(try ProxyServer("http://me:secret@127.0.0.1:\(proxy.port)"))
        proxies.includesLoopback = true
        let session = URLSession.loopback { [proxies] in
            $0.proxies = proxies
            $0.tls.anchors = .certificates([site.authority.certificate])
        }
        let target =
            isSecured ? try url("/ws/echo", "wss", on: site.server, host: "localhost") : try url("/ws/echo", "ws")
        try await echo(session.webSocketTask(with: target))
        #expect(proxy.requests.map(\.method) == ["CONNECT"])
        // Plain requests of the same session are still read by the proxy.
        if !isSecured {
            _ = try await session.outcome(of: server.url("/ws/echo"))
            #expect(proxy.requests.map(\.method) == ["CONNECT", "GET"])
        }
    }

    @Test(arguments: [401, 407])
    func `T-AUT-17 T-WSS-12 a server behind a tunnel gets no password of the proxy`(status: Int) async throws {
        let field = status == 407 ? "Proxy-Authenticate" : "WWW-Authenticate"
        server.route("GET", "/ask", ServerReply.status(status).header(field, "Basic realm=\"x\""))
        var rules = ProxyRules()
        rules.authentication = .password(user: "me", password: "secret")
        let proxy = try TestProxy(rules: rules)
        var proxies = ProxyConfiguration(try ProxyServer("http://127.0.0.1:\(proxy.port)"))
        proxies.includesLoopback = true
        let asked = Watched<[String]>([])
        let witness = Witness {
            $0.challenge = { _, challenge, done in
                asked.change { $0.append("\(challenge.protectionSpace.isProxy())") }
                done(.useCredential, URLCredential(user: "me", password: "secret", persistence: .forSession))
            }
        }
        let session = URLSession.loopback(delegate: witness) { [proxies] in $0.proxies = proxies }
        server.route("GET", "/plain", .text("plain"))
        #expect(try await session.outcome(of: server.url("/plain")).text == "plain")

        try await echo(session.webSocketTask(with: url("/ws/echo")))
        _ = await failure(of: session.webSocketTask(with: try url("/ask")))

        let upgrades = server.requests.filter { $0.path != "/plain" }
        #expect(!upgrades.isEmpty && upgrades.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
        // The proxy asks for itself, and so does a server, unless it says 407.
        #expect(asked.value.contains("true") && asked.value.contains("false") == (status == 401))
    }

    @Test func `T-WSS-12 a digest for a server behind a tunnel is about the path`() async throws {
        let challenge = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
        server.route("GET", "/digest", ServerReply.status(401).header("WWW-Authenticate", challenge))
        let proxy = try TestProxy()
        var proxies = ProxyConfiguration(try ProxyServer("http://127.0.0.1:\(proxy.port)"))
        proxies.includesLoopback = true
        let witness = Witness { $0.challenge = URLSession.AuthChallengeDisposition.password("me", "secret") }
        let session = URLSession.loopback(delegate: witness) { [proxies] in $0.proxies = proxies }

        _ = await failure(of: session.webSocketTask(with: try url("/digest")))

        let answers = server.requests.compactMap { $0.headers["Authorization"] }
        #expect(!answers.isEmpty && answers.allSatisfy { $0.contains("uri=\"/digest\"") })
    }

    @Test func `a WebSocket leaves the connections of its host to others`() async throws {
        server.route("GET", "/hello", .text("hello"))
        let session = URLSession.loopback { $0.httpMaximumConnectionsPerHost = 1 }
        let tasks = try (0..<3).map { _ in session.webSocketTask(with: try url("/ws/echo")) }
        for task in tasks { try await task.open() }
        #expect(try await session.outcome(of: server.url("/hello")).text == "hello")
        for task in tasks {
            try await task.send(.string("still open"))
            #expect(try await task.receive() == .string("still open"))
        }
    }

    @Test func `a connection that served requests becomes a WebSocket`() async throws {
        server.route("GET", "/hello", .text("hello"))
        _ = try await session.outcome(of: server.url("/hello"))
        try await echo(session.webSocketTask(with: url("/ws/echo")))
        #expect(server.connections.count == 1)
        _ = try await session.outcome(of: server.url("/hello"))
        #expect(server.connections.count == 2)
    }

    // MARK: - Compression

    private static let settings: [(server: Bool, client: Bool, serverBits: Int, clientBits: Int)] =
        [false, true].flatMap { server in
            [false, true].flatMap { client in
                [(server, client, 15, 15), (server, client, 9, 15), (server, client, 15, 9), (server, client, 10, 12)]
            }
        }

    private static let noise: Data = {
        var generator = SeededGenerator(seed: 7)
        return Data((0..<70_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }()

    @Test(arguments: settings)
    func `messages are compressed with each set of parameters`(
        server resetsServer: Bool,
        client resetsClient: Bool,
        serverBits: Int,
        clientBits: Int
    ) async throws {
        var options = WebSocketOptions()
        options.compression?.serverNoContextTakeover = resetsServer
        options.compression?.clientNoContextTakeover = resetsClient
        options.compression?.serverMaxWindowBits = serverBits
        options.compression?.clientMaxWindowBits = clientBits
        let task = URLSession.loopback().webSocketTask(
            with: URLRequest(url: try url("/ws/echo?deflate=1")),
            options: options
        )
        try await task.open()
        let extensions =
            (task.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Sec-WebSocket-Extensions") ?? ""
        #expect(extensions.hasPrefix("permessage-deflate"))
        for size in [0, 1, 5, 100, 126, 1000, 70_000] {
            let text = String(repeating: "compress me ", count: size / 12 + 1).prefix(size)
            for message in [URLSessionWebSocketTask.Message.string(String(text)), .data(Self.noise.prefix(size))] {
                try await task.send(message)
                #expect(try await task.receive() == message)
            }
        }
        let frames = try #require(server.connections.first?.frames)
        #expect(frames.contains { $0.reservedBits == 4 } && frames.allSatisfy { $0.maskingKey != nil })
    }

    @Test func `T-WSS-18 compression is off with one setting`() async throws {
        var options = WebSocketOptions()
        options.compression = nil
        let request = URLRequest(url: try url("/ws/echo?deflate=1"))
        try await echo(URLSession.loopback().webSocketTask(with: request, options: options))
        #expect(server.requests.first?.headers["Sec-WebSocket-Extensions"] == nil)
        #expect(server.connections.first?.frames.allSatisfy { $0.reservedBits == 0 } == true)
    }

    @Test(arguments: [10, 1 << 20])
    func `T-WSS-04 a message that unpacks to more than the limit ends the task`(limit: Int) async throws {
        server.route(
            "GET",
            "/bomb",
            .webSocket(ServerWebSocketOptions(compression: DeflateParameters())) { socket in
                try socket.send(binary: Array(repeating: 0, count: limit + 1))
                _ = try socket.receive()
            }
        )
        var options = WebSocketOptions()
        options.maximumMessageSize = limit
        let task = URLSession.loopback().webSocketTask(with: URLRequest(url: try url("/bomb")), options: options)
        task.resume()
        let error = await #expect(throws: URLError.self) { try await task.receive() }
        #expect(error?.code == .dataLengthExceedsMaximum)
        try await eventually { server.connections.first?.frames.last?.closeCode == 1009 }
    }

    @Test func `a compressed message that is damaged ends the task`() async throws {
        server.route(
            "GET",
            "/damaged",
            .webSocket(ServerWebSocketOptions(compression: DeflateParameters())) { socket in
                try socket.send(ServerFrame(.text, [0xFF, 0xFF, 0xFF, 0xFF], reservedBits: 4))
                _ = try socket.receive()
            }
        )
        let task = URLSession.loopback().webSocketTask(with: try url("/damaged"))
        task.resume()
        let error = await #expect(throws: URLError.self) { try await task.receive() }
        #expect(error?.loadFailure?.reason == .decoding && error?.code == .cannotDecodeRawData)
        try await eventually { server.connections.first?.frames.last?.closeCode == 1007 }
    }

    // MARK: - The program's side

    @Test func `the sequence of messages ends with the server's close`() async throws {
        let task = URLSession.loopback().webSocketTask(with: try url("/ws/count/100"))
        task.resume()
        var count = 0
        for try await message in task.messages {
            count += 1
            #expect(message == .string("\(count)"))
        }
        #expect(count == 100 && task.closeCode == .normalClosure)
    }

    @Test func `a WebSocket that was opened and closed since has been open, and has its messages`() async throws {
        let task = URLSession.loopback().webSocketTask(with: try url("/ws/count/3"))
        task.resume()
        try await eventually { task.state == .completed }
        try await task.open()
        #expect(try await task.receive() == .string("1"))
    }

    @Test func `a code that is no ordinary end throws`() async throws {
        let task = URLSession.loopback().webSocketTask(with: try url("/ws/close/1011?reason=broken"))
        task.resume()
        let error = await #expect(throws: URLError.self) { for try await _ in task.messages {} }
        #expect(error?.loadFailure?.message.contains("1011") == true && task.closeCode == .internalServerError)
        #expect(task.closeReason == Data("broken".utf8))
    }

    @Test func `a Swift task that does not wait any more loses no message`() async throws {
        let task = URLSession.loopback().webSocketTask(with: try url("/ws/echo"))
        try await task.open()
        let waiting = Task { try await task.receive() }
        try await Task.sleep(for: .milliseconds(20))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }

        try await task.send(.string("kept"))
        #expect(try await task.receive() == .string("kept"))
        try await task.sendPing()
    }

    @Test func `monitors hear of messages by their length, and an archive has them`() async throws {
        let recorder = HARRecorder()
        let lines = Watched<[String]>([])
        let logging = LoggingMonitor { line in lines.change { $0.append(line) } }
        let session = URLSession.loopback { $0.eventMonitors = [recorder, logging] }
        let task = session.webSocketTask(with: try url("/ws/echo"))
        try await task.open()
        try await task.send(.string("hello"))
        _ = try await task.receive()
        try await task.send(.string(#"{"token": "canary"}"#))
        _ = try await task.receive()
        try await task.send(.data(Data([1, 2, 3])))
        _ = try await task.receive()
        task.cancel(with: .normalClosure, reason: nil)
        try await eventually { recorder.count == 1 }

        let archive = String(decoding: try recorder.archive(), as: UTF8.self)
        #expect(archive.contains("\"_webSocketMessages\"") && archive.contains("\"data\" : \"hello\""))
        #expect(!archive.contains("canary"))
        #expect(String(decoding: try recorder.archive(masksSecrets: false), as: UTF8.self).contains("canary"))
        #expect(archive.contains("\"data\" : \"AQID\"") && archive.contains("\"status\" : 101"))
        let heard = try await lines.wait("the end") { $0.contains { $0.contains("completed") } }
        #expect(heard.contains { $0.contains("WebSocket open") })
        #expect(heard.contains { $0.contains("message sent, 5 bytes of text") })
        #expect(heard.contains { $0.contains("message received, 3 bytes of data") })
        #expect(!heard.contains { $0.contains("hello") })
    }

    @Test func `a delegate of the task's own hears of it in place of the session's`() async throws {
        final class Own: NSObject, URLSessionWebSocketDelegate {
            let words = Watched<[String]>([])
            func urlSession(
                _ session: URLSession,
                webSocketTask: URLSessionWebSocketTask,
                didOpenWithProtocol protocol: String?
            ) { words.change { $0.append("open") } }

            func urlSession(
                _ session: URLSession,
                webSocketTask: URLSessionWebSocketTask,
                didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
                reason: Data?
            ) { words.change { $0.append("closed \(closeCode.rawValue)") } }
        }
        let (own, shared) = (Own(), Own())
        let session = URLSession.loopback(delegate: shared)
        let task = session.webSocketTask(with: try url("/ws/close/1001"))
        task.delegate = own
        task.resume()
        #expect(try await own.words.wait("the close") { $0.count == 2 } == ["open", "closed 1001"])
        #expect(shared.words.value.isEmpty)
    }

    @Test func `metrics tell when the WebSocket was opened`() async throws {
        let task = URLSession.loopback { $0.keepsTaskMetrics = true }.webSocketTask(with: try url("/ws/echo"))
        try await echo(task)
        try await eventually { task.state == .completed }
        try check(task.metrics)
    }

    private final class MetricsListener: NSObject, URLSessionTaskDelegate {
        let metrics = Watched<[URLSessionTaskMetrics]>([])

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) { self.metrics.change { $0.append(metrics) } }
    }

    @Test func `a delegate gets the metrics of a WebSocket that has let go of its transfer`() async throws {
        let listener = MetricsListener()
        try await echo(URLSession.loopback(delegate: listener).webSocketTask(with: try url("/ws/echo")))
        try check(try await listener.metrics.wait("the metrics") { $0.count == 1 }.first)
    }

    @Test func `a delegate gets the metrics of both exchanges of a redirected WebSocket`() async throws {
        server.route("GET", "/there", ServerReply.status(302).header("Location", "/ws/echo"))
        let listener = MetricsListener()
        try await echo(URLSession.loopback(delegate: listener).webSocketTask(with: try url("/there")))
        let metrics = try await listener.metrics.wait("the metrics") { $0.count == 1 }.first
        let statuses = metrics?.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode }
        #expect(metrics?.redirectCount == 1 && statuses == [302, 101])
    }

    @Test func `the error of an open WebSocket says what took how long`() async throws {
        let session = URLSession.loopback(delegate: MetricsListener())
        let task = session.webSocketTask(with: try url("/ws/bad/reset"))
        try await task.open()
        try await task.send(.string("hello"))
        let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
        let phases = error?.loadFailure?.timings.map(\.phase) ?? []
        #expect(phases.contains(.connecting) && phases.last == .delivering)
    }

    private func check(_ metrics: URLSessionTaskMetrics?) throws {
        let exchange = try #require(metrics?.transactionMetrics.first)
        #expect(metrics?.transactionMetrics.count == 1)
        #expect(exchange.connectStartDate != nil && exchange.responseStartDate != nil)
        #expect(exchange.networkProtocolName == "http/1.1" && exchange.countOfRequestHeaderBytesSent > 100)
        #expect((exchange.response as? HTTPURLResponse)?.statusCode == 101)
    }
}
