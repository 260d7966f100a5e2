import AFLoop
import AFTLS
import AFTestSupport
import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

extension ProxyTests {
    /// What a proxy may answer to CONNECT. Most of it shows without TLS inside.
    @Suite("Tunnels through an http proxy")
    struct Tunnels {
        private func bench(_ stages: [[ProxyBench.Stage]], user: String = "") throws -> ProxyBench {
            let bench = try ProxyBench("http://\(user)proxy.test:3128") { $0.tunnelsPlainHTTP = true }
            bench.proxy(scripts: stages)
            return bench
        }

        private let site: MemorySite

        init() throws {
            site = try MemorySite("api.test")
        }

        // MARK: - What is asked

        @Test func `T-PRX-01 T-PRX-02 the proxy learns of host and port, and the server of no proxy`() throws {
            let site = site
            let bench = ProxyBench { configuration in
                var proxies = ProxyConfiguration()
                proxies.all = try? ProxyServer("http://me:secret@proxy.test:3128")
                proxies.tunnelFields = ["X-Office": "7"]
                configuration.proxies = proxies
                configuration.tls = site.tls
                configuration.httpAdditionalHeaders = ["X-Everywhere": "canary"]
            }
            bench.proxy(.head(ProxyBench.granted), .tls(site.context), .echo)
            let fields = [
                "Authorization": "canary", "Cookie": "canary", "X-Api-Key": "canary", "User-Agent": "own/1",
                "Proxy-Authorization": "Basic canary",
            ]

            let events = bench.send("https://api.test/path?canary", fields: fields)

            #expect(events.body == "/path?canary", "\(events.error.map { "\($0)" } ?? "")")
            let connect = try #require(bench.log.heads.first)
            #expect(!connect.contains("canary") && connect.hasPrefix("CONNECT api.test:443 HTTP/1.1\r\n"))
            let names = connect.split(separator: "\r\n").dropFirst().map { $0.prefix { $0 != ":" } }
            #expect(names == ["Host", "Proxy-Authorization", "User-Agent", "X-Office"])
            #expect(connect.contains("\r\nUser-Agent: own/1\r\n"))
            let inner = try #require(bench.log.heads.last)
            #expect(inner.hasPrefix("GET /path?canary HTTP/1.1\r\nHost: api.test\r\n"))
            #expect(!inner.contains("Proxy-") && !inner.contains("X-Office") && !inner.contains("c2VjcmV0"))
            let metrics = try #require(events.record.metrics?.transactionMetrics.first)
            #expect(metrics.isProxyConnection && metrics.remotePort == 3128)
            #expect(metrics.negotiatedTLSProtocolVersion == .TLSv13)
            #expect(bench.finish() == [])
        }

        @Test func `T-PRX-01 T-PRX-08 a tunnel has the User-Agent of the requests it is for, or of the session`() throws
        {
            let bench = ProxyBench { configuration in
                var proxies = ProxyConfiguration()
                proxies.all = try? ProxyServer("http://proxy.test:3128")
                proxies.tunnelsPlainHTTP = true
                configuration.proxies = proxies
                configuration.httpAdditionalHeaders = ["User-Agent": "session/1"]
            }
            bench.proxy(scripts: [[.head(ProxyBench.granted), .echo]])

            for fields in [[:], ["User-Agent": "own/1"], [:], ["User-Agent": "own/1"], ["User-Agent": "other/1"]] {
                #expect(bench.send("http://one.test/x", fields: fields).body == "/x")
            }

            let agents = bench.log.heads.map { head in
                let line = head.components(separatedBy: "\r\n").first { $0.hasPrefix("User-Agent: ") }
                return "\(head.prefix { $0 != " " }) \(line?.dropFirst(12) ?? "-")"
            }
            #expect(
                agents == [
                    "CONNECT session/1", "GET session/1", "CONNECT own/1", "GET own/1", "GET session/1", "GET own/1",
                    "CONNECT other/1", "GET other/1",
                ]
            )
            #expect(bench.finish() == [])
        }

        @Test func `T-PRX-08 each server has tunnels of its own, which its requests share`() throws {
            let bench = try bench([[.head(ProxyBench.granted), .echo]])

            for host in ["one.test", "two.test", "one.test", "two.test", "one.test:81"] {
                #expect(bench.send("http://\(host)/x").body == "/x")
            }

            #expect(bench.log.heads.count(where: { $0.hasPrefix("CONNECT") }) == 3)
            #expect(bench.hosts.count == 3)
            #expect(bench.finish() == [])
        }

        // MARK: - What is answered

