import AFLoop
import AFTLS
import Foundation

@testable import AFTransport

extension ProxyTests {
    @Suite("Requests through a SOCKS proxy")
    struct SOCKS {
        private static let granted: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]

        /// `05 01 00`, type, length, name, port.
        private func requestLength(_ name: String) -> Int { 4 + 1 + name.utf8.count + 2 }

        @Test func `T-SOX-01 socks5h leaves the name to the proxy`() throws {
            let bench = try TransferBench("socks5h://proxy.test:1080")
            bench.proxy(.bytes(3, [5, 0]), .bytes(requestLength("api.test"), SOCKS.granted), .echo, port: 1080)

            #expect(bench.send("http://api.test/x").body == "/x")
            #expect(bench.send("http://api.test/y").body == "/y")

            #expect(bench.world.resolver.names == ["proxy.test"])
            #expect(bench.log.pieces.last == [5, 1, 0, 3, 8] + Array("api.test".utf8) + [0, 80])
            #expect(bench.hosts == ["proxy.test"])
            #expect(bench.log.heads.first?.hasPrefix("GET /x HTTP/1.1\r\nHost: api.test\r\n") == true)
            #expect(bench.finish() == [])
        }

        @Test func `T-SOX-01 socks5h tells the proxy that a name is absolute`() throws {
            let bench = try TransferBench("socks5h://proxy.test:1080")
            bench.proxy(.bytes(3, [5, 0]), .bytes(requestLength("api.test."), SOCKS.granted), .echo, port: 1080)

            #expect(bench.send("http://api.test./x").body == "/x")

            #expect(bench.world.resolver.names == ["proxy.test"])
            #expect(bench.log.pieces.last == [5, 1, 0, 3, 9] + Array("api.test.".utf8) + [0, 80])
            #expect(bench.finish() == [])
        }

        @Test func `T-SOX-01 socks5 tells the proxy an address that was found here`() throws {
            let bench = try TransferBench("socks5://proxy.test:1080")
            bench.world.host("api.test", "192.0.2.77")
            bench.proxy(.bytes(3, [5, 0]), .bytes(10, SOCKS.granted), .echo, port: 1080)

            let events = bench.send("http://api.test/x")

            #expect(events.body == "/x")
            #expect(bench.world.resolver.names == ["api.test", "proxy.test"])
            #expect(bench.log.pieces.last == [5, 1, 0, 1, 192, 0, 2, 77, 0, 80])
            let report = try #require(events.transfer.times.connection)
            #expect(report.isProxied && report.remote?.port == 1080)
            #expect(bench.finish() == [])
        }

        @Test func `T-SOX-01 a name that does not exist is looked up before the proxy is bothered`() throws {
            let bench = try TransferBench("socks5://proxy.test:1080")
            bench.proxy(.bytes(3, [5, 0]), port: 1080)

            let events = bench.send("http://nowhere.test/")

            #expect(events.all == [.failed("notFound")])
            #expect(bench.hosts.isEmpty)
            #expect(bench.finish() == [])
        }

        @Test("T-SOX-08 the next address of a name is tried where an address is to blame", arguments: [3, 4, 5, 6, 8])
        func nextAddress(reply: UInt8) throws {
            let bench = try TransferBench("socks5://proxy.test:1080")
            bench.world.host("api.test", "2001:db8::7", "192.0.2.77")
            let no: [UInt8] = [5, reply, 0, 1, 0, 0, 0, 0, 0, 0]
            bench.proxy(
                scripts: [
                    [.bytes(3, [5, 0]), .bytes(22, no), .close],
                    [.bytes(3, [5, 0]), .bytes(10, SOCKS.granted), .echo],
                ],
                port: 1080
            )

            #expect(bench.send("http://api.test/x").body == "/x")
            #expect(bench.hosts == ["proxy.test", "proxy.test"])
            #expect(bench.finish() == [])
        }

        @Test("T-SOX-05 T-SOX-08 each reply has words of its own, and no other way is tried", arguments: 1...9)
        func reply(code: UInt8) throws {
            let bench = try TransferBench("socks5h://proxy.test:1080")
            bench.serveDirectly("api.test")
            bench.proxy(.bytes(3, [5, 0]), .bytes(requestLength("api.test"), [5, code]), .close, port: 1080)

            let events = bench.send("http://api.test/")

            #expect(events.all == [.failed("proxy reply \(code)")])
            let words = [
                "general failure", "rules", "network", "host", "refused", "expired", "command", "type of address",
                "unassigned",
            ]
            #expect(SOCKS5Reply(code).text.contains(words[Int(code) - 1]))
            #expect(bench.hosts == ["proxy.test"] && bench.direct.plain.isEmpty)
            #expect(bench.finish() == [])
        }

