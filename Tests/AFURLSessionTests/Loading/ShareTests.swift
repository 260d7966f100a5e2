import AFTLS

@Suite("Shares of a session")
struct ShareTests {
    @Test func `a redirected request keeps to its rate`() throws {
        let world = VirtualWorld()
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            let redirect = "HTTP/1.1 307 Elsewhere\r\nLocation: /2\r\nContent-Length: 0\r\n\r\n"
            client.send(request.target == "/1" ? redirect : VirtualWorld.echo("done"))
        }
        var request = URLRequest("POST", try #require(URL(string: "http://api.test/1")), body: Data(count: 100_000))
        request.maximumBytesSentPerSecond = 50_000
        let start = world.now

        let events = TaskEvents(task: world.session.dataTask(with: request), recorder: world.recorder)
        events.task.resume()
        world.run { events.isComplete }

        #expect(events.body == "done")
        let took = start.duration(to: world.now)
        #expect(took > .milliseconds(3_600) && took < .milliseconds(4_300), "\(took)")
        #expect(world.finish() == [])
    }

    @Test func `bytes over TLS are held to the rate as well`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/long", .text(String(repeating: "x", count: 60_000)))
        let configuration = URLSessionConfiguration.ephemeral
        var tls = TLSConfiguration()
        tls.anchors = .certificates([site.authority.certificate])
        configuration.tls = tls
        configuration.maximumBytesReceivedPerSecond = 200_000
        let session = URLSession(configuration: configuration)
        let clock = ContinuousClock()
        let start = clock.now

        let outcome = try await session.outcome(of: site.server.url("/long"))

        #expect(outcome.text?.count == 60_000)
        // Less what may come at once.
        #expect(start.duration(to: clock.now) > .milliseconds(150))
    }
}
