public import Foundation

/// A scriptable HTTP/1.1 server on the loopback interface, for tests of code that uses the network.
///
/// ```swift
/// let server = try TestServer()
/// server.route("GET", "/users/:id") { request in
///     .json(#"{"id": \#(request.parameters["id"] ?? "")}"#)
/// }
///
/// let (data, _) = try await session.data(from: server.url("/users/7"))
///
/// #expect(server.requests.map(\.target) == ["/users/7"])
/// server.stop()
/// ```
///
/// There are three ways to define what the server does, from high to low level:
///
/// - `route(_:_:_:)` answers requests by method and path;
/// - `enqueue(_:)` answers requests without a route, in order;
/// - `script(_:)` plays exact bytes, pauses and resets on a connection.
///
/// `requests` and `connections` have everything that was received, and the `wait…` methods wait for it
/// without polling. Call all methods from any thread at any time.
///
/// With `tls:` the server speaks TLS as `ServerTLS` says. `RecordedConnection.tls` describes the handshake.
///
/// The server uses blocking sockets, one thread that accepts and one thread for each connection, on which handlers run
/// (256 KiB of stack). It never uses the time of day and adds no `Date` field, so that its replies depend on the test
/// only; the one exception is `RouteSet.caching`. It stops with `stop()`, or when the last reference to it goes away.
public final class TestServer: Sendable {
    /// Limits and defaults of a server.
    public typealias Options = TestServerOptions

    /// The address that the server listens at, with the port that the system picked.
    public let address: ListenAddress
    /// The port; 0 for a Unix socket.
    public let port: UInt16
    let core: ServerCore

    /// Starts a server. It accepts connections when this returns.
    ///
    /// - Parameters:
    ///   - address: The address to listen at.
    ///   - tls: How it speaks TLS; nil for plain HTTP.
    ///   - options: Limits and defaults.
    public convenience init(
        on address: ListenAddress = .ipv4Loopback,
        tls: ServerTLS? = nil,
        options: Options = Options()
    ) throws(TestServerError) {
        try self.init(on: address, tls: tls, options: options, service: HTTPService())
    }

    init(
        on address: ListenAddress,
        tls: ServerTLS?,
        options: Options,
        service: any ConnectionService
    ) throws(TestServerError) {
        let context = try Self.makeContext(tls)
        do throws(SocketFailure) {
            let listener = try Listener(on: address, backlog: options.backlog)
            core = ServerCore(listener: listener, tls: context, options: options)
            port = listener.port
            try core.start(service)
        } catch {
            throw .cannotListen(address, reason: error.text)
        }
        self.address = address.bound(to: port)
    }

    deinit {
        core.stop()
    }

    /// Changes the TLS settings for connections that are accepted from now on; nil for plain HTTP. Open connections
    /// keep theirs.
    public func use(tls: ServerTLS?) throws(TestServerError) {
        let context = try Self.makeContext(tls)
        core.lock.change { $0.tls = context }
    }

    private static func makeContext(_ tls: ServerTLS?) throws(TestServerError) -> ServerTLSContext? {
        guard let tls else { return nil }
        do throws(TLSSetUpFailure) {
            return try ServerTLSContext(tls)
        } catch {
            throw .cannotUseTLS(reason: error.reason)
        }
    }

    /// The URL of a path on this server, with or without a query; `https` if it speaks TLS.
    ///
    /// Characters that a URL may not have are percent-encoded. For a Unix socket the host is `localhost`: tell the
    /// client the path of the socket.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - host: A host in place of the address, such as `localhost`, or a name for which the client knows this
    ///     address. An IPv6 address stands in brackets.
    public func url(_ path: String = "/", host: String? = nil) -> URL {
        let absolute = path.utf8.starts(with: "/".utf8) ? path : "/" + path
        let base = baseURL(host)
        return URL(string: base.absoluteString + absolute) ?? base.appendingPathComponent(path)
    }

    private func baseURL(_ host: String?) -> URL {
        var components = URLComponents()
        components.scheme = core.lock.read { $0.tls == nil } ? "http" : "https"
        components.host = host ?? address.host
        components.port = port == 0 ? nil : Int(port)
        // A host that no URL can have.
        return components.url ?? URL(fileURLWithPath: "/")
    }

    /// Ends every connection, frees the port and waits until all threads of the server have ended.
    ///
    /// Replies that are being sent are cut off. The records stay readable. A second call does nothing. Called from a
    /// handler, it waits for all threads except the handler's own.
    ///
    /// The server also stops when the last reference to it goes away. A handler that uses its own server holds such a
    /// reference: capture the server `unowned` there, or call this method.
    public func stop() {
        core.stop()
    }

