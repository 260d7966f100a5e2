import AFBase
import AFLoop
import AFVirtualWorld
import Foundation
import Testing

@testable import AFURLSession
@testable import AFURLTypes

@Suite("Filtering addresses")
struct AddressFilterTests {
    private static let open = "93.184.216.34"

    private func makeWorld(_ filter: AddressFilter = .publicAddressesOnly) -> VirtualWorld {
        let world = VirtualWorld()
        world.configure { $0.addressFilter = filter }
        return world
    }

    private func expectForbidden(_ events: TaskEvents, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(events.all.last == .failed(.cannotConnectToHost), sourceLocation: sourceLocation)
        let failure = events.error?.loadFailure
        #expect(failure?.reason == .resources && failure?.detail == .address, sourceLocation: sourceLocation)
        #expect(failure?.attempts.allSatisfy { $0.outcome == .forbidden } == true, sourceLocation: sourceLocation)
        #expect(failure?.message.contains("addressFilter") == true, sourceLocation: sourceLocation)
    }

    @Test(arguments: ["127.0.0.1", "169.254.169.254", "10.1.2.3", "fe80::1", "::ffff:192.168.0.1"])
    func `T-RED-28 a redirect to a name that leads into the local network connects to nothing`(address: String) {
        let world = makeWorld()
        world.host("api.test", AddressFilterTests.open)
        world.host("inside.test", address)
        world.respond("api.test") { _, moment, client in
            guard moment == .complete else { return }
            client.send("HTTP/1.1 302 Found\r\nLocation: http://inside.test/\r\nContent-Length: 0\r\n\r\n")
        }
        world.serveEcho("inside.test")

        let events = world.load("http://api.test/")

        expectForbidden(events)
        #expect(world.network.connections.map(\.address.host) == [AddressFilterTests.open])
        #expect(world.finish() == [])
    }

    @Test func `T-RED-28 a filter of the program's own hears of an IPv4 address as such, however it is written`() {
        let heard = Lock<[String]>([])
        let world = makeWorld(
            AddressFilter { candidate in
                heard.withLock { $0.append("\(candidate) \(candidate.bytes)") }
                return !candidate.address.hasPrefix("10.")
            }
        )
        expectForbidden(world.load("http://[::ffff:10.1.2.3]:81/"))
        #expect(heard.withLock { $0 } == ["10.1.2.3:81 [10, 1, 2, 3]"])
        #expect(world.network.connections.isEmpty && world.finish() == [])
    }

    @Test func `T-RED-28 a name that is resolved to something else the next time is asked about again`() {
        let world = makeWorld()
        world.host("api.test", AddressFilterTests.open)
        world.serveEcho("api.test", fields: "Connection: close\r\n")
        #expect(world.load("http://api.test/1").body == "/1")

        world.host("api.test", "127.0.0.1")
        world.serveEcho("api.test")
        expectForbidden(world.load("http://api.test/2"))
        world.host("api.test", AddressFilterTests.open)

        #expect(world.load("http://api.test/3").body == "/3")
        #expect(world.network.connections.allSatisfy { $0.address.host == AddressFilterTests.open })
        #expect(world.finish() == [])
    }

    @Test func `T-RED-28 a request that is sent again is asked about again`() {
        let world = makeWorld()
        world.host("api.test", AddressFilterTests.open)
        world.script("api.test", .expectRequest, .reply(VirtualWorld.echo("/1")), .expectRequest, .close)
        world.load("http://api.test/1")

        // The name leads elsewhere from now on; the connection is still there.
        world.host("api.test", "127.0.0.1")
        let events = world.load("http://api.test/2")

        expectForbidden(events)
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-RED-28 of several addresses only those that are allowed are tried`() {
        let world = makeWorld()
        world.host("api.test", "10.0.0.1", "2001:db8::1", AddressFilterTests.open, "127.0.0.1")
        world.serveEcho("api.test")

        #expect(world.load("http://api.test/").body == "/")
        #expect(world.network.connections.map(\.address.host) == [AddressFilterTests.open])
        #expect(world.finish() == [])
    }

    @Test(arguments: ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "[64:ff9b::a00:1]", "0.0.0.0"])
    func `T-RED-28 addresses in a URL are asked about like those of names`(host: String) {
        let world = makeWorld()

        expectForbidden(world.load("http://\(host)/"))
        #expect(world.network.connections.isEmpty)
        #expect(world.resolver.names.isEmpty)
        #expect(world.finish() == [])
    }

    @Test func `a filter sees what is connected to, right before it is`() {
        let seen = Lock<[AddressFilter.Candidate]>([])
        let world = makeWorld(
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
        #expect(world.finish() == [])
    }

    // MARK: - Proxies

    private func makeBench(_ proxy: String, _ filter: AddressFilter) -> ProxyBench {
        ProxyBench { configuration in
            configuration.proxies = (try? ProxyServer(proxy)).map { ProxyConfiguration($0) }
            configuration.addressFilter = filter
        }
    }

    @Test func `T-RED-28 a proxy is asked about as a proxy`() {
        let bench = makeBench("http://proxy.test:3128", .publicAddressesOnly)
        bench.proxy(.echo)

        #expect(bench.send("http://api.test/").all.contains(.response(200)))
        #expect(bench.world.finish() == [])
    }

    @Test func `T-RED-28 a proxy that is not allowed is not connected to`() {
        let bench = makeBench("http://proxy.test:3128", AddressFilter { $0.role == .server })
        bench.proxy(.echo)

        expectForbidden(bench.send("http://api.test/"))
        #expect(bench.world.network.connections.isEmpty)
        #expect(bench.world.finish() == [])
    }

    @Test(arguments: ["http://127.0.0.1/", "http://inside.test/", "http://[fe80::1%25nosuch0]/"])
    func `T-RED-28 the filter is asked about the address that a proxy connects to, too`(url: String) {
        let bench = makeBench("socks5://proxy.test:1080", .publicAddressesOnly)
        bench.proxy(.echo, port: 1080)
        bench.world.host("inside.test", "10.0.0.1")

        expectForbidden(bench.send(url))
        #expect(bench.world.network.connections.isEmpty)
        #expect(bench.world.finish() == [])
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
        let address = try #require(VirtualWorld.address(text))

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
        let address = try #require(VirtualWorld.address(text))

        #expect(!AddressScope.isPublic(try #require(address.internetBytes)))
    }
}
