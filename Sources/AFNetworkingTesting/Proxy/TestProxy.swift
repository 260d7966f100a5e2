public import Foundation

/// A scriptable proxy on the loopback interface, for testing code that goes through one.
///
/// ```swift
/// let origin = try TestServer()
/// origin.route("GET", "/", .text("hi"))
/// let proxy = try TestProxy()
/// proxy.rules.authentication = .password(user: "ann", password: "secret")
/// proxy.rules.names["origin.test"] = origin.address
///
/// #expect(load("http://origin.test/", through: proxy.url) == "hi")
/// #expect(proxy.requests.last?.target == "http://origin.test/")
/// ```
///
/// It speaks HTTP, forwarding requests in absolute form and opening tunnels with CONNECT, or SOCKS 5; with `tls:`
/// clients speak to it through TLS. `rules` say who may go where, `enqueue(_:)` what goes wrong.
///
/// Where it listens, it is a `TestServer`, and `server` is that: what it received, the `wait…` methods,
/// `script(_:)` for exact bytes. Requests in origin form are for the proxy itself and answered by the routes of
/// `server`, for example with a configuration file.
public final class TestProxy: Sendable {
    /// What clients speak to it.
    public enum Kind: Sendable, Hashable {
        /// HTTP/1.1: requests in absolute form, and CONNECT.
        case http
        /// SOCKS 5, without authentication or with a user and a password.
        case socks5
    }

    /// What clients speak to it.
    public let kind: Kind
    /// Its side towards the clients.
    public let server: TestServer
    private let core: ProxyCore

    /// Starts a proxy. It accepts connections when this returns.
    public init(
        _ kind: Kind = .http,
        on address: ListenAddress = .ipv4Loopback,
        tls: ServerTLS? = nil,
        rules: ProxyRules = ProxyRules(),
        options: TestServer.Options = TestServer.Options()
    ) throws(TestServerError) {
        self.kind = kind
        core = ProxyCore(rules: rules)
        let service: any ConnectionService =
            switch kind {
            case .http: HTTPProxyService(proxy: core)
            case .socks5: SOCKSService(proxy: core)
            }
        server = try TestServer(on: address, tls: tls, options: options, service: service)
    }

    /// What it lets through; changes hold for requests from then on.
    public var rules: ProxyRules {
        get { core.rules }
        set { core.lock.change { $0.rules = newValue } }
    }

    // MARK: - What goes wrong

    /// Does these with the next requests that are let in, in this order, one each. A SOCKS proxy takes one for each
    /// connection.
    public func enqueue(_ behaviours: ProxyBehaviour...) {
        core.lock.change { $0.queue.append(contentsOf: behaviours) }
    }

    /// Does this with every request for which nothing is enqueued.
    public func always(_ behaviour: ProxyBehaviour) {
        core.lock.change { $0.usual = behaviour }
    }

    /// Answers the next requests with 407, whatever they show. Digest challenges then say that the nonce was stale
    /// if the credentials were right.
    public func challenge(_ count: Int) {
        core.lock.change { $0.challengesLeft = max(count, 0) }
    }

    // MARK: - What happened

    /// Every request to reach somebody, in order, those that were refused among them.
    public var forwardings: [RecordedForwarding] { core.lock.read { $0.forwardings } }

    /// Every HTTP request the proxy received, CONNECT included. What went through tunnels is not among them.
    public var requests: [RecordedRequest] { server.requests }

    /// Every connection of a client.
    public var connections: [RecordedConnection] { server.connections }

    /// Waits until so many forwardings have ended or were refused.
    ///
    /// - Returns: All forwardings so far.
    @discardableResult
    public func waitForForwardings(
        _ count: Int,
        timeout: Duration = .seconds(10)
    ) throws(TestServerError) -> [RecordedForwarding] {
        let done = core.lock.wait(timeout) { state -> [RecordedForwarding]? in
            state.forwardings.filter { $0.outcome != .open }.count >= count ? state.forwardings : nil
        }
        if let done { return done }
        throw .timedOut(waitingFor: "the end of \(count) forwardings", seen: "\(forwardings.count) forwardings")
    }

    // MARK: - Where it is

    /// Where it listens, with the port that was picked.
    public var address: ListenAddress { server.address }

    /// The port; 0 for a Unix socket.
    public var port: UInt16 { server.port }

    /// Its URL: `http`, `https` if clients speak TLS to it, or `socks5`.
    public var url: URL {
        let url = server.url()
        guard kind == .socks5 else { return url }
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        components?.scheme = "socks5"
        components?.path = ""
        return components?.url ?? url
    }

    /// Ends every connection, as `TestServer.stop()` does. Happens by itself when the last reference goes away.
    public func stop() {
        server.stop()
    }
}
