import AFBase
import AFLoop

@testable import AFTransport

@Suite("Filtering addresses")
final class AddressFilterTests: TransferSuite {
    private static let open = "93.184.216.34"

    override init() {
        super.init()
        filter(.publicAddressesOnly)
    }

    private func filter(_ filter: AddressFilter) {
        world.settings.pool.addressFilter = filter
    }

    private func expectForbidden(_ events: TransferEvents, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(events.failure?.hasSuffix("forbidden") == true, sourceLocation: sourceLocation)
        let report: DialReport? =
            switch events.error {
            case .dial(_, let report): report
            case .proxy(let failure): if case .dial(_, let report) = failure.cause { report } else { nil }
            default: nil
            }
        #expect(report?.attempts.allSatisfy { $0.outcome == .forbidden } == true, sourceLocation: sourceLocation)
    }

    @Test func `T-RED-28 a filter of the program's own hears of an IPv4 address as such, however it is written`() {
        let heard = Lock<[String]>([])
        filter(
            AddressFilter { candidate in
                heard.withLock { $0.append("\(candidate) \(candidate.bytes)") }
                return !candidate.address.hasPrefix("10.")
            }
        )
        expectForbidden(world.load("http://[::ffff:10.1.2.3]:81/"))
        #expect(heard.withLock { $0 } == ["10.1.2.3:81 [10, 1, 2, 3]"])
        #expect(world.network.connections.isEmpty)
    }

    @Test func `T-RED-28 a name that is resolved to something else the next time is asked about again`() {
        world.host("api.test", AddressFilterTests.open)
        world.serveEcho("api.test", fields: "Connection: close\r\n")
        #expect(world.load("http://api.test/1").body == "/1")

        world.host("api.test", "127.0.0.1")
        world.serveEcho("api.test")
        expectForbidden(world.load("http://api.test/2"))
        world.host("api.test", AddressFilterTests.open)

        #expect(world.load("http://api.test/3").body == "/3")
        #expect(world.network.connections.allSatisfy { $0.address.host == AddressFilterTests.open })
    }

    @Test func `T-RED-28 a request that is sent again is asked about again`() {
        world.host("api.test", AddressFilterTests.open)
        world.script("api.test", .expectRequest, .reply(VirtualSystem.echo("/1")), .expectRequest, .close)
        world.load("http://api.test/1")

        // The name leads elsewhere from now on; the connection is still there.
        world.host("api.test", "127.0.0.1")
        let events = world.load("http://api.test/2")

        expectForbidden(events)
        #expect(world.network.connections.count == 1)
    }

    @Test func `T-RED-28 of several addresses only those that are allowed are tried`() {
        world.host("api.test", "10.0.0.1", "2001:db8::1", AddressFilterTests.open, "127.0.0.1")
        world.serveEcho("api.test")

        #expect(world.load("http://api.test/").body == "/")
        #expect(world.network.connections.map(\.address.host) == [AddressFilterTests.open])
    }

    @Test(arguments: ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "[64:ff9b::a00:1]", "0.0.0.0"])
    func `T-RED-28 addresses in a URL are asked about like those of names`(host: String) {

        expectForbidden(world.load("http://\(host)/"))
        #expect(world.network.connections.isEmpty)
        #expect(world.resolver.names.isEmpty)
    }

    @Test func `a filter sees what is connected to, right before it is`() {
        let seen = Lock<[AddressFilter.Candidate]>([])
        filter(
            AddressFilter { candidate in
                seen.withLock { $0.append(candidate) }
                return true
            }
        )
        world.host("api.test", "2001:db8::1", "192.0.2.1")
        world.set(.refuses(), for: "2001:db8::1")
        world.serveEcho("api.test")

        world.load("http://api.test/")
        world.load("http://api.test/again")

        let candidates = seen.withLock { $0 }
        #expect(candidates.map(\.description) == ["[2001:db8::1]:80", "192.0.2.1:80"])
        #expect(candidates.allSatisfy { $0.host == "api.test" && $0.role == .server })
    }

    // MARK: - Proxies

    private func go(by proxy: String, _ stages: LayeredServer.Stage...) throws {
        world.settings.proxies = ProxyConfiguration(try ProxyServer(proxy))
        world.serve("proxy.test", scripts: [stages], port: 3128, log: LayeredServer.Log())
    }

    @Test func `T-RED-28 a proxy is asked about as a proxy`() throws {
        try go(by: "http://proxy.test:3128", .echo)

        #expect(world.load("http://api.test/").all.contains(.response(200)))
    }

    @Test func `T-RED-28 a proxy that is not allowed is not connected to`() throws {
        filter(AddressFilter { $0.role == .server })
        try go(by: "http://proxy.test:3128", .echo)

        expectForbidden(world.load("http://api.test/"))
        #expect(world.network.connections.isEmpty)
    }

    @Test(arguments: ["http://127.0.0.1/", "http://inside.test/", "http://[fe80::1%25nosuch0]/"])
    func `T-RED-28 the filter is asked about the address that a proxy connects to, too`(url: String) throws {
        try go(by: "socks5://proxy.test:3128", .echo)
        world.settings.proxies.includesLoopback = true
        world.host("inside.test", "10.0.0.1")

        expectForbidden(world.load(url))
        #expect(world.network.connections.isEmpty)
    }

    // MARK: - What is public

    @Test(
        arguments: [
            "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.0.1", "100.128.0.1", "192.0.1.1",
            "198.17.0.1", "198.20.0.1", "223.255.255.255", "11.0.0.1", "2606:4700::1111", "2a00:1450::1",
            "2001:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
        ]
    )
    func `T-RED-28 public`(text: String) throws {
        let address = try #require(VirtualSystem.address(text))

        #expect(AddressScope.isPublic(try #require(address.internetBytes)))
    }

    @Test(
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
            "127.255.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
            "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.7", "224.0.0.1", "239.1.2.3",
            "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "fe80::1", "fec0::1", "fc00::1", "fd12:3456::1",
            "ff02::1", "100::1", "2001::1", "2001:2::1", "2001:10::1", "2001:1ff:ffff::1", "2001:db8::1", "3fff::1",
            "3fff:fff::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1",
            "2002:a00:1::1", "4000::1", "5f00::1",
        ]
    )
    func `T-RED-28 not public`(text: String) throws {
        let address = try #require(VirtualSystem.address(text))

        #expect(!AddressScope.isPublic(try #require(address.internetBytes)))
    }
}