        @Test func `T-SOX-02 a login goes to the proxy that asks for it, and not beyond`() throws {
            let bench = try TransferBench("socks5h://me:secret@proxy.test:1080")
            bench.proxy(
                .bytes(4, [5, 2]),
                .bytes(11, [1, 0]),
                .bytes(requestLength("api.test"), SOCKS.granted),
                .echo,
                port: 1080
            )

            #expect(bench.send("http://api.test/x").body == "/x")

            #expect(bench.log.pieces[0] == [5, 2, 0, 2])
            #expect(bench.log.pieces[1] == [1, 2] + Array("me".utf8) + [6] + Array("secret".utf8))
            #expect(bench.log.heads.count == 1)
            #expect(!bench.log.heads[0].contains("Proxy-") && !bench.log.heads[0].contains("secret"))
            #expect(bench.finish() == [])
        }

        @Test(
            arguments: [
                ([5, 2], [1, 1]), ([5, 255], []),
            ] as [([UInt8], [UInt8])]
        )
        func `T-SOX-02 a login that is not accepted, or not known, says so`(
            greeting: [UInt8],
            answer: [UInt8]
        ) throws {
            let bench = try TransferBench("socks5h://me:secret@proxy.test:1080")
            bench.proxy(.bytes(4, greeting), .bytes(11, answer), .close, port: 1080)

            let events = bench.send("http://api.test/")

            #expect(events.all == [.failed(greeting[1] == 255 ? "proxy no method" : "proxy login")])
            #expect(bench.finish() == [])
        }

        private static var violations: [[TransferBench.Stage]] {
            [
                [.bytes(3, Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))],
                [.bytes(3, [4, 0])],
                [.bytes(3, [5, 0, 5])],
                [.bytes(3, [5, 0]), .bytes(15, granted + Array("HTTP/1.1 200 OK\r\n\r\nevil".utf8))],
                [.bytes(3, [5, 0]), .bytes(15, [5, 0, 0, 9, 0, 0])],
            ]
        }

        @Test("T-SOX-03 T-SOX-04 what is not SOCKS, or more than was asked for, ends the attempt", arguments: 0..<5)
        func violation(index: Int) throws {
            let bench = try TransferBench("socks5h://proxy.test:1080")
            bench.proxy(scripts: [SOCKS.violations[index]], port: 1080)

            let events = bench.send("http://api.test/", fields: ["Authorization": "canary"])

            #expect(events.failure == "proxy violation" || events.failure == "proxy surplus")
            #expect(!bench.log.plainText.contains("canary"))
            #expect(bench.world.network.openConnections.isEmpty)
            #expect(bench.finish() == [])
        }

        @Test func `T-SOX-03 a proxy that says nothing meets the deadline, and one that leaves is a loss`() throws {
            let silent = try TransferBench("socks5h://proxy.test:1080")
            silent.proxy(.bytes(3, []), port: 1080)
            let events = silent.world.get("http://api.test/", idleTimeout: .seconds(3))
            silent.world.run(events)
            #expect(events.all == [.failed("late, proxy")])
            #expect(silent.finish() == [])

            let leaving = try TransferBench("socks5h://proxy.test:1080")
            leaving.proxy(.bytes(3, [5]), .close, port: 1080)
            let lost = leaving.send("http://api.test/")
            #expect(lost.all == [.failed("proxy closed")])
            #expect(leaving.finish() == [])
        }

        @Test("https goes through SOCKS like through any tunnel", arguments: ["socks5", "socks5h"])
        func secured(scheme: String) throws {
            let site = try MemorySite("api.test")
            let bench = try TransferBench { settings in
                settings.proxies = ProxyConfiguration(try ProxyServer("\(scheme)://proxy.test:1080"))
                settings.tls = site.tls
            }
            bench.world.host("api.test", "192.0.2.77")
            let length = scheme == "socks5" ? 10 : requestLength("api.test")
            bench.proxy(.bytes(3, [5, 0]), .bytes(length, SOCKS.granted), .tls(site.context), .echo, port: 1080)

            let events = bench.send("https://api.test/x")

            #expect(events.body == "/x", "\(events.failure ?? "")")
            #expect(bench.log.greetings.first.flatMap(Greeting.init)?.names("api.test") == true)
            #expect(bench.finish() == [])
        }
    }
}
