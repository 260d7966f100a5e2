import AFState
import AFURLTypes

@testable import AFTransport
@testable import AFURLSession

/// Every way on which something leaves, and rules that change while it waits for its connection.
@Suite("What may leave in the clear")
struct DepartureTests {
    enum Way: CaseIterable { case request, sentAhead, upgrade, tunnel, stream, refresh }

    enum Change: CaseIterable {
        case none
        /// An evaluator that wants to see the host's certificate.
        case pins
        /// The host has asked for TLS (RFC 6797), which is about HTTP.
        case hsts

        func forbids(_ way: Way) -> Bool { self == .pins || self == .hsts && way != .stream }
    }

    private struct Pinning: ServerEvaluator {
        func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
            .reject(rule: "test", explanation: "none is right")
        }
        func forbidsPlainText(to host: String) -> Bool { host == "api.test" }
    }

    private static let pairs = Way.allCases.flatMap { way in Change.allCases.map { (way, $0) } }

    /// How often a server was told something that it must not be told in the clear.
    private func told(in world: VirtualWorld) -> Int {
        let texts = world.network.connections.map { String(decoding: $0.received, as: UTF8.self) }
        return texts.joined(separator: "\n").ranges(of: /secret|CONNECT api.test:80/).count
    }

    private func makeWorld(_ way: Way, _ known: HSTSStore) throws -> VirtualWorld {
        let world = VirtualWorld()
        world.network.link.latency = 100_000_000...100_000_000
        let proxy = try ProxyServer("http://proxy.test:3128")
        world.configure { configuration in
            configuration.strictTransportSecurity = known
            configuration.httpMaximumConnectionsPerHost = 1
            configuration.httpShouldUsePipelining = way == .sentAhead
            configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            guard way == .tunnel else { return }
            configuration.proxies = ProxyConfiguration(proxy)
            configuration.proxies?.tunnelsPlainHTTP = true
        }
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
        if way == .sentAhead {
            world.script("api.test", .expectRequest, .reply("\(ok)\r\nok"), .again)
        } else {
            let fields = "ETag: \"1\"\r\nCache-Control: max-age=0, stale-while-revalidate=1000\r\nConnection: close\r\n"
            world.script("api.test", .expectRequest, .reply("\(ok)\(fields)\r\nok"), .close)
        }
        let log = LayeredServer.Log()
        world.serve("proxy.test", port: 3128) { LayeredServer([.head(ProxyBench.granted), .echo], log) }
        return world
    }

    /// Starts what will leave once it has its connection.
    private func begin(_ way: Way, in world: VirtualWorld) throws {
        let url = try #require(URL(string: "http://api.test/secret"))
        switch way {
        case .request, .tunnel: _ = world.get(url.absoluteString)
        case .sentAhead:
            world.load("http://api.test/first")
            // As many as a connection takes, and one behind them.
            for number in 0...Pipeline.depth { _ = world.get("http://api.test/\(number)") }
            _ = world.get(url.absoluteString)
        case .upgrade: world.session.webSocketTask(with: try #require(URL(string: "ws://api.test/secret"))).resume()
        case .stream:
            let task = world.session.streamTask(withHostName: "api.test", port: 80)
            task.write(Data("secret".utf8), timeout: 10) { _ in }
            task.resume()
        case .refresh:
            world.load(url.absoluteString)
            world.advance(by: .seconds(1))
            _ = world.get(url.absoluteString)
        }
        world.settle()
    }

    @Test(arguments: pairs)
    func `T-TLS-20 T-STS-05 nothing leaves in the clear under rules that came while it waited`(
        way: Way,
        change: Change
    ) throws {
        let known = HSTSStore()
        let world = try makeWorld(way, known)
        try begin(way, in: world)
        let before = told(in: world)

        switch change {
        case .none: break
        case .pins: world.session.tls.evaluator = Pinning()
        case .hsts:
            let entry = HSTSStore.Entry(host: "api.test", includesSubdomains: false, expires: .distantFuture)
            known.insert(try #require(entry))
        }
        world.advance(by: .seconds(30))

        #expect((told(in: world) == before) == change.forbids(way))
        world.session.invalidateAndCancel()
        #expect(world.finish() == [])
    }
}
