public import Foundation

/// A scriptable proxy on the loopback interface, for tests of code that uses proxies.
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
/// It speaks HTTP, with requests in absolute form and CONNECT, or SOCKS 5. With `tls:` clients speak to it through
/// TLS. `rules` say which clients may reach which targets; `enqueue(_:)` makes it misbehave.
///
/// `server` is the `TestServer` that it listens with: it has what the proxy received, the `wait…` methods, and
/// `script(_:)` for exact bytes. Requests in origin form are for the proxy itself: the routes of `server` answer
/// them, for example with a configuration file.
public final class TestProxy: Sendable {
    /// The protocol that clients speak to the proxy.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        /// HTTP/1.1: requests in absolute form, and CONNECT.
        case http
        /// SOCKS 5, without authentication or with a user and a password.
        case socks5
    }

    /// The protocol that clients speak to the proxy.
    public let kind: Kind
    /// The server that clients connect to.
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

    /// Which clients and targets it accepts. A change holds for later requests.
    public var rules: ProxyRules {
        get { core.rules }
        set { core.lock.change { $0.rules = newValue } }
    }

    // MARK: - Behaviour

    /// Treats the next accepted requests so, in this order, one behaviour each. A SOCKS proxy takes one for each
    /// connection.
    public func enqueue(_ behaviours: ProxyBehaviour...) {
        core.lock.change { $0.queue.append(contentsOf: behaviours) }
    }

    /// Treats every request so for which no behaviour is enqueued.
    public func always(_ behaviour: ProxyBehaviour) {
        core.lock.change { $0.usual = behaviour }
    }

    /// Answers the next `count` requests with 407, even if their credentials are right. A Digest challenge then says
    /// that the nonce is stale.
    public func challenge(_ count: Int) {
        core.lock.change { $0.challengesLeft = max(count, 0) }
    }

    // MARK: - Records

    /// Every request to reach a target, in order, refused ones included.
    public var forwardings: [RecordedForwarding] { core.lock.read { $0.forwardings } }

    /// Every HTTP request that the proxy received, CONNECT included, without those inside of tunnels.
    public var requests: [RecordedRequest] { server.requests }

    /// Every connection of a client.
    public var connections: [RecordedConnection] { server.connections }

    /// Waits until `count` forwardings have ended or were refused.
    ///
    /// - Returns: All forwardings so far.
    @discardableResult
    public func waitForForwardings(
        _ count: Int,
        timeout: Duration = .seconds(10)
    ) throws(TestServerError) -> [RecordedForwarding] {
        let done = core.lock.wait(atMost: timeout) { state -> [RecordedForwarding]? in
            state.forwardings.filter { $0.outcome != .open }.count >= count ? state.forwardings : nil
        }
        if let done { return done }
        throw .timedOut(waitingFor: "the end of \(count) forwardings", seen: "\(forwardings.count) forwardings")
    }

    // MARK: - Address

    /// The address that it listens at, with the port that the system picked.
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

    /// Ends every connection, as `TestServer.stop()` does. The proxy also stops when its last reference goes away.
    public func stop() {
        server.stop()
    }
}
