import AFTLS

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

        // MARK: - What is answered

        @Test(arguments: [302, 401, 403, 404, 500, 502, 301])
        func `T-PRX-05 T-MSG-57 a proxy's refusal is not the server's answer`(status: Int) throws {
            let refusal: [[ProxyBench.Stage]] = [
                [
                    .head(
                        "HTTP/1.1 \(status) \u{9B}31mcanary-reason\(String(repeating: "!", count: 5000))\r\nLocation: http://evil.test/\r\nSet-Cookie: a=canary\r\n"
                            + "WWW-Authenticate: Basic realm=canary\r\nContent-Length: 11\r\n\r\ncanary-body"
                    ), .echo,
                ]
            ]
            let bench = try bench(refusal, user: "me:secret@")

            let events = bench.send("http://api.test/")

            #expect(events.all == [.failed(.cannotConnectToHost)])
            #expect(events.isRefusedByProxy && events.failure?.detail == .refused)
            #expect(events.failure?.proxyReply == status)
            #expect(events.failure?.message.contains("canary-body") == false)
            let message = try #require(events.failure?.message)
            #expect(message.utf8.allSatisfy { 0x20..<0x7F ~= $0 } && message.utf8.count < 600)
            #expect(!message.contains("secret"))
            #expect(events.task.response == nil && events.record.body.isEmpty)
            #expect(bench.world.session.configuration.httpCookieStorage?.cookies == [])
            #expect(bench.hosts == ["proxy.test"] && bench.world.network.openConnections.isEmpty)
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
    }
}
