import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

/// The first of them is the example of `Docs/Internals/VirtualWorld.md`.
@Suite("A request in a virtual world")
final class FirstRequestTests: WorldSuite {
    @Test func `a peer that stalls in its body is timed out`() {
        world.script("api.test", .expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"), .stall)

        let events = world.get("http://api.test/", idleTimeout: .seconds(10))
        world.run()

        #expect(events.all == [.response(200), .data(3), .failed(.timedOut)])
    }

    @Test func `a scripted answer arrives`() {
        world.script(
            "api.test",
            .expect("GET /hello HTTP/1.1\r\n"),
            .reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        )

        let events = world.get("http://api.test/hello")
        world.run()

        #expect(events.all == [.response(200), .data(5), .finished])
        #expect(events.body == "hello")
    }

    @Test func `a stalled body fails after the idle interval`() {
        world.script("api.test", .expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"), .stall)
        let events = world.get("http://api.test/slow", idleTimeout: .seconds(60))

        world.advance(by: .seconds(59))
        #expect(events.all == [.response(200), .data(3)])
        world.advance(by: .seconds(2))

        #expect(events.all == [.response(200), .data(3), .failed(.timedOut)])
        #expect(world.network.openConnections.isEmpty)
    }
}
