import AFBase
import AFLoop
import AFNetworkingTesting
import AFTLS
import Foundation

@testable import AFTransport

extension ProxyTests {
    /// TLS to the proxy, and TLS to the server within it.
    @Suite("Proxies that speak TLS")
    struct Secured {
        enum Certificate: CaseIterable {
            case good, wrongName, unknownRoot, expired
        }

        /// What shows one of these certificates, and what its client trusts.
        private struct Party {
            let site: MemorySite
            let tls: TLSConfiguration

            init(_ host: String, _ certificate: Certificate, _ version: TLSVersion = .v1_3, tickets: Int32 = 0) throws {
                let authority = try CertificateAuthority()
                var template = CertificateTemplate.server(for: [certificate == .wrongName ? "wrong.test" : host])
                if certificate == .expired { template.expire() }
                site = try MemorySite(try authority.issue(template), version, tickets: tickets, by: authority)
                var tls = TLSConfiguration()
                let trusted = certificate == .unknownRoot ? try CertificateAuthority() : authority
                tls.anchors = .certificates([trusted.certificate])
                self.tls = tls
            }
        }

        private func bench(
            _ proxy: Party,
            _ server: Party,
            _ stages: [TransferBench.Stage]? = nil
        ) throws -> TransferBench {
            var way = try ProxyServer("https://me:secret@proxy.test:3128")
            way.tls = proxy.tls
            let bench = try TransferBench { settings in
                settings.proxies = ProxyConfiguration(way)
                settings.tls = server.tls
            }
            let usual: [TransferBench.Stage] = [
                .tls(proxy.site.context), .head(TransferBench.granted), .tls(server.site.context), .echo,
            ]
            bench.proxy(scripts: [stages ?? usual])
            return bench
        }

        @Test(
            arguments: [TLSVersion.v1_2, .v1_3],
            [TLSVersion.v1_2, .v1_3]
        )
        func `a request is answered through TLS within TLS`(outer: TLSVersion, inner: TLSVersion) throws {
            let bench = try bench(try Party("proxy.test", .good, outer), try Party("api.test", .good, inner))

            for path in ["/1", "/2", "/3"] { #expect(bench.send("https://api.test\(path)").body == path) }

            #expect(bench.hosts == ["proxy.test"])
            #expect(
                bench.log.heads.map { String($0.prefix(12)) } == [
                    "CONNECT api.", "GET /1 HTTP/", "GET /2 HTTP/", "GET /3 HTTP/",
                ]
            )
            let greetings = bench.log.greetings.compactMap(Greeting.init)
            #expect(greetings.count == 2 && greetings[0].names("proxy.test") && greetings[1].names("api.test"))
            #expect(!greetings[0].names("api.test"))
            #expect(bench.finish() == [])
        }

        @Test func `bodies of many records pass through both`() throws {
            let size = 700_000
            let body = String(repeating: "0123456789", count: size / 10)
            let proxy = try Party("proxy.test", .good)
            let server = try Party("api.test", .good)
            let bench = try bench(
                proxy,
                server,
                [
                    .tls(proxy.site.context), .head(TransferBench.granted), .tls(server.site.context),
                    .answer("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n\(body)"),
                ]
            )

            let events = bench.world.send("POST", "https://api.test/", body: Data(repeating: 0x61, count: 500_000))
            bench.world.run(events)

            #expect(events.body == body)
            #expect(bench.log.plain.count(where: { $0 == 0x61 }) >= 500_000)
            #expect(bench.finish() == [])
        }

