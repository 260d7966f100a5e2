import AFLoop
import AFURLSession
import AFVirtualWorld
import Foundation
import Glibc
import Testing

@Suite("Virtual links")
final class LinkTests: WorldSuite {
    /// What one request needs to be carried: the reads, writes and moments it took.
    private func upload(_ link: LinkConditions, seed: UInt64 = 1) -> (TaskEvents, VirtualWorld) {
        let world = VirtualWorld(seed: seed)
        world.network.link = link
        world.startTracing()
        world.respond("api.test") { request, moment, client in
            if moment == .complete { client.send("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n") }
            if moment == .complete { client.send(Array(repeating: UInt8(ascii: "b"), count: 5000)) }
            if moment == .complete, request.body != Array(repeating: 7, count: 100_000) { client.report("altered") }
        }
        let events = world.send("POST", "http://api.test/", body: Data(repeating: 7, count: 100_000))
        world.run { events.isComplete }
        return (events, world)
    }

    @Test func `latency is paid once per direction`() {
        var link = LinkConditions.perfect
        link.latency = 5_000_000...5_000_000
        let start = VirtualWorld().now

        let (events, world) = upload(link)

        // SYN and its answer, the request, the response.
        #expect(start.duration(to: world.now) == .milliseconds(20))
        #expect(events.all == [.response(200), .data(5000), .finished])
        #expect(world.finish() == [])
    }

    @Test func `caps split reads and writes, and no byte is lost`() {
        var link = LinkConditions.perfect
        link.readCap = 7...7
        link.writeCap = 1000...1000

        let (events, world) = upload(link)

        #expect(events.all == [.response(200), .data(5000), .finished])
        #expect(world.trace.count { $0.hasSuffix("wrote 1000") } >= 100)
        #expect(world.trace.count { $0.hasSuffix("read 7") } > 700)
        #expect(world.finish() == [])
    }

    @Test(arguments: 0..<50)
    func `calls that would block and buffers that are full delay, and no byte is lost`(seed: UInt64) {
        var link = LinkConditions.perfect
        link.readEAGAIN = 50
        link.writeEAGAIN = 50
        link.writeENOBUFS = 20
        link.spuriousReadiness = 50
        link.sendCapacity = 4096
        link.receiveCapacity = 1000
        link.segment = 1...1460

        let (events, world) = upload(link, seed: seed)

        #expect(events.all == [.response(200), .data(5000), .finished])
        #expect(world.finish() == [])
    }

    @Test func `a server that does not read fills the send buffer, and no more`() {
        world.network.link.sendCapacity = 10_000
        world.script(
            "api.test",
            .stopReading,
            .delay(.seconds(5)),
            .startReading,
            .expectRequest,
            .reply("HTTP/1.1 204 N\r\n\r\n")
        )
        let events = world.send("POST", "http://api.test/", body: Data(count: 50_000))

        world.advance(by: .seconds(4))
        #expect(world.network.connections[0].receivedCount == 0)
        #expect(events.task.countOfBytesSent < 10_000)
        world.run { events.isComplete }

        #expect(world.network.connections[0].receivedCount > 50_000)
        #expect(events.all == [.response(204), .finished])
    }

    @Test func `a reset lets what arrived before be read`() {
        world.script(
            "api.test",
            .expectRequest,
            .reply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            .delay(.milliseconds(1)),
            .reset
        )

        let events = world.get("http://api.test/")
        world.run()

        #expect(events.all == [.response(200), .data(2), .finished])
        #expect(world.network.connections[0].wasReset)
    }

    @Test(arguments: [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH])
    func `a refusal reaches the task with its number`(code: Int32) {
        for isAtOnce in [true, false] {
            let world = VirtualWorld()
            world.host("api.test", "192.0.2.1")
            world.set(isAtOnce ? .failsAtOnce(code) : .refuses(code), for: "192.0.2.1")

            let events = world.get("http://api.test/")
            world.run { events.isComplete }

            #expect(events.error?.loadFailure?.errno == code)
            #expect(world.finish() == [])
        }
    }

    @Test func `what peers receive is on record, byte for byte`() {
        world.script("api.test", .expectRequest, .reply("HTTP/1.1 204 N\r\n\r\n"))
        let events = world.send("POST", "http://api.test/x?y", body: Data("body".utf8), fields: ["X-Secret": "s3"])
        world.run { events.isComplete }

        let text = String(decoding: world.network.connections[0].received, as: UTF8.self)
        #expect(text.hasPrefix("POST /x?y HTTP/1.1\r\nHost: api.test\r\n"))
        #expect(text.contains("X-Secret: s3\r\n"))
        #expect(text.hasSuffix("\r\n\r\nbody"))
    }
}
