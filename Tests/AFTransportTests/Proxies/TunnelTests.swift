import AFLoop
import Foundation

@testable import AFTransport

extension ProxyTests {
    /// What a proxy may answer to CONNECT. Most of it shows without TLS inside.
    @Suite("Tunnels through an http proxy")
    struct Tunnels {
        private func bench(_ stages: [[TransferBench.Stage]]) throws -> TransferBench {
            let bench = try TransferBench("http://proxy.test:3128") { $0.tunnelsPlainHTTP = true }
            bench.proxy(scripts: stages)
            return bench
        }

        private let site: MemorySite

        init() throws {
            site = try MemorySite("api.test")
        }

        private static let bodies = [
            "Content-Length: 2\r\n\r\nno",
            "Content-Length: 0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            "Content-Length: 99999999999\r\n\r\nno",
            "Content-Length: 5\r\n\r\nno",
            "\r\nuntil the end",
            "Connection: close\r\n\r\n",
        ]

        private static var surplus: [[TransferBench.Stage]] {
            [
                [.head(TransferBench.granted + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")],
                [.head("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")],
                [.head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n")],
                [.head(TransferBench.granted + "\u{16}\u{3}\u{1}")],
                [.head(TransferBench.granted + String(repeating: "evil", count: 100_000))],
            ]
        }

        private static let malformed = [
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            "<html>hello</html>\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n",
            String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 40),
            "HTTP/1.1 2000 What\r\n\r\n",
        ]

        @Test func `T-PRX-08 each server has tunnels of its own, which its requests share`() throws {
            let bench = try bench([[.head(TransferBench.granted), .echo]])

            for host in ["one.test", "two.test", "one.test", "two.test", "one.test:81"] {
                #expect(bench.send("http://\(host)/x").body == "/x")
            }

            #expect(bench.log.heads.count(where: { $0.hasPrefix("CONNECT") }) == 3)
            #expect(bench.hosts.count == 3)
            #expect(bench.finish() == [])
        }

        @Test(
            arguments: bodies
        )
        func `T-PRX-03 whatever body a 407 has, it is not waited for, and the next request begins anew`(body: String)
            throws
        {
            let no = "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=x\r\n\(body)"
            let bench = try bench([[.head(no)], [.head(TransferBench.granted), .echo]])

            let started = bench.world.now
            let events = bench.send("http://api.test/1")

            #expect(events.all == [.failed("proxy refused 407")])
            #expect(bench.world.network.openConnections.isEmpty)
            #expect(bench.world.now == started)
            #expect(bench.send("http://api.test/2").body == "/2")
            #expect(bench.hosts.count == 2)
            #expect(bench.finish() == [])
        }

        @Test func `T-PRX-03 an endless body holds nothing up`() throws {
            let bench = try TransferBench("http://proxy.test:3128") { $0.tunnelsPlainHTTP = true }
            bench.world.network.recordsBytes = false
            bench.world.serve("proxy.test", port: 3128) {
                ScriptedServer([.expectRequest, .reply("HTTP/1.1 407 Who?\r\n\r\n"), .fill(50_000_000)])
            }

            let events = bench.send("http://api.test/")

            #expect(events.all == [.failed("proxy refused 407")])
            #expect(bench.finish() == [])
        }

        @Test(
            arguments: 0..<5
        )
        func `T-PRX-04 T-TLS-72 bytes before the first request are not the server's`(index: Int) throws {
            for url in ["https://api.test/", "http://api.test/"] {
                let bench = try TransferBench { settings in
                    settings.proxies = ProxyConfiguration(try ProxyServer("http://proxy.test:3128"))
                    settings.proxies.tunnelsPlainHTTP = true
                    settings.tls = site.tls
                }
                bench.proxy(scripts: [Tunnels.surplus[index]])

                let events = bench.send(url, fields: ["Authorization": "canary"])

                #expect(events.all == [.failed("proxy surplus")], "\(url)")
                #expect(!bench.log.plainText.contains("canary") && bench.log.greetings.isEmpty)
                #expect(bench.hosts.count == 1 && bench.world.network.openConnections.isEmpty)
                #expect(bench.finish() == [])
            }
        }

        @Test("T-PRX-06 an answer that is none ends the attempt", arguments: malformed)
        func noAnswer(answer: String) throws {
            let bench = try bench([[.head(answer), .echo]])

            let events = bench.send("http://api.test/")

            #expect(events.all == [.failed("proxy malformed")])
            #expect(bench.hosts.count == 1 && bench.world.network.openConnections.isEmpty)
            #expect(bench.finish() == [])
        }

        @Test func `T-PRX-06 a trickled head meets the deadline of the request`() throws {
            let bench = try TransferBench("http://proxy.test:3128") { $0.tunnelsPlainHTTP = true }
            let head = "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 300)
            bench.world.serve("proxy.test", port: 3128) {
                ScriptedServer([.expectRequest, .dribble(head, 1, every: .milliseconds(500)), .stall])
            }

            let started = bench.world.now
            let events = bench.world.get("http://api.test/", idleTimeout: .seconds(5))
            bench.world.run(events)

            #expect(events.all == [.failed("late, proxy")])
            #expect(started.duration(to: bench.world.now) < .seconds(6))
            #expect(bench.finish() == [])
        }

        @Test("T-PRX-07 a tunnel that breaks off is one failure, and no second attempt", arguments: 0...3)
        func dropped(stage: Int) throws {
            let bench = try TransferBench { settings in
                settings.proxies = ProxyConfiguration(try ProxyServer("http://proxy.test:3128"))
                settings.tls = site.tls
            }
            let scripts: [[TransferBench.Stage]] = [
                [.bytes(1, []), .close],
                [.head("HTTP/1.1 200"), .close],
                [.head(TransferBench.granted), .close],
                [.head(TransferBench.granted), .bytes(50, [22, 3, 3, 0]), .close],
            ]
            bench.proxy(scripts: [scripts[stage]])

            let events = bench.send("https://api.test/")

            #expect(events.all == [.failed(stage < 3 ? "proxy closed" : "proxy lost")])
            #expect(events.completions == 1 && bench.hosts == ["proxy.test"])
            #expect(bench.finish() == [])
        }

        @Test func `cancelling at any point of the way leaves nothing behind`() throws {
            for steps in 0..<40 {
                let bench = try TransferBench { settings in
                    settings.proxies = ProxyConfiguration(try ProxyServer("http://proxy.test:3128"))
                    settings.tls = site.tls
                }
                bench.world.network.link.latency = 1_000_000...1_000_000
                bench.proxy(.head(TransferBench.granted), .tls(site.context), .echo)
                let events = bench.world.get("https://api.test/")
                for _ in 0..<steps where !events.isComplete {
                    _ = bench.world.step(until: bench.world.now + .seconds(1))
                }

                events.cancel()
                bench.world.run(events)

                #expect(events.completions == 0 || events.all.last == .finished)
                #expect(bench.finish() == [], "after \(steps) steps")
            }
        }

        @Test func `on a link in any condition the same is said`() throws {
            for seed in 1...30 {
                let world = TransferWorld(seed: UInt64(seed), holdsBack: 20)
                var conditions = SeededGenerator(seed: UInt64(seed))
                world.network.link = .random(using: &conditions)
                let log = LayeredServer.Log()
                world.settings.proxies = ProxyConfiguration(try ProxyServer("http://proxy.test:3128"))
                world.settings.proxies.tunnelsPlainHTTP = true
                world.serve("proxy.test", port: 3128) { LayeredServer([.head(TransferBench.granted), .echo], log) }

                #expect(world.load("http://api.test/x").body == "/x", "seed \(seed)")
                #expect(world.finish() == [])
            }
        }
    }
}
