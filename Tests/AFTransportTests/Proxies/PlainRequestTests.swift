import AFWire
import Foundation

@testable import AFTransport

extension ProxyTests {
    /// Plain http, which a proxy reads.
    @Suite("Requests through an http proxy")
    struct PlainRequests {
        private static let basic = "Proxy-Authorization: Basic bWU6c2VjcmV0"

        private static let forms: [(String, String)] = [
            ("http://api.test/path?q=1#fragment", "http://api.test/path?q=1"),
            ("http://api.test", "http://api.test/"),
            ("http://api.test:80/", "http://api.test/"),
            ("http://api.test:8080/", "http://api.test:8080/"),
            ("http://user:secret@api.test/x", "http://api.test/x"),
            ("http://api.test?q", "http://api.test/?q"),
            ("http://API.test./x", "http://api.test./x"),
            ("http://[2001:DB8:0::1]/x", "http://[2001:db8::1]/x"),
            ("http://[2001:db8::1]:81/x", "http://[2001:db8::1]:81/x"),
            ("http://192.0.2.9/x", "http://192.0.2.9/x"),
        ]

        @Test("T-PRX-10 the request names the whole URL and nothing it must not", arguments: forms)
        func absoluteForm(url: String, form: String) throws {
            let bench = try TransferBench("http://proxy.test:3128")
            bench.proxy(.echo)

            let events = bench.send(url)

            #expect(events.body == form)
            let head = try #require(bench.log.heads.first)
            let host = try #require(URL(string: form)).absoluteString.split(separator: "/")[1]
            #expect(head.hasPrefix("GET \(form) HTTP/1.1\r\nHost: \(host)\r\n"), "\(head)")
            #expect(!bench.log.plainText.contains("secret"))
            #expect(bench.finish() == [])
        }

        @Test func `T-PRX-02 T-PRX-16 credentials go to their proxy with the first request, and only there`() throws {
            let bench = try TransferBench { settings in
                settings.proxies.http = try ProxyServer("http://me:secret@proxy.test:3128")
                settings.proxies.https = try ProxyServer("http://other.test:3128")
                settings.proxies.exceptions = try ProxyExceptions(["direct.test"])
            }
            let other = LayeredServer.Log()
            bench.proxy(.echo)
            bench.proxy(scripts: [[.head("HTTP/1.1 403 No\r\n\r\n")]], host: "other.test", log: other)
            bench.serveDirectly("direct.test")
            let fields = ["Proxy-Authorization": "Basic canary", "Proxy-Connection": "canary", "Cookie": "a=b"]

            #expect(bench.send("http://api.test/1", fields: fields).error == nil)
            #expect(bench.send("http://direct.test/2", fields: fields).error == nil)
            #expect(bench.send("https://api.test/3", fields: fields).failure == "proxy refused 403")

            #expect(bench.log.heads.count == 1 && bench.log.heads[0].contains("\r\n\(PlainRequests.basic)\r\n"))
            #expect(!bench.direct.plainText.contains("Proxy-") && bench.direct.heads.count == 1)
            #expect(
                !other.plainText.contains("Proxy-") && !other.plainText.contains("Cookie") && other.heads.count == 1
            )
            #expect(!bench.log.plainText.contains("canary"))
            #expect(bench.finish() == [])
        }

        @Test func `T-PRX-09 requests to different servers share no connection and no state`() throws {
            let bench = try TransferBench("http://me:secret@proxy.test:3128")
            bench.proxy(.echo)

            #expect(
                bench.send("http://one.test/", fields: ["Authorization": "canary", "Cookie": "canary"]).error == nil
            )
            #expect(bench.send("http://two.test/").error == nil)
            #expect(bench.send("http://one.test/again").error == nil)

