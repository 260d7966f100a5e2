import AFLoop

@testable import AFTransport

@Suite("Connections before requests")
final class WarmUpTests: TransferSuite {
    private func served(_ host: String = "api.test", connecting time: Duration = .milliseconds(100)) {
        world.serveEcho(host)
        world.set(.acceptsAfter(time), for: "192.0.2.1")
    }

    @Test func `T-WRM-01 nothing is sent before the request that takes the connection`() {
        served()
        let warm = world.warm("http://api.test/", count: 2)
        world.advance(by: .seconds(1))

        #expect(warm.idle == 2 && world.network.connections.map(\.receivedCount) == [0, 0])
        let loads = ["/1", "/2"].map { world.get("http://api.test\($0)") }
        world.run(loads)
        #expect(loads.map(\.body) == ["/1", "/2"] && world.network.connections.count == 2)
    }

    @Test func `connections that are idle already count`() {
        served()
        world.load("http://api.test/")
        #expect(world.warm("http://api.test/").idle == nil)
        world.settle()
        #expect(world.network.connections.count == 1)
        let warm = world.warm("http://api.test/", count: 3)
        world.advance(by: .seconds(1))

        #expect(warm.idle == 3 && world.network.connections.count == 3)
    }

    @Test func `two that want connections at once share them`() {
        served()
        let both = [world.warm("http://api.test/", count: 2), world.warm("http://api.test/", count: 3)]
        world.advance(by: .seconds(1))

        #expect(both.allSatisfy { $0.idle != nil } && world.network.connections.count == 3)
    }

    @Test(arguments: [(3, nil, 64), (6, 3, 64), (3, nil, 3)] as [(Int, Int?, Int)])
    func `T-WRM-02 no limit is passed`(perHost: Int, total: Int?, idle: Int) {
        world.settings.pool.maximumConnectionsPerHost = perHost
        world.settings.pool.maximumConnections = total
        world.settings.pool.maximumIdleConnections = idle
        served()
        let warm = world.warm("http://api.test/", count: .max)
        world.advance(by: .seconds(1))

        #expect(warm.idle == 3 && world.network.connections.count == 3)
    }

    @Test func `T-WRM-02 no connection of another host is closed for one that no request needs`() {
        world.settings.pool.maximumConnections = 1
        served()
        world.serveEcho("other.test")
        world.load("http://other.test/")
        let warm = world.warm("http://api.test/")
        world.advance(by: .seconds(1))

        #expect(warm.idle == 0 && world.hosts == ["other.test"] && world.network.openConnections.count == 1)
    }

    @Test func `a request that comes meanwhile at the limit takes the connection in the making`() {
        world.settings.pool.maximumConnectionsPerHost = 1
        served()
        let warm = world.warm("http://api.test/")
        world.advance(by: .milliseconds(50))
        let load = world.get("http://api.test/")
        world.run(load)

        #expect(load.body == "/" && world.network.connections.count == 1)
        #expect(warm.idle == 0 && warm.stops.isEmpty)
    }

    @Test func `a dial that fails says so, and fails no request`() {
        world.host("api.test", "192.0.2.1")
        world.set(.refuses(after: .milliseconds(10)), for: "192.0.2.1")
        let warm = world.warm("http://api.test/", count: 2)
        world.advance(by: .milliseconds(5))
        served(connecting: .milliseconds(1))
        let load = world.get("http://api.test/")
        world.run(load)
        world.advance(by: .seconds(1))

        #expect(warm.stops == ["unreachable"] && load.body == "/")
    }

    @Test func `who wants them no more leaves nothing behind`() {
        served()
        let warm = world.warm("http://api.test/", count: 2)
        world.advance(by: .milliseconds(50))
        warm.cancel()
        world.settle()

        #expect(warm.idle == nil && warm.stops.isEmpty && world.network.openConnections.isEmpty)
    }