        @Test(
            arguments: Certificate.allCases,
            Certificate.allCases
        )
        func `T-TLS-80 T-PRX-17 each hop is judged by its own rules, and both must pass`(
            proxy: Certificate,
            server: Certificate
        ) throws {
            let bench = try bench(try Party("proxy.test", proxy), try Party("api.test", server))

            let events = bench.send("https://api.test/x", fields: ["Authorization": "canary"])

            if proxy == .good, server == .good {
                #expect(events.body == "/x")
            } else {
                #expect(events.all == [.failed(proxy == .good ? "trust" : "proxy trust")])
                #expect(!bench.log.plainText.contains("canary"))
                // To a proxy that is not trusted not even the name of the server is said, and no password.
                #expect(bench.log.heads.count == (proxy == .good ? 1 : 0))
                if proxy != .good { #expect(!bench.log.plainText.contains("api.test")) }
            }
            #expect(bench.finish() == [])
        }

        @Test func `T-PRX-17 a certificate accepted at one hop is not accepted at the other`() throws {
            // Each shows a certificate that the other's rules would accept.
            let proxy = try Party("proxy.test", .good)
            let server = try Party("api.test", .good)
            let swapped = try bench(
                proxy,
                server,
                [.tls(server.site.context), .head(TransferBench.granted), .tls(proxy.site.context), .echo]
            )

            #expect(swapped.send("https://api.test/").failure == "proxy trust")
            #expect(swapped.log.heads.isEmpty)
            #expect(swapped.finish() == [])
        }

        @Test func `T-PRX-17 the evaluator of a hop is asked about that hop alone`() throws {
            let asked = Watched<[String]>([])
            let note = { (name: String) in
                FixedEvaluator([UInt8](name.utf8)) { trust in
                    asked.change { $0.append("\(name) \(trust.host)") }
                    return trust.evaluation.isTrusted ? .accept : .reject(rule: name, explanation: "not trusted")
                }
            }
            let proxy = try Party("proxy.test", .good)
            let server = try Party("api.test", .good)
            var way = try ProxyServer("https://proxy.test:3128")
            way.tls = proxy.tls
            way.tls.evaluator = note("proxy")
            var tls = server.tls
            tls.evaluator = note("server")
            let bench = try TransferBench { settings in
                settings.proxies = ProxyConfiguration(way)
                settings.tls = tls
            }
            bench.proxy(.tls(proxy.site.context), .head(TransferBench.granted), .tls(server.site.context), .echo)

            #expect(bench.send("https://api.test/x").body == "/x")
            #expect(asked.value == ["proxy proxy.test", "server api.test"])
            #expect(bench.finish() == [])
        }

        @Test(arguments: ["http", "https", "socks5h"])
        func `T-TLS-30 pins are those of the server at the end of the tunnel`(scheme: String) throws {
            // The proxy ends TLS itself, with a certificate for the server that everybody trusts.
            let authority = try CertificateAuthority()
            let genuine = try MemorySite("api.test", by: authority)
            let forged = try MemorySite("api.test", by: authority)
            let proxy = try Party("proxy.test", .good)
            var way = try ProxyServer("\(scheme)://proxy.test:3128")
            way.tls = proxy.tls
            var tls = genuine.tls
            let pin = genuine.issued.certificate.pin
            tls.evaluator = FixedEvaluator([9]) { trust in
                guard trust.evaluation.isTrusted, trust.servedChain.first?.pin == pin else {
                    return .reject(rule: "pins", explanation: "no pin matches")
                }
                return .accept
            }
            let ways: [TransferBench.Stage] =
                switch scheme {
                case "http": [.head(TransferBench.granted)]
                case "https": [.tls(proxy.site.context), .head(TransferBench.granted)]
                default: [.bytes(3, [5, 0]), .bytes(15, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])]
                }
            for (site, isGenuine) in [(genuine, true), (forged, false)] {
                let bench = try TransferBench { settings in
                    settings.proxies = ProxyConfiguration(way)
                    settings.tls = tls
                }
                bench.proxy(scripts: [ways + [.tls(site.context), .echo]])

                let events = bench.send("https://api.test/x", fields: ["Authorization": "canary"])

                #expect((events.body == "/x") == isGenuine)
                #expect(bench.log.plainText.contains("canary") == isGenuine)
                if !isGenuine {
                    #expect(events.failure == "trust, pins")
                    #expect(bench.log.heads.count == (scheme == "socks5h" ? 0 : 1))
                }
                #expect(bench.finish() == [])
            }
        }