    // MARK: - Routes and replies

    /// Makes the reply to a request. Runs on the connection's thread. If it throws, the server answers 500.
    public typealias Handler = @Sendable (RecordedRequest) throws -> ServerReply

    /// When the server calls the handler of a route.
    @nonexhaustive
    public enum AnswerTime: Sendable, Hashable {
        /// When the whole request has arrived.
        case complete
        /// When the head has arrived: the request has no body yet. The server reads the body before it sends the
        /// reply, unless the reply is `withoutReadingBody()`.
        case head
    }

    /// Answers requests of a method and a path.
    ///
    /// ```swift
    /// server.route("GET", "/users/:id") { .text("user \($0.parameters["id"] ?? "")") }
    /// server.route("PUT", "/files/*") { .status(201).header("X-Name", $0.parameters["*"] ?? "") }
    /// server.route("*", "/echo") { .data($0.body) }
    /// ```
    ///
    /// A `:name` segment matches one segment, a final `*` the rest of the path. The handler gets both
    /// in `parameters`, percent-decoded. The query does not count. The method `*` is any method, and
    /// GET routes answer HEAD too. If several routes match, the one that was registered first answers.
    /// Registering the same method and pattern again replaces the handler.
    public func route(
        _ method: String,
        _ pattern: String,
        answering time: AnswerTime = .complete,
        _ handler: @escaping Handler
    ) {
        let pattern = RoutePattern(pattern)
        core.add(ServerRoute(method: method, pattern: pattern, waitsForBody: time == .complete, answer: handler))
    }

    /// Always answers requests of a method and a path with this reply.
    ///
    /// ```swift
    /// server.route("POST", "/upload", .status(413).withoutReadingBody())
    /// ```
    public func route(_ method: String, _ pattern: String, _ reply: ServerReply) {
        core.add(ServerRoute(method: method, pattern: RoutePattern(pattern), waitsForBody: false) { _ in reply })
    }

    /// Answers requests for which there is no route, in this order, one reply each.
    ///
    /// Without a route and without an enqueued reply the server answers 404, or 405 if the path has a route for
    /// another method. The server takes a reply when the head of the request arrives.
    ///
    /// ```swift
    /// server.enqueue(.status(503), .text("ok"))
    /// ```
    public func enqueue(_ replies: ServerReply...) {
        core.lock.change { $0.queue.append(contentsOf: replies) }
    }

    // MARK: - Scripts

    /// The connection that a script is for.
    @nonexhaustive
    public enum ScriptTarget: Sendable, Hashable {
        /// The next accepted connection without a script. The server uses several such scripts in order.
        case next
        /// The connection with this number; the first one the server accepts is 1.
        case connection(Int)
        /// Every connection that has no other script.
        case every
    }

    /// Plays steps on the next connection in place of serving HTTP.
    ///
    /// ```swift
    /// server.script(
    ///     .expect("GET /data HTTP/1.1\r\n"),
    ///     .expectHead,
    ///     .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf "),
    ///     .reset
    /// )
    /// ```
    ///
    /// After the last step the server closes the connection with an end of stream, unless the step ends it otherwise.
    public func script(_ steps: ScriptStep...) {
        script(on: .next, steps: steps)
    }

    /// Plays steps on a chosen connection in place of serving HTTP.
    public func script(on target: ScriptTarget, _ steps: ScriptStep...) {
        script(on: target, steps: steps)
    }

    /// Plays an array of steps on a chosen connection.
    public func script(on target: ScriptTarget = .next, steps: [ScriptStep]) {
        core.lock.change { state in
            switch target {
            case .next: state.nextScripts.append(steps)
            case .connection(let number): state.numberedScripts[number] = steps
            case .every: state.scriptForEvery = steps
            }
        }
    }

    /// Ends all waits for this name, those of `ScriptStep.pause(until:)` and `ServerReply.held(until:)`.
    ///
    /// A signal stays set: later waits for it return at once.
    public func signal(_ name: String) {
        core.lock.change { _ = $0.signals.insert(name) }
    }
}

extension ListenAddress {
    fileprivate func bound(to port: UInt16) -> ListenAddress {
        switch self {
        case .ipv4Loopback: .ipv4Loopback(port: port)
        case .ipv6Loopback: .ipv6Loopback(port: port)
        case .unix: self
        }
    }

    fileprivate var host: String {
        switch self {
        case .ipv4Loopback: "127.0.0.1"
        case .ipv6Loopback: "[::1]"
        case .unix: "localhost"
        }
    }
}
