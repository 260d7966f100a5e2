import AFTLS

extension ProxyTests {
    /// Plain http, which a proxy reads.
    @Suite("Requests through an http proxy")
    struct PlainRequests {
        @Test func `T-PRX-18 an answer belongs to the server whose it is`() throws {
            let bench = try ProxyBench("http://proxy.test:3128")
            bench.proxy(.echo)

            let events = bench.send("http://api.test/path")

            #expect(events.task.response?.url?.absoluteString == "http://api.test/path")
            #expect(events.task.currentRequest?.url?.host() == "api.test")
            let metrics = try #require(events.record.metrics?.transactionMetrics.first)
            #expect(metrics.isProxyConnection && metrics.remotePort == 3128)
            #expect(bench.finish() == [])
        }

        @Test func `a 407 to a request that the proxy reads is its answer`() throws {
            let bench = try ProxyBench("http://proxy.test:3128")
            bench.proxy(
                .answer("HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 2\r\n\r\nno")
            )

            #expect(bench.send("http://api.test/").all == [.response(407), .data(2), .finished])
            #expect(bench.finish() == [])
        }

        @Test func `T-RED-05 a redirect takes the way of its target, with the credentials of that way`() throws {
            let authority = try CertificateAuthority()
            let api = try MemorySite("api.test", by: authority)
            let direct = try MemorySite("direct.test", by: authority)
            let bench = ProxyBench { configuration in
                var proxies = ProxyConfiguration()
                proxies.http = try? ProxyServer("http://one:canary-one@proxy.test:3128")
                proxies.https = try? ProxyServer("http://two:canary-two@other.test:3128")
                proxies.exceptions = (try? ProxyExceptions(["direct.test"])) ?? ProxyExceptions()
                configuration.proxies = proxies
                configuration.tls = api.tls
            }
            let other = LayeredServer.Log()
            let last = bench.direct
            let found = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
            bench.proxy(.answer(found + "https://api.test/2\r\n\r\n"))
            bench.proxy(
                scripts: [
                    [.head(ProxyBench.granted), .tls(api.context), .answer(found + "https://direct.test/3\r\n\r\n")]
                ],
                host: "other.test",
                log: other
            )
            bench.world.serve("direct.test", port: 443) { LayeredServer([.tls(direct.context), .echo], last) }

            let events = bench.send("http://start.test/1", fields: ["Proxy-Authorization": "Basic canary-own"])

            #expect(events.body == "/3", "\(events.failure?.message ?? "")")
            let one = "Proxy-Authorization: \(HTTPBasic.value("one", "canary-one"))\r\n"
            let two = "Proxy-Authorization: \(HTTPBasic.value("two", "canary-two"))\r\n"
            #expect(bench.log.heads.count == 1 && bench.log.plainText.contains(one))
            #expect(other.heads.count == 2 && other.heads[0].contains(two) && !other.heads[1].contains("Proxy-"))
            #expect(!other.plainText.contains(one) && !bench.log.plainText.contains(two))
            #expect(last.heads.count == 1 && !last.plainText.contains("Proxy-"))
            for log in [bench.log, other, last] { #expect(!log.plainText.contains("canary")) }
            #expect(bench.finish() == [])
        }
    }
}