            #expect(bench.hosts == ["proxy.test", "proxy.test"])
            #expect(bench.log.heads.count == 3)
            #expect(!bench.log.heads[1].contains("canary") && !bench.log.heads[2].contains("canary"))
            // Each request is a function of what was asked, and has all of it.
            #expect(bench.log.heads.allSatisfy { $0.contains(PlainRequests.basic) })
            #expect(bench.finish() == [])
        }

        @Test func `T-PRX-19 persistence follows Connection alone, and Proxy-Connection is never sent`() throws {
            let length = "Content-Length: 2\r\n"
            for (fields, connections) in [
                ("Proxy-Connection: close\r\nVia: 1.1 p\r\nAge: 9\r\nKeep-Alive: timeout=60\r\n", 1),
                ("Proxy-Connection: keep-alive\r\nConnection: close\r\n", 3),
                ("Connection: proxy-connection, x-hop\r\nX-Hop: 1\r\n", 1),
            ] {
                let bench = try TransferBench("http://proxy.test:3128")
                bench.proxy(.answer("HTTP/1.1 200 OK\r\n\(fields)\(length)\r\nok"))

                for _ in 1...3 { #expect(bench.send("http://api.test/").body == "ok") }

                #expect(bench.hosts.count == connections, "\(fields)")
                #expect(!bench.log.plainText.lowercased().contains("proxy-connection"))
                #expect(bench.finish() == [])
            }
        }

        @Test func `T-PRX-20 no name is looked up but the proxy's, and this machine is not asked for`() throws {
            for url in ["http://proxy.test:3128", "socks5h://proxy.test:3128"] {
                let bench = try TransferBench(url)
                bench.proxy(.bytes(url.hasPrefix("http") ? 1 : 3, []), .close)
                bench.serveDirectly("localhost")

                #expect(bench.send("http://intern.test/").error != nil)
                #expect(bench.send("https://intern.test/").error != nil)
                #expect(bench.world.resolver.names.allSatisfy { $0 == "proxy.test" })
                #expect(bench.send("http://localhost/").body == "/")
                #expect(bench.hosts.last == "localhost")
                #expect(bench.finish() == [])
            }
        }

        @Test(arguments: [
            "http://proxy.test:3128", "https://proxy.test:3128", "socks5://proxy.test:3128",
            "socks5h://proxy.test:3128",
        ]
        )
        func `T-PRX-11 a proxy that fails fails the request, and no other is tried`(proxy: String) throws {
            for url in ["http://api.test/", "https://api.test/"] {
                let bench = try TransferBench(proxy)
                bench.world.host("proxy.test", "192.0.2.50")
                bench.serveDirectly("api.test")
                bench.serveDirectly("api.test", port: 443)

                let events = bench.send(url)

                #expect(events.all == [.failed("proxy unreachable")])
                #expect(bench.direct.plain.isEmpty && !bench.hosts.contains("api.test"))
                #expect(bench.finish() == [])
            }
        }

        @Test func `T-PRX-11 a proxy whose name is not found fails the request`() throws {
            let bench = try TransferBench("http://me:secret@nowhere.test:3128")
            bench.serveDirectly("api.test")

            let events = bench.send("http://api.test/")

            #expect(events.all == [.failed("proxy notFound")])
            #expect(bench.hosts.isEmpty)
            #expect(bench.finish() == [])
        }

        @Test func `a kept connection to the proxy that has died is replaced once`() throws {
            let bench = try TransferBench("http://proxy.test:3128")
            bench.proxy(scripts: [[.head(VirtualSystem.echo("/1")), .head(""), .close], [.echo]])

            #expect(bench.send("http://api.test/1").error == nil)
            #expect(bench.send("http://api.test/2").body == "http://api.test/2")

            #expect(bench.hosts == ["proxy.test", "proxy.test"])
            #expect(bench.finish() == [])
        }

        @Test func `a body follows the absolute form, and an expectation can still be taken out`() throws {
            let bench = try TransferBench("http://me:secret@proxy.test:3128")
            var bodies: [String] = []
            bench.world.respond("proxy.test", port: 3128) { request, moment, client in
                guard !request.headers.contains("Expect") else {
                    if moment == .head { client.send("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n") }
                    return
                }
                guard moment == .complete else { return }
                bodies.append(String(decoding: request.body, as: UTF8.self))
                client.send(VirtualSystem.echo(request.target))
            }
            let events = bench.world.send(
                "POST",
                "http://api.test/up",
                body: Data("hello".utf8),
                fields: ["Expect": "100-continue"]
            )
            bench.world.run(events)

            #expect(events.body == "http://api.test/up", "\(events.all)")
            #expect(bodies == ["hello"])
            #expect(bench.finish() == [])
        }
    }
}
