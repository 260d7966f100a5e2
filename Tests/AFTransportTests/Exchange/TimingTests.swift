import AFWire
import Foundation

@testable import AFTransport

/// Messages that come when they should not, or do not come when they should.
@Suite final class TimingTests: TransferSuite {
    private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    private static let hints = "HTTP/1.1 103 Early Hints\r\n\r\n"

    /// What comes of a request that is answered with this, and then with nothing.
    private func load(_ answer: String) -> TransferEvents {
        world.script("api.test", .expectRequest, .reply(answer), .stall)
        return world.load("http://api.test/1")
    }

    // MARK: - Interim responses

    @Test(arguments: [16, 17])
    func `T-MSG-37 sixteen interim responses are let pass, and no more`(count: Int) {
        let events = load(String(repeating: Self.hints, count: count) + Self.hello)

        if count == 16 { return #expect(events.body == "hello") }
        #expect(events.wireError == .limit(.interimResponses) && world.network.openConnections.isEmpty)
    }

    @Test func `T-MSG-37 interim heads count as heads`() {
        let field = "X: " + String(repeating: "x", count: 60_000) + "\r\n"
        let events = load(String(repeating: "HTTP/1.1 103 Early Hints\r\n\(field)\(field)\r\n", count: 12))

        #expect(events.wireError == .limit(.taskHeadBytes))
    }

    @Test func `T-MSG-38 T-MSG-39 interim responses are skipped and leave the next request its answer`() {
        world.script(
            "api.test",
            .expectRequest,
            .reply("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"),
            .reply("HTTP/1.1 199 Strange\r\nX-Early: 2\r\n\r\n" + Self.hello),
            .expectRequest,
            .reply(Self.hello)
        )

        for _ in 1...2 {
            let events = world.load("http://api.test/")
            #expect(events.all == [.response(200), .data(5), .finished])
            #expect(events.transfer.times.connection?.number == 1)
        }
    }

    @Test func `T-MSG-39 a 100 after the final response is no answer to the next request`() {
        let first = load(Self.hello + "HTTP/1.1 100 Continue\r\n\r\n")
        world.serveEcho("api.test")
        let second = world.load("http://api.test/2")

        #expect(first.body == "hello" && second.body == "/2" && world.network.connections.count == 2)
    }

    @Test func `T-MSG-41 an upgrade that the request did not ask for is refused`() {
        let events = load("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")

        #expect(events.failure == "malformed" && world.network.openConnections.isEmpty)
    }

    // MARK: - Peers that end

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", hello])
    func `T-MSG-50 a peer that ends is noticed, and not used again`(answer: String) {
        world.script("api.test", .expectRequest, .reply(answer), .halfClose, .stall)
        let first = world.load("http://api.test/1")
        world.advance(by: .seconds(1))
        world.serveEcho("api.test")

        #expect(first.all.last == (answer == Self.hello ? .finished : .failed("lost")))
        #expect(world.network.openConnections.isEmpty && world.load("http://api.test/2").body == "/2")
    }

    @Test(arguments: ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", String(hello.dropLast(2))])
    func `T-RES-30 a reset in the middle of an exchange is a lost connection`(sent: String) {
        world.script("api.test", .expectRequest, .reply(sent), .delay(.milliseconds(1)), .reset)

        #expect(world.load("http://api.test/").failure == "lost")
    }

    @Test func `T-RES-30 a reset in the middle of an upload is a lost connection`() {
        world.script("api.test", .expectBytes(1000), .reset)
        let events = world.send("POST", "http://api.test/", body: Data(count: 4 << 20))
        world.run(events)

        #expect(events.failure == "lost")
    }
}
