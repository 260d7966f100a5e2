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
        server.route("GET", "/x", .text("here"))
        let override = HostOverride(host: "API.test.", port: 80, toHost: "127.0.0.1", toPort: Int(server.port))
        let session = URLSession.loopback { $0.hostOverrides = [override].compactMap { $0 } }

        let outcome = try await session.outcome(of: try #require(URL(string: "http://api.test/x")))

        #expect(outcome.text == "here", "\(outcome)")
        #expect(server.requests.first?.headers["Host"] == "api.test")
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
}
