public import Foundation

/// A scriptable HTTP/1.1 server on the loopback interface, for testing code that uses the network.
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
/// There are three ways to say what happens, from high to low:
///
/// - `route(_:_:_:)` answers requests by method and path;
/// - `enqueue(_:)` answers the requests no route is meant for, in order;
/// - `script(_:on:)` plays exact bytes, pauses and resets on a connection.
///
/// Everything received is kept in `requests` and `connections`, and the `wait…` methods wait for it
/// without polling. All methods may be called from any thread at any time.
///
/// With `tls:` all of this happens through TLS; `ServerTLS` says how, and `RecordedConnection.tls` what
/// the handshake was like.
///
/// The server uses blocking sockets, one thread that accepts and one thread per connection
/// (256 KiB of stack, on which handlers run). It never asks for the time of day and adds no `Date`
/// field, so that what it sends depends on the test alone; the one exception is `RouteSet.caching`. It ends with `stop()`, at the latest when
/// the last reference to it goes away.
public final class TestServer: Sendable {
    /// Bounds and habits of a server.
    public typealias Options = TestServerOptions

    /// Where the server listens, with the port that was picked.
    public let address: ListenAddress
    /// The port; 0 for a Unix socket.
    public let port: UInt16
    let core: ServerCore

    /// Starts a server, which speaks TLS if `tls` says how.
    ///
    /// It accepts connections when this returns.
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
        do throws(SystemFailure) {
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

    /// Changes what connections accepted from now on speak: another certificate, other versions; nil
    /// for plain bytes. Those that are open go on as they are.
    public func use(tls: ServerTLS?) throws(TestServerError) {
        let context = try Self.makeContext(tls)
        core.lock.change { $0.tls = context }
    }

    private static func makeContext(_ tls: ServerTLS?) throws(TestServerError) -> TLSContext? {
        guard let tls else { return nil }
        do throws(TLSSetUpFailure) {
            return try TLSContext(tls)
        } catch {
            throw .cannotUseTLS(reason: error.reason)
        }
    }

    /// The URL of a path on this server, with or without a query: `https` if it speaks TLS.
    ///
    /// Characters that may not stand in a URL are percent-encoded. A Unix socket has no URL of its
    /// own: it answers `http://localhost/…`, for clients that are told the socket separately.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - host: The host to name in place of the address, such as `localhost`, or a name that the
    ///     client is told to look up at this address. An IPv6 address stands in brackets.
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
        // A host that cannot stand in a URL names nobody.
        return components.url ?? URL(fileURLWithPath: "/")
    }

    /// Ends every connection, frees the port and waits until all threads of the server are gone.
    ///
    /// Replies that are being sent are cut off. What was recorded stays readable. Calling it again
    /// does nothing. Called from a handler it waits for all threads but the handler's own.
    ///
    /// Happens by itself when the last reference goes away. A handler that uses its own server holds
    /// such a reference: capture the server `unowned` there, or call this.
    public func stop() {
        core.stop()
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

/// What a `TestServer` throws.
public enum TestServerError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The server could not listen; the text names the system call and its error.
    case cannotListen(ListenAddress, reason: String)
    /// TLS could not be set up as asked.
    case cannotUseTLS(reason: String)
    /// What was waited for did not happen in time.
    case timedOut(waitingFor: String, seen: String)

    /// The error in one sentence.
    public var description: String {
        switch self {
        case .cannotListen(let address, let reason): "The test server cannot listen on \(address): \(reason)"
        case .cannotUseTLS(let reason): "The test server cannot use TLS: \(reason)"
        case .timedOut(let goal, let seen): "The test server waited for \(goal) in vain; so far it saw \(seen)"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
