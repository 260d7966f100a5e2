import AFTLS

@testable import AFTransport

extension SecuredTests {
    /// What ALPN has agreed on, as the place that makes connections knows it.
    final class AgreedProtocol {
        private var agreed: [ApplicationProtocol?] = []
        private var resumed: [Bool?] = []

        private func bench(_ change: (inout TransferWorld.Settings) throws -> Void) throws -> TransferBench {
            let bench = try TransferBench(change)
            bench.world.connectionMaker = { [unowned self] parts in
                agreed.append(parts.made.handshake?.agreedProtocol)
                resumed.append(parts.made.handshake?.isResumed)
                let connection = parts.connection()
                #expect(connection is HTTP1Connection)
                return connection
            }
            return bench
        }

        /// A server without a proxy.
        private func bench(_ site: MemorySite, _ last: LayeredServer.Stage = .echo) throws -> TransferBench {
            let bench = try bench { $0.tls = site.tls }
            bench.world.serve("api.test", scripts: [[.tls(site.context), last]], port: 443, log: bench.direct)
            return bench
        }

        @Test(
            arguments: [TLSVersion.v1_2, .v1_3],
            [("http/1.1", .http11), (nil, nil)] as [(String?, ApplicationProtocol?)]
        )
        func `the place that makes a connection knows what the server chose`(
            version: TLSVersion,
            choice: (name: String?, agreed: ApplicationProtocol?)
        ) throws {
            let bench = try bench(try MemorySite("api.test", version, protocol: choice.name))

            #expect(bench.send("https://api.test/x").body == "/x")

            #expect(agreed == [choice.agreed])
            #expect(bench.finish() == [])
        }

        @Test(arguments: [TLSVersion.v1_2, .v1_3], ["h2", "http/1.0", "HTTP/1.1"])
        func `T-TLS-73 no connection is made of what speaks another protocol`(version: TLSVersion, name: String) throws
        {
            let bench = try bench(try MemorySite("api.test", version, protocol: name))

            let events = bench.send("https://api.test/x", fields: ["Authorization": "canary"])

            guard case .handshake(let failure)? = events.error, case .tls(let cause) = failure.cause else {
                Issue.record("\(String(describing: events.error))")
                return
            }
            #expect(cause.kind == .alpn && agreed.isEmpty)
            #expect(bench.direct.heads.isEmpty && !bench.direct.plainText.contains("canary"))
            #expect(bench.finish() == [])
        }

        @Test(arguments: [TLSVersion.v1_2, .v1_3])
        func `a short handshake agrees anew`(version: TLSVersion) throws {
            let site = try MemorySite("api.test", version, tickets: 2, protocol: "http/1.1")
            let bench = try bench(site, .head("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"))

            for _ in 1...2 { #expect(bench.send("https://api.test/").body == "ok") }

            #expect(resumed == [false, true] && agreed == [.http11, .http11])
            #expect(bench.finish() == [])
        }

        @Test func `without TLS there is no agreement`() throws {
            let bench = try bench { _ in }
            bench.serveDirectly("api.test")

            #expect(bench.send("http://api.test/x").body == "/x")

            #expect(agreed == [nil] && resumed == [nil])
            #expect(bench.finish() == [])
        }

        @Test(arguments: [("http/1.1", nil), (nil, "http/1.1")] as [(String?, String?)])
        func `what an https proxy chose says nothing about the server behind it`(
            ofProxy: String?,
            ofServer: String?
        ) throws {
            let proxy = try MemorySite("proxy.test", protocol: ofProxy)
            let server = try MemorySite("api.test", protocol: ofServer)
            var way = try ProxyServer("https://proxy.test:3128")
            way.tls = proxy.tls
            let bench = try bench { settings in
                settings.proxies = ProxyConfiguration(way)
                settings.tls = server.tls
            }
            let tunnel: [LayeredServer.Stage] = [
                .tls(proxy.context), .head(TransferBench.granted), .tls(server.context), .echo,
            ]
            bench.proxy(scripts: [tunnel, [.tls(proxy.context), .echo]])

            #expect(bench.send("https://api.test/x").body == "/x")
            // Without a tunnel the request is the proxy's, and its server has no TLS.
            #expect(bench.send("http://api.test/x").body == "http://api.test/x")

            #expect(agreed == [ofServer.map { _ in .http11 }, nil])
            #expect(bench.finish() == [])
        }
    }
}
