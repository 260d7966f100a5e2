import AFNetworking
import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

/// How a session gets to a proxy.
struct ProxyRoad: Sendable, CustomTestStringConvertible {
    let server: Server
    let kind: ProxyServer.Kind
    var user: String?
    var password = ""

    /// Those that lead on.
    static let open: [ProxyRoad] = [
        ProxyRoad(server: .proxy, kind: .http),
        ProxyRoad(server: .lockedProxy, kind: .http, user: Server.user, password: Server.password),
        ProxyRoad(server: .socks, kind: .socks5), ProxyRoad(server: .socks, kind: .socks5h),
        ProxyRoad(server: .lockedSOCKS, kind: .socks5h, user: Server.user, password: Server.password),
        ProxyRoad(server: .microsocks, kind: .socks5, user: Server.user, password: Server.password),
        ProxyRoad(server: .microsocks, kind: .socks5h, user: Server.user, password: Server.password),
    ].filter(\.server.isServing)

    /// Those whose proxy does not believe us.
    static let wrong: [ProxyRoad] = [Server.lockedProxy, .lockedSOCKS, .microsocks].filter(\.isServing)
        .flatMap { server in
            let kind: ProxyServer.Kind = server == .lockedProxy ? .http : .socks5h
            return [
                ProxyRoad(server: server, kind: kind, user: Server.user, password: "canary"),
                ProxyRoad(server: server, kind: kind),
            ]
        }

    var testDescription: String {
        "\(server) as \(kind), \(user == nil ? "no user" : password.count > 6 ? "known" : "unknown")"
    }

    func session(_ change: (URLSessionConfiguration) -> Void = { _ in }) throws -> URLSession {
        var proxies = ProxyConfiguration(
            try ProxyServer(kind, host: "127.0.0.1", port: server.port, user: user, password: password)
        )
        proxies.includesLoopback = true
        return .fresh {
            $0.proxies = proxies
            change($0)
        }
    }
}