        @Test func `T-TLS-06 a TLS session with the proxy is not offered to the server, nor the reverse`()
            throws
        {
            let proxy = try Party("proxy.test", .good, tickets: 2)
            let server = try Party("api.test", .good, tickets: 0)
            let bench = try bench(
                proxy,
                server,
                [
                    .tls(proxy.site.context), .head(TransferBench.granted), .tls(server.site.context),
                    .head("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"),
                ]
            )

            for _ in 1...3 { #expect(bench.send("https://api.test/").body == "ok") }

            let greetings = bench.log.greetings.compactMap(Greeting.init)
            #expect(greetings.map { $0.names("proxy.test") } == [true, false, true, false, true, false])
            #expect(greetings.map(\.offersSession) == [false, false, true, false, true, false])
            #expect(bench.finish() == [])
        }

        @Test func `T-TLS-06 a session remembers a server separately for each route to it`() throws {
            let server = try Party("api.test", .good, tickets: 2)
            let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
            let bench = try TransferBench { settings in
                settings.proxies.https = try ProxyServer("http://proxy.test:3128")
                settings.proxies.exceptions = try ProxyExceptions(["api.test:444"])
                settings.tls = server.tls
            }
            bench.proxy(.head(TransferBench.granted), .tls(server.site.context), .head(closing))
            let log = bench.direct
            let context = server.site.context
            bench.world.serve("api.test", port: 444) { LayeredServer([.tls(context), .head(closing)], log) }

            #expect(bench.send("https://api.test/").body == "ok")
            #expect(bench.send("https://api.test:444/").body == "ok")
            #expect(bench.send("https://api.test/").body == "ok")

            #expect(bench.log.greetings.compactMap(Greeting.init).map(\.offersSession) == [false, true])
            #expect(bench.direct.greetings.compactMap(Greeting.init).map(\.offersSession) == [false])
            #expect(bench.finish() == [])
        }

        /// Decides alike at any time, but is another one after each change.
        private final class ChangingEvaluator: ServerEvaluator {
            let version = Lock<UInt8>(1)
            var fingerprint: [UInt8]? { [version.withLock { $0 }] }

            func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
                trust.evaluation.isTrusted ? .accept : .reject(rule: "", explanation: "")
            }

            func snapshot() -> any ServerEvaluator {
                FixedEvaluator(fingerprint) { $0.evaluation.isTrusted ? .accept : .reject(rule: "r", explanation: "e") }
            }
        }

        @Test func `T-PRX-17 new rules for either hop mean a new way, and old ones serve no further request`() throws {
            let proxy = try Party("proxy.test", .good)
            let server = try Party("api.test", .good)
            let evaluator = ChangingEvaluator()
            var way = try ProxyServer("https://proxy.test:3128")
            way.tls = proxy.tls
            way.tls.evaluator = evaluator
            let bench = try TransferBench { settings in
                settings.proxies = ProxyConfiguration(way)
                settings.tls = server.tls
            }
            bench.proxy(.tls(proxy.site.context), .head(TransferBench.granted), .tls(server.site.context), .echo)

            for path in ["/1", "/2"] { #expect(bench.send("https://api.test\(path)").body == path) }
            #expect(bench.hosts.count == 1)
            evaluator.version.withLock { $0 = 2 }
            for path in ["/3", "/4"] { #expect(bench.send("https://api.test\(path)").body == path) }
            #expect(bench.hosts.count == 2 && bench.world.network.openConnections.count == 1)
            var stricter = server.tls
            stricter.minimumVersion = .v1_3
            bench.world.replace(stricter)
            for path in ["/5", "/6"] { #expect(bench.send("https://api.test\(path)").body == path) }
            #expect(bench.hosts.count == 3 && bench.world.network.openConnections.count == 1)
            #expect(bench.finish() == [])
        }

        @Test func `plain http goes to such a proxy as a request, within TLS`() throws {
            let proxy = try Party("proxy.test", .good)
            let server = try Party("api.test", .good)
            let bench = try bench(proxy, server, [.tls(proxy.site.context), .echo])

            #expect(bench.send("http://api.test/x").body == "http://api.test/x")
            #expect(bench.log.heads.first?.contains("Proxy-Authorization: Basic bWU6c2VjcmV0\r\n") == true)
            #expect(bench.finish() == [])
        }

        @Test func `a proxy that does not speak TLS is said to be no proxy of that kind`() throws {
            let proxy = try Party("proxy.test", .good)
            let bench = try bench(proxy, proxy, [.bytes(20, Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)), .close])

            let events = bench.send("https://api.test/")

            #expect(events.all == [.failed("proxy TLS")])
            #expect(bench.log.heads.isEmpty)
            #expect(bench.finish() == [])
        }

        @Test func `cancelling at any point of TLS within TLS leaves nothing behind`() throws {
            let proxy = try Party("proxy.test", .good)
            let server = try Party("api.test", .good)
            for steps in 0..<50 {
                let bench = try bench(proxy, server)
                bench.world.network.link.latency = 1_000_000...1_000_000
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
    }
}