        @Test(arguments: [302, 401, 403, 404, 500, 502, 301])
        func `T-PRX-05 T-MSG-57 a proxy's refusal is not the server's answer`(status: Int) throws {
            let bench = try bench([
                [
                    .head(
                        "HTTP/1.1 \(status) \u{9B}31mcanary-reason\(String(repeating: "!", count: 5000))\r\nLocation: http://evil.test/\r\nSet-Cookie: a=canary\r\n"
                            + "WWW-Authenticate: Basic realm=canary\r\nContent-Length: 11\r\n\r\ncanary-body"
                    ), .echo,
                ]
            ])

            let events = bench.send("http://api.test/")

            #expect(events.all == [.failed(.cannotConnectToHost)])
            #expect(events.isRefusedByProxy && events.failure?.detail == .refused)
            #expect(events.failure?.proxyReply == status)
            #expect(events.failure?.message.contains("canary-body") == false)
            let message = try #require(events.failure?.message)
            #expect(message.utf8.allSatisfy { 0x20..<0x7F ~= $0 } && message.utf8.count < 600)
            #expect(events.task.response == nil && events.record.body.isEmpty)
            #expect(bench.world.session.configuration.httpCookieStorage?.cookies == [])
            #expect(bench.hosts == ["proxy.test"] && bench.world.network.openConnections.isEmpty)
            #expect(bench.finish() == [])
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

        @Test(
            arguments: bodies
        )
        func `T-PRX-03 whatever body a 407 has, it is not waited for, and the next request begins anew`(body: String)
            throws
        {
            let no = "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=x\r\n\(body)"
            let bench = try bench([[.head(no)], [.head(ProxyBench.granted), .echo]])

            let started = bench.world.now
            let events = bench.send("http://api.test/1")

            #expect(events.all == [.failed(.userAuthenticationRequired)])
            #expect(events.isRefusedByProxy && events.failure?.detail == .credentials)
            #expect(events.failure?.proxyReply == 407)
            #expect(bench.world.network.openConnections.isEmpty)
            #expect(bench.world.now == started)
            #expect(bench.send("http://api.test/2").body == "/2")
            #expect(bench.hosts.count == 2)
            #expect(bench.finish() == [])
        }

        @Test func `T-PRX-03 an endless body holds nothing up`() throws {
            let bench = try ProxyBench("http://proxy.test:3128") { $0.tunnelsPlainHTTP = true }
            bench.world.network.recordsBytes = false
            bench.world.serve("proxy.test", port: 3128) {
                ScriptedServer([.expectRequest, .reply("HTTP/1.1 407 Who?\r\n\r\n"), .fill(50_000_000)])
            }

            let events = bench.send("http://api.test/")

            #expect(events.all == [.failed(.userAuthenticationRequired)])
            #expect(bench.finish() == [])
        }

        private static var surplus: [[ProxyBench.Stage]] {
            [
                [.head(ProxyBench.granted + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")],
                [.head("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")],
                [.head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n")],
                [.head(ProxyBench.granted + "\u{16}\u{3}\u{1}")],
                [.head(ProxyBench.granted + String(repeating: "evil", count: 100_000))],
            ]
        }

        @Test(
            arguments: 0..<5
        )
        func `T-PRX-04 T-TLS-72 bytes before the first request are not the server's`(index: Int) throws {
            let site = site
            for url in ["https://api.test/", "http://api.test/"] {
                let bench = ProxyBench { configuration in
                    var proxies = ProxyConfiguration()
                    proxies.all = try? ProxyServer("http://proxy.test:3128")
                    proxies.tunnelsPlainHTTP = true
                    configuration.proxies = proxies
                    configuration.tls = site.tls
                }
                bench.proxy(scripts: [Tunnels.surplus[index]])

                let events = bench.send(url, fields: ["Authorization": "canary"])

                #expect(events.all == [.failed(.cannotConnectToHost)], "\(url)")
                #expect(events.isRefusedByProxy && events.failure?.detail == .malformed)
                #expect(!bench.log.plainText.contains("canary") && bench.log.greetings.isEmpty)
                #expect(bench.hosts.count == 1 && bench.world.network.openConnections.isEmpty)
                #expect(bench.finish() == [])
            }
        }

        private static let malformed = [
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            "<html>hello</html>\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n",
            String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 40),
            "HTTP/1.1 2000 What\r\n\r\n",
        ]

        @Test("T-PRX-06 an answer that is none ends the attempt", arguments: malformed)
        func noAnswer(answer: String) throws {
            let bench = try bench([[.head(answer), .echo]])

            let events = bench.send("http://api.test/")

            #expect(events.all == [.failed(.cannotConnectToHost)])
            #expect(events.isRefusedByProxy && events.failure?.detail == .malformed)
            #expect(bench.hosts.count == 1 && bench.world.network.openConnections.isEmpty)
            #expect(bench.finish() == [])
        }

        @Test func `T-PRX-06 a trickled head meets the deadline of the request`() throws {
            let bench = try ProxyBench("http://proxy.test:3128") { $0.tunnelsPlainHTTP = true }
            let head = "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 300)
            bench.world.serve("proxy.test", port: 3128) {
                ScriptedServer([.expectRequest, .dribble(head, 1, every: .milliseconds(500)), .stall])
            }

            let started = bench.world.now
            let events = bench.world.get("http://api.test/", idleTimeout: .seconds(5))
            bench.world.run { events.isComplete }

            #expect(events.all == [.failed(.timedOut)])
            #expect(events.phase == .proxy)
            #expect(started.duration(to: bench.world.now) < .seconds(6))
            #expect(bench.finish() == [])
        }

        @Test("T-PRX-07 a tunnel that breaks off is one failure, and no second attempt", arguments: 0...3)
        func dropped(stage: Int) throws {
            let site = site
            let bench = ProxyBench { configuration in
                configuration.proxies = (try? ProxyServer("http://proxy.test:3128")).map { ProxyConfiguration($0) }
                configuration.tls = site.tls
            }
            let scripts: [[ProxyBench.Stage]] = [
                [.bytes(1, []), .close],
                [.head("HTTP/1.1 200"), .close],
                [.head(ProxyBench.granted), .close],
                [.head(ProxyBench.granted), .bytes(50, [22, 3, 3, 0]), .close],
            ]
            bench.proxy(scripts: [scripts[stage]])

            let events = bench.send("https://api.test/")

            #expect(events.all == [.failed(.networkConnectionLost)])
            #expect(events.failure?.reason == .lost && events.failure?.detail == .proxy)
            #expect(events.phase == (stage < 3 ? .proxy : .tls))
            #expect(events.record.completions == 1 && bench.hosts == ["proxy.test"])
            #expect(bench.finish() == [])
        }

        @Test func `T-AUT-17 a 407 inside a tunnel or without a proxy is the server's own answer`() throws {
            let answer = "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 2\r\n\r\nno"
            let bench = try bench([[.head(ProxyBench.granted), .answer(answer)]], user: "me:secret@")
            #expect(bench.send("http://api.test/").all == [.response(407), .data(2), .finished])
            #expect(bench.log.heads.count == 2 && !bench.log.heads[1].contains("Proxy-"))
            #expect(bench.finish() == [])

            let direct = try ProxyBench("http://me:secret@proxy.test:3128") {
                $0.exceptions = try ProxyExceptions(["*"])
            }
            let log = direct.direct
            direct.world.serve("api.test") { LayeredServer([.answer(answer)], log) }
            #expect(direct.send("http://api.test/").all == [.response(407), .data(2), .finished])
            #expect(log.heads.count == 1 && !log.plainText.contains("Proxy-"))
            #expect(direct.finish() == [])
        }

        @Test func `cancelling at any point of the way leaves nothing behind`() throws {
            let site = site
            for steps in 0..<40 {
                let bench = ProxyBench { configuration in
                    configuration.proxies = (try? ProxyServer("http://proxy.test:3128")).map { ProxyConfiguration($0) }
                    configuration.tls = site.tls
                }
                bench.world.network.link.latency = 1_000_000...1_000_000
                bench.proxy(.head(ProxyBench.granted), .tls(site.context), .echo)
                let events = bench.world.get("https://api.test/")
                for _ in 0..<steps where !events.isComplete {
                    _ = bench.world.step(until: bench.world.now + .seconds(1))
                }

                events.task.cancel()
                bench.world.run { events.isComplete }

                #expect(events.record.completions == 1)
                #expect(bench.finish() == [], "after \(steps) steps")
            }
        }

        @Test func `on a link in any condition the same is said`() throws {
            for seed in 1...30 {
                let world = VirtualWorld(seed: UInt64(seed), holdsBack: 20)
                var conditions = SeededGenerator(seed: UInt64(seed))
                world.network.link = .random(using: &conditions)
                let log = LayeredServer.Log()
                var proxies = ProxyConfiguration(try ProxyServer("http://proxy.test:3128"))
                proxies.tunnelsPlainHTTP = true
                world.configure { [proxies] in $0.proxies = proxies }
                world.serve("proxy.test", port: 3128) { LayeredServer([.head(ProxyBench.granted), .echo], log) }

                #expect(world.load("http://api.test/x").body == "/x", "seed \(seed)")
                #expect(world.finish() == [])
            }
        }
    }
}