/// Through tinyproxy, dante and microsocks, to nginx.
@Suite(.enabled(if: Nginx.isServing && !ProxyRoad.open.isEmpty), .timeLimit(.minutes(1)))
struct ProxyTests {
    private let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
    }

    private func secured(_ evaluator: (any ServerEvaluator)? = nil) -> TLSConfiguration {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        if let evaluator { tls.evaluator = evaluator }
        return tls
    }

    private func failure(_ session: URLSession, _ url: URL) async -> URLError? {
        do {
            _ = try await session.data(from: url)
            return nil
        } catch {
            return error as? URLError
        }
    }

    // MARK: Plain http

    @Test(arguments: ProxyRoad.open)
    func `http, one request after the other`(road: ProxyRoad) async throws {
        let session = try road.session()

        for number in 1...3 {
            let answer = try await session.get("/echo?n=\(number)")
            #expect(answer.text.hasPrefix("GET /echo?n=\(number)|127.0.0.1:"))
            // An HTTP proxy signs what it passes on.
            #expect((answer.field("Via") != nil) == (road.kind == .http))
        }
    }

    @Test(arguments: ProxyRoad.open)
    func `bodies pass whole, both ways`(road: ProxyRoad) async throws {
        let session = try road.session()
        let file = try Nginx.file("1m")

        let isSame = try await session.get("/1m").body == file
        let answer = try await session.send("POST", "/length", body: file)

        #expect(isSame && answer.text == "1048576")
    }

    @Test(arguments: ProxyRoad.open.filter { $0.kind == .socks5h || $0.kind == .http })
    func `a name is for the proxy to look up`(road: ProxyRoad) async throws {
        let port = try #require(try Nginx.url("/").port)
        let url = try #require(URL(string: "http://localhost:\(port)/echo"))

        let answer = try Answer(await road.session().data(from: url))

        #expect(answer.text.hasPrefix("GET /echo|localhost:\(port)|"))
    }

    @Test func `http through a tunnel of an HTTP proxy`() async throws {
        var proxies = ProxyConfiguration(try ProxyServer(.http, host: "127.0.0.1", port: Server.proxy.port))
        proxies.includesLoopback = true
        proxies.tunnelsPlainHTTP = true

        let answer = try await URLSession.fresh { $0.proxies = proxies }.get("/echo")

        #expect(answer.status == 200 && answer.field("Via") == nil)
    }

    // MARK: https

    @Test(arguments: ProxyRoad.open)
    func `https, pinned at its far end`(road: ProxyRoad) async throws {
        let site = try authority.issue(for: "127.0.0.1")
        let server = try await ServerProcess.nginx(site, "")
        let file = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ $0 >> 11) })
        try server.put(file, at: "large")
        let pins = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        let session = try road.session { $0.tls = secured(pins) }

        let hello = try Answer(await session.data(from: server.url("/handshake")))
        let isSame = try Answer(await session.data(from: server.url("/large"))).body == file

        #expect(hello.text.hasPrefix("TLSv1.") && hello.field("Via") == nil && isSame)
    }

    @Test(arguments: ProxyRoad.open)
    func `a key that is not pinned gets no request through a proxy either`(road: ProxyRoad) async throws {
        let server = try await ServerProcess.nginx(try authority.issue(for: "127.0.0.1"), "access_log access.log;")
        let other = try authority.issue(for: "127.0.0.1")
        let pins = SecurityPolicy(pinningMode: .publicKey, certificates: [other.certificate])
        let session = try road.session { $0.tls = secured(pins) }

        let error = await failure(session, server.url("/handshake"))

        #expect(error?.code.rawValue == -1202)
    }

    // MARK: Refused

    @Test(arguments: ProxyRoad.wrong)
    func `a proxy that does not know us lets no https pass, and no secret is told`(road: ProxyRoad) async throws {
        let server = try await ServerProcess.nginx(try authority.issue(for: "127.0.0.1"), "")
        let session = try road.session { $0.tls = secured() }

        let error = try #require(await failure(session, server.url("/handshake")))

        #expect(error.loadFailure?.reason == .proxy)
        if road.user != nil, road.kind == .http {
            // tinyproxy answers a wrong password as a server would.
            #expect(error.loadFailure?.detail == .refused && error.loadFailure?.proxyReply == 401)
        } else {
            #expect(error.loadFailure?.detail == .credentials && error.code == .userAuthenticationRequired)
        }
        let isTold = "\(error) \(error.loadFailure?.description ?? "")".contains("canary")
        #expect(!isTold)
    }

    @Test(arguments: ProxyRoad.wrong.filter { $0.kind == .http })
    func `for http its refusal is the answer`(road: ProxyRoad) async throws {
        let answer = try await road.session().get("/small")

        #expect(answer.status == (road.user == nil ? 407 : 401))
        if road.user == nil { #expect(answer.field("Proxy-Authenticate")?.hasPrefix("Basic") == true) }
    }

    @Test(arguments: ProxyRoad.open)
    func `a server that is not there is the proxy's to report`(road: ProxyRoad) async throws {
        let url = try #require(URL(string: "https://127.0.0.1:\(FreePort.any())/"))

        let error = try #require(await failure(road.session(), url))

        #expect(error.loadFailure?.phase == .proxy)
        if road.server != .microsocks { #expect(error.loadFailure?.detail == .refused) }
    }

    // MARK: Gone

    @Test(arguments: ProxyServer.Kind.allCases)
    func `a proxy that is not there fails the request, and nothing goes another way`(kind: ProxyServer.Kind)
        async throws
    {
        var proxies = ProxyConfiguration(try ProxyServer(kind, host: "127.0.0.1", port: FreePort.any()))
        proxies.includesLoopback = true

        let error = try #require(await failure(.fresh { $0.proxies = proxies }, Nginx.url("/small")))

        #expect(error.loadFailure?.reason == .proxy && error.loadFailure?.detail == .connect)
    }

    @Test(.enabled(if: Server.proxy.isServing), arguments: [false, true])
    func `a proxy that dies in the middle of a body`(tunnels: Bool) async throws {
        let proxy = try await ServerProcess.tinyproxy()
        var proxies = ProxyConfiguration(try ProxyServer(.http, host: "127.0.0.1", port: proxy.port))
        proxies.includesLoopback = true
        proxies.tunnelsPlainHTTP = tunnels
        let session = URLSession.fresh { $0.proxies = proxies }
        let (bytes, _) = try await session.bytes(from: Nginx.url("/trickle"))

        let error = await #expect(throws: URLError.self) {
            for try await _ in bytes.chunks { proxy.stop() }
        }

        #expect(error?.code == .networkConnectionLost)
        let next = try #require(await failure(session, Nginx.url("/small")))
        #expect(next.loadFailure?.reason == .proxy)
    }

    @Test(arguments: ProxyRoad.open.filter { $0.kind != .http })
    func `names behind a SOCKS proxy may have an address of their own kind only`(road: ProxyRoad) async throws {
        // No server listens on it for IPv6.
        let port = try #require(try Nginx.url("/").port)
        let url = try #require(URL(string: "http://[::1]:\(port)/small"))

        let error = try #require(await failure(road.session(), url))

        #expect(error.loadFailure?.phase == .proxy)
    }
}
