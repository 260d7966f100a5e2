@testable import AFTransport

@Suite("Dials that no request waits for")
final class UnclaimedDialTests: TransferSuite {
    @Test func `a dial that no request waits for makes room for one that a request needs`() {
        world.settings.pool.maximumConnections = 2
        world.host("api.test", "192.0.2.1")
        world.host("other.test", "192.0.2.2")
        world.respond("api.test") { request, _, client in
            client.after(.seconds(request.target == "/slow" ? 5 : 0)) { $0.send(VirtualSystem.echo(request.target)) }
        }
        world.serveEcho("other.test")
        world.set(.acceptsAfter(.milliseconds(100)), for: "192.0.2.1")
        let first = world.get("http://api.test/1")
        world.advance(by: .milliseconds(1))
        world.set(.neverAnswers, for: "192.0.2.1")
        let second = world.get("http://api.test/2")
        world.run(first, second)
        let slow = world.get("http://api.test/slow")
        world.advance(by: .milliseconds(100))

        let other = world.get("http://other.test/")
        world.advance(by: .seconds(1))

        #expect(other.body == "/" && !slow.isComplete)
        world.run(slow)
        #expect(slow.body == "/slow")
    }

    @Test func `T-RES-32 a dial that no request waits for is given up after ten seconds`() {
        world.host("api.test", "192.0.2.1")
        world.serveEcho("api.test")
        world.set(.acceptsAfter(.milliseconds(100)), for: "192.0.2.1")
        let first = world.get("http://api.test/1")
        world.advance(by: .milliseconds(1))
        world.set(.neverAnswers, for: "192.0.2.1")
        let second = world.get("http://api.test/2")

        world.run(first, second)
        #expect(second.body == "/2" && world.network.openConnections.count == 2)
        world.advance(by: .milliseconds(9_800))
        #expect(world.network.openConnections.count == 2)
        world.advance(by: .milliseconds(300))

        #expect(world.network.openConnections.count == 1)
    }

    @Test(arguments: ["http", "https", "socks5h"])
    func `T-RES-32 a proxy is asked for no tunnel that no request waits for`(scheme: String) throws {
        let proxy = try MemorySite("proxy.test")
        let bench = try TransferBench { settings in
            var way = try ProxyServer("\(scheme)://me:secret@proxy.test:3128")
            way.tls = proxy.tls
            settings.proxies = ProxyConfiguration(way)
            settings.proxies.tunnelsPlainHTTP = true
            settings.pool.maximumConnectionsPerHost = 2
        }
        let tunnel: [LayeredServer.Stage] =
            switch scheme {
            case "http": [.head(TransferBench.granted)]
            case "https": [.tls(proxy.context), .head(TransferBench.granted)]
            default: [.bytes(4, [5, 2]), .bytes(11, [1, 0]), .bytes(15, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])]
            }
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
        let twice: [LayeredServer.Stage] = [.head("\(ok)\r\nok"), .head("\(ok)Connection: close\r\n\r\nok")]
        bench.world.host("proxy.test", "192.0.2.1")
        bench.proxy(scripts: [tunnel + twice, tunnel + [.echo]])
        func connects(after time: Duration) { bench.world.set(.acceptsAfter(time), for: "192.0.2.1", port: 3128) }
        connects(after: .milliseconds(100))
        let first = bench.world.get("http://api.test/1")
        bench.world.advance(by: .milliseconds(1))
        connects(after: .milliseconds(500))
        let second = bench.world.get("http://api.test/2")
        bench.world.run(first, second)
        let (heads, pieces) = (bench.log.heads, bench.log.pieces)
        #expect(first.body == "ok" && second.body == "ok" && bench.world.network.openConnections.count == 1)

        bench.world.advance(by: .seconds(1))

        #expect(bench.hosts.count == 2 && bench.world.network.openConnections.isEmpty)
        let dropped = bench.world.network.connections[1]
        // Of TLS with the proxy it has the handshake.
        #expect((dropped.receivedCount > 0) == (scheme == "https"))
        #expect(bench.log.heads == heads && bench.log.pieces == pieces)
        // The pool does not count it any more: both of these get a connection of their own.
        let others = ["/3", "/4"].map { bench.world.get("http://api.test\($0)") }
        bench.world.run(others)
        #expect(others.map(\.body) == ["/3", "/4"] && bench.hosts.count == 4)
        #expect(bench.finish() == [])
    }
}
