import AFLoop
import AFNetworkingTesting
import AFVirtualWorld
import Foundation
import Testing

@testable import AFURLSession
@testable import AFURLTypes

@Suite("Hosts that are to be found elsewhere")
struct HostOverrideTests {
    private func makeWorld(_ overrides: HostOverride?...) -> VirtualWorld {
        let world = VirtualWorld()
        world.configure { $0.hostOverrides = overrides.compactMap { $0 } }
        return world
    }

    private func places(_ world: VirtualWorld) -> [String] {
        world.network.connections.map { "\($0.address)" }
    }

    @Test func `a host is found at an address, without a lookup, and keeps its name`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        server.route("GET", "/x", .text("here"))
        let override = HostOverride(host: "API.test.", port: 80, toHost: "127.0.0.1", toPort: Int(server.port))
        let session = URLSession.loopback { $0.hostOverrides = [override].compactMap { $0 } }

        let outcome = try await session.outcome(of: try #require(URL(string: "http://api.test/x")))

        #expect(outcome.text == "here", "\(outcome)")
        #expect(server.requests.first?.headers["Host"] == "api.test")
    }

    @Test func `of several addresses the next one is tried where one cannot be connected to`() {
        let world = makeWorld(HostOverride(host: "api.test", toAddresses: ["192.0.2.1", "192.0.2.7"], toPort: 81))
        world.host("b.test", "192.0.2.7")
        world.serve("b.test", port: 81) {
            HTTPResponder { request, moment, client in
                if moment == .complete { client.send(VirtualWorld.echo(request.target)) }
            }
        }

        #expect(world.load("http://api.test/1").body == "/1")
        #expect(places(world) == ["192.0.2.1:81", "192.0.2.7:81"])
        #expect(world.finish() == [])
    }

    @Test func `T-RED-28 the filter is asked about each of several addresses`() {
        let world = VirtualWorld()
        world.configure {
            $0.hostOverrides = [HostOverride(host: "api.test", toAddresses: ["127.0.0.1", "93.184.216.34"])]
                .compactMap { $0 }
            $0.addressFilter = .publicAddressesOnly
        }
        world.host("b.test", "93.184.216.34")
        world.serveEcho("b.test")

        #expect(world.load("http://api.test/1").body == "/1")
        #expect(places(world) == ["93.184.216.34:80"])
        #expect(world.finish() == [])
    }

    @Test func `an override that cannot be dialled does not lead to the host itself`() {
        let world = makeWorld(HostOverride(host: "api.test", toHost: "fe80::1%25nosuch0"))
        world.serveEcho("api.test")

        let events = world.load("http://api.test/")

        #expect(events.error != nil)
        #expect(events.error?.loadFailure?.message.contains("hostOverrides") == true)
        #expect(world.network.connections.isEmpty)
        #expect(world.finish() == [])
    }

    @Test func `the certificate must be for the host of the URL`() async throws {
        let site = try SecuredSite { tls, authority in tls = ServerTLS(try authority.issue(for: "api.test")) }
        let anchors = TrustAnchors.certificates([site.authority.certificate])
        let session = URLSession.loopback {
            $0.hostOverrides = [HostOverride(toHost: "127.0.0.1", toPort: Int(site.server.port))].compactMap { $0 }
            $0.tls.anchors = anchors
        }

        let right = try await session.outcome(of: try #require(URL(string: "https://api.test/hello")))
        let wrong = try await session.outcome(of: try #require(URL(string: "https://other.test/hello")))

        #expect(right.text == "hello", "\(right)")
        #expect(site.server.connections.map(\.tls?.serverName) == ["api.test", "other.test"])
        #expect(wrong.error?.loadFailure?.detail == .name && site.server.requests.count == 1)
    }

    @Test func `the first rule that fits counts, and no other host is led elsewhere`() {
        let world = makeWorld(
            HostOverride(host: "api.test", port: 81, toHost: "192.0.2.81"),
            HostOverride(host: "api.test", toHost: "192.0.2.7"),
            HostOverride(host: "api.test", toHost: "192.0.2.8"),
            HostOverride(port: 82, toPort: 80)
        )
        for (index, host) in ["a", "b", "c", "d"].enumerated() {
            world.host("\(host).test", ["192.0.2.7", "192.0.2.81", "192.0.2.50", "192.0.2.51"][index])
        }
        world.serveEcho("a.test")
        world.serve("b.test", port: 81) {
            HTTPResponder { request, moment, client in
                if moment == .complete { client.send(VirtualWorld.echo(request.target)) }
            }
        }
        world.serveEcho("c.test")
        world.serveEcho("d.test")

        for url in ["http://api.test/1", "http://api.test:81/2", "http://c.test/3", "http://d.test:82/4"] {
            #expect(world.load(url).body == "/\(url.last ?? " ")")
        }

        #expect(places(world) == ["192.0.2.7:80", "192.0.2.81:81", "192.0.2.50:80", "192.0.2.51:80"])
        #expect(world.finish() == [])
    }

    @Test func `an address is led elsewhere however it is written`() {
        for (written, host) in [("192.0.2.1", "[::ffff:192.0.2.1]"), ("::ffff:c000:201", "192.0.2.1")] {
            let world = makeWorld(HostOverride(host: written, toHost: "192.0.2.7"))
            world.host("a.test", "192.0.2.7")
            world.serveEcho("a.test")

            #expect(world.load("http://\(host)/1").body == "/1")
            #expect(places(world) == ["192.0.2.7:80"])
            #expect(world.finish() == [])
        }
    }

    @Test func `T-RED-28 the filter is asked about the place that is connected to`() {
        let world = VirtualWorld()
        world.configure {
            $0.hostOverrides = [HostOverride(host: "api.test", toHost: "127.0.0.1")].compactMap { $0 }
            $0.addressFilter = .publicAddressesOnly
        }
        world.host("api.test", "93.184.216.34")
        world.serveEcho("api.test")

        let events = world.load("http://api.test/")

        #expect(events.error?.loadFailure?.detail == .address)
        #expect(world.network.connections.isEmpty && world.finish() == [])
    }

    @Test(arguments: ["", "a b", "a/b", "1.2.3", "[::1", "::g", "a..b"])
    func `what is no host makes no override`(text: String) {
        #expect(HostOverride(host: text) == nil && HostOverride(toHost: text) == nil)
    }

    @Test func `ports are from 1 to 65535, and addresses are known as such`() {
        for port in [0, -1, 65_536, .max] {
            #expect(HostOverride(port: port) == nil && HostOverride(toHost: "a.test", toPort: port) == nil)
        }
        for address in ["192.0.2.1", "::1", "[::1]"] { #expect(HostOverride(toHost: address)?.leadsToAddress == true) }
        for addresses in [[], ["a.test"], ["192.0.2.1", "a.test"], ["192.0.2.1", "1.2.3"]] {
            #expect(HostOverride(toAddresses: addresses) == nil, "\(addresses)")
        }
        #expect(HostOverride(toAddresses: ["192.0.2.1", "[::1]"])?.leadsToAddress == true)
        #expect(HostOverride(toHost: "a.test")?.leadsToAddress == false && HostOverride()?.leadsToAddress == false)
    }
}
