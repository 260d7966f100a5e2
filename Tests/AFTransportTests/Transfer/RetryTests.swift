import Foundation

@testable import AFTransport

@Suite("Sending a request again")
struct RetryTests {
    private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let requestTimeout = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"

    /// A first request leaves an idle connection; the second meets `fate` on it, and a
    /// plain server on every other.
    private func second(
        _ method: String,
        body: Data? = nil,
        meets fate: [ServerStep]
    ) -> (TransferWorld, TransferEvents) {
        let world = TransferWorld()
        world.scripts(
            "api.test",
            [[.expectRequest, .reply(RetryTests.plain)] + fate, [.expectRequest, .reply(RetryTests.plain), .again]]
        )
        world.load("http://api.test/1")
        let events = world.send(method, "http://api.test/2", body: body)
        world.run { events.isComplete }
        return (world, events)
    }

    @Test(arguments: ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "QUERY"])
    func `T-MSG-45 an idempotent request whose idle connection has died goes out once more`(method: String) {
        for fate: ServerStep in [.close, .reset] {
            let (world, events) = second(method, meets: [.expectRequest, fate])

            #expect(events.all.last == .finished, "\(fate)")
            #expect(world.network.connections.count == 2)
            #expect(world.finish() == [])
        }
    }

    @Test func `T-MSG-46 a POST that may have been processed is never sent again`() {
        for fate: ServerStep in [.close, .reset] {
            let (world, events) = second("POST", body: Data(count: 10), meets: [.expectRequest, fate])

            #expect(events.all == [.failed("lost")], "\(fate)")
            #expect(world.network.connections.count == 1)
            #expect(world.finish() == [])
        }
    }

    @Test func `T-MSG-45 after one byte of an answer nothing is sent again`() {
        let (world, events) = second("GET", meets: [.expectRequest, .reply("H"), .close])

        #expect(events.all == [.failed("lost")])
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test(arguments: [false, true])
    func `T-MSG-07 bytes that come before the first byte of a request has left are no answer to it`(isSuspended: Bool) {
        let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
        var replaced = 0
        for early in stride(from: 0, through: 400, by: 5) {
            let world = TransferWorld(seed: UInt64(early))
            world.scripts(
                "api.test",
                [
                    [
                        .expectRequest, .reply(RetryTests.plain), .delay(.microseconds(1_000_000 + early)),
                        .reply(forged),
                    ],
                    [.expectRequest, .reply(RetryTests.plain), .again],
                ]
            )
            world.load("http://api.test/1")
            world.advance(by: .seconds(1))
            world.faults.arm(.writeWouldBlock, rate: 800)
            let events = world.send("POST", "http://api.test/2", body: Data(count: 10))
            if isSuspended { events.suspend() }
            world.run(limit: .seconds(1)) { events.isComplete }
            if isSuspended { events.resume() }
            world.run { events.isComplete }

            let connections = world.network.connections
            #expect(connections.allSatisfy { $0.writesOverUnread == 0 }, "\(early)")
            #expect(events.all.last == .finished, "\(early)")
            if connections.count == 2 { replaced += 1 }
            #expect(world.finish() == [], "\(early)")
        }
        #expect(replaced > 0)
    }

    @Test func `T-MSG-45 a fresh connection that dies is not tried again`() {
        let world = TransferWorld()
        world.script("api.test", .expectRequest, .close)

        let events = world.load("http://api.test/")

        #expect(events.all == [.failed("lost")])
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-RES-46 a request is sent again once and not twice`() {
        let world = TransferWorld()
        let answersOnce: [ServerStep] = [.expectRequest, .reply(RetryTests.plain), .expectRequest, .close]
        world.scripts("api.test", [answersOnce, [.expectRequest, .close]])
        world.load("http://api.test/1")

        let events = world.load("http://api.test/2")

        #expect(events.all == [.failed("lost")])
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    /// The end of an idle connection meets the next request at twenty moments around
    /// its departure.
    @Test(arguments: -10..<10)
    func `T-MSG-45 T-MSG-46 an end that crosses a request is survived, and a POST is seen at most once`(moment: Int) {
        for method in ["GET", "POST"] {
            for isReset in [false, true] {
                let world = TransferWorld()
                world.network.link.latency = 5_000_000...5_000_000
                var posts = 0
                world.respond("api.test") { request, moment, client in
                    guard moment == .complete else { return }
                    if request.method == "POST" { posts += 1 }
                    client.send(VirtualSystem.echo(request.target))
                    if request.target == "/1" {
                        client.after(.milliseconds(100)) { isReset ? $0.reset() : $0.close() }
                    }
                }
                world.load("http://api.test/1")

                world.advance(by: .milliseconds(95 + moment))
                let events = world.send(method, "http://api.test/2", body: method == "POST" ? Data(count: 10) : nil)
                world.run { events.isComplete }

                let isLost = events.all == [.failed("lost")]
                #expect(events.body == "/2" || (isLost && method == "POST"), "\(method) \(isReset) \(events.all)")
                #expect(posts <= 1)
                #expect(world.finish() == [])
            }
        }
    }

    @Test(arguments: ["GET", "PUT", "QUERY", "POST", "PATCH"])
    func `T-MSG-47 a 408 on a reused connection repeats what a server may get twice`(method: String) {
        let (world, events) = second(method, meets: [.expectRequest, .reply(RetryTests.requestTimeout), .close])

        let isRepeated = method != "POST" && method != "PATCH"
        #expect(events.all == (isRepeated ? [.response(200), .data(2), .finished] : [.response(408), .finished]))
        #expect(world.network.connections.count == (isRepeated ? 2 : 1))
        #expect(world.finish() == [])
    }

    @Test func `T-MSG-47 a 408 on a fresh connection is the answer`() {
        let world = TransferWorld()
        world.script("api.test", .expectRequest, .reply(RetryTests.requestTimeout), .close)

        #expect(world.load("http://api.test/").all == [.response(408), .finished])
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `T-MSG-47 a 408 said to an idle connection closes it silently`() {
        let (world, events) = second("GET", meets: [.reply(RetryTests.requestTimeout), .close])

        #expect(events.all == [.response(200), .data(2), .finished])
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }
}
