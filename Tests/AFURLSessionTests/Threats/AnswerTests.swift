import AFWire

/// Answers that only look as if something had to be done about them.
@Suite("Answers as they are")
final class AnswerTests: WorldSuite {
    private static let multipart =
        "--b\r\nContent-Range: bytes 0-1/9\r\n\r\nab\r\n--b\r\nContent-Range: bytes 4-5/9\r\n\r\nef\r\n--b--\r\n"

    private static func partial(_ status: String, _ range: String, _ body: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Range: \(range)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test(arguments: ["206 Partial Content", "416 Range Not Satisfiable"])
    func `T-MSG-19 a data task that asked for no range gets the status and the bytes`(status: String) {
        world.script("api.test", .expectRequest, .reply(Self.partial(status, "bytes 2-5/9", "cdef")), .again)

        let events = world.load("http://api.test/")

        #expect(events.all == [.response(Int(status.prefix(3)) ?? 0), .data(4), .finished])
        #expect(events.body == "cdef")
    }

    @Test(arguments: ["bytes 0-1/9", "bytes 7-9/2", "bytes 5-2/*", "items 0-1/2", "bytes 0-99999999999999999999/*", ""])
    func `T-MSG-20 what Content-Range claims changes nothing about the body`(range: String) {
        world.script("api.test", .expectRequest, .reply(Self.partial("206 Partial Content", range, "ab")), .again)

        let events = world.send("GET", "http://api.test/", fields: ["Range": "bytes=0-1"])
        world.run { events.isComplete }

        #expect(events.all == [.response(206), .data(2), .finished])
        let response = events.task.response as? HTTPURLResponse
        #expect(response?.value(forHTTPHeaderField: "Content-Range") == range)
    }

    @Test func `T-MSG-20 a multipart answer to one range is delivered untouched`() {
        let head =
            "HTTP/1.1 206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=b\r\n"
            + "Content-Length: \(Self.multipart.utf8.count)\r\n\r\n"
        world.script("api.test", .expectRequest, .reply(head + Self.multipart), .again)

        let events = world.send("GET", "http://api.test/", fields: ["Range": "bytes=0-1"])
        world.run { events.isComplete }

        #expect(events.body == Self.multipart)
        #expect(events.task.response?.mimeType == "multipart/byteranges")
    }

    @Test func `T-MSG-40 we expect nothing by ourselves, and a 417 is an answer like any other`() {
        var expectations: [String?] = []
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            expectations.append(request.headers.first("Expect"))
            client.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
        }

        let events = world.send("POST", "http://api.test/", body: Data(count: 3_000_000))
        world.run { events.isComplete }

        #expect(events.all == [.response(417), .finished])
        #expect(expectations == [nil])
    }

    @Test func `T-MSG-39 a body waits a second for a 100 that never comes`() {
        world.serveEcho("api.test")

        let events = world.send("POST", "http://api.test/a", body: Data(count: 10), fields: ["Expect": "100-continue"])
        world.run(limit: .milliseconds(1100)) { events.isComplete }

        #expect(events.all == [.response(200), .data(2), .finished])
    }

    @Test func `T-RES-07 the delegate gets pieces of 1 byte to 64 KiB`() {
        let size = 5 << 20
        world.network.link.latency = 1_000_000...1_000_000
        world.script(
            "api.test",
            .expectRequest,
            .reply("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"),
            .fill(size),
            .again
        )

        let events = world.load("http://api.test/")

        let pieces = events.record.events.compactMap { if case .data(let count) = $0 { count } else { nil as Int? } }
        #expect(pieces.reduce(0, +) == size)
        #expect(pieces.allSatisfy { (1...65_536).contains($0) })
        #expect(pieces.count >= size / 65_536)
    }
}