    /// Its age explains its end, although no request has completed on it.
    @Test(arguments: ["GET", "POST"])
    func `T-WRM-03 a request on a warmed connection that its server has given up is sent once more`(method: String) {
        world.scripts(
            "api.test",
            [[.expectRequest, .close], [.expectRequest, .reply(VirtualSystem.echo("/")), .again]]
        )
        let warm = world.warm("http://api.test/")
        world.advance(by: .seconds(30))
        let load = world.send(method, "http://api.test/")
        world.run(load)

        #expect(warm.idle == 1)
        #expect(method == "GET" ? load.body == "/" : load.failure == "lost")
    }

    @Test(arguments: [true, false])
    func `T-WRM-06 connections that do not last are not made in a loop`(byServer: Bool) {
        if !byServer { world.settings.pool.idleConnectionTimeout = 0 }
        if byServer { world.script("api.test", .close) } else { served() }
        let warm = world.warm("http://api.test/", count: 2)
        world.advance(by: .seconds(10))

        #expect(warm.idle != nil && world.network.connections.count == 2 && world.network.openConnections.isEmpty)
    }

    @Test func `T-WRM-04 what is in the making under former rules goes, and what is idle as well`() throws {
        let site = try MemorySite("api.test")
        let log = LayeredServer.Log()
        world.settings.tls = site.tls
        world.serve("api.test", port: 443) { LayeredServer([.tls(site.context), .echo], log) }
        let warm = world.warm("https://api.test/")
        world.advance(by: .seconds(1))
        world.set(.acceptsAfter(.seconds(1)), for: "192.0.2.1", port: 443)
        let late = world.warm("https://api.test/", count: 2)
        world.advance(by: .milliseconds(10))
        #expect(warm.idle == 1 && world.network.openConnections.count == 2)

        var tls = site.tls
        tls.evaluator = FixedEvaluator.refusing
        world.replace(tls)
        let load = world.get("https://api.test/")
        world.run(load)

        #expect(late.stops == ["rules"] && late.idle == nil && load.failure == "trust, pins of the test")
        #expect(world.network.openConnections.isEmpty && log.heads.isEmpty)
    }

    @Test func `T-WRM-05 no proxy is asked for a tunnel in the clear that the rules forbid meanwhile`() throws {
        let bench = try TransferBench("http://proxy.test:3128") { $0.tunnelsPlainHTTP = true }
        bench.world.host("proxy.test", "192.0.2.1")
        bench.proxy(scripts: [[.head(TransferBench.granted), .echo]])
        bench.world.set(.acceptsAfter(.milliseconds(100)), for: "192.0.2.1", port: 3128)
        let warm = bench.world.warm("http://api.test/")
        bench.world.advance(by: .milliseconds(50))
        bench.world.pinned = ["api.test"]
        bench.world.advance(by: .seconds(1))

        #expect(warm.stops == ["rules"] && bench.log.heads.isEmpty)
        #expect(bench.world.network.openConnections.isEmpty && bench.finish() == [])
    }

    @Test func `a tunnel that is warmed is the one of the next request`() throws {
        let bench = try TransferBench("http://proxy.test:3128") { $0.tunnelsPlainHTTP = true }
        bench.world.host("proxy.test", "192.0.2.1")
        bench.proxy(scripts: [[.head(TransferBench.granted), .echo]])
        let warm = bench.world.warm("http://api.test/")
        bench.world.advance(by: .seconds(1))
        #expect(warm.idle == 1 && bench.log.heads.count == 1)
        let load = bench.world.load("http://api.test/1")

        #expect(load.body == "/1" && bench.hosts.count == 1 && bench.finish() == [])
    }

    @Test func `T-WRM-06 the end of the session is the end of what is in the making`() {
        served()
        let warm = world.warm("http://api.test/")
        world.advance(by: .milliseconds(50))
        world.pool.shutDown()
        world.settle()

        #expect(warm.stops.isEmpty && warm.idle == nil && world.network.openConnections.isEmpty)
    }
}
