import AFNetworkingTesting
import Foundation
import Testing

@Suite struct SlownessRouteTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.slowness, .bytes)
    }

    private func timed(_ body: () throws -> Visit) rethrows -> (Visit, Duration) {
        let start = ContinuousClock.now
        let visit = try body()
        return (visit, ContinuousClock.now - start)
    }

    @Test func `delayed answers take at least that long`() throws {
        let (reply, duration) = try timed { try Visit(server, "/delay/0.03", method: "POST") }
        #expect(try reply.json()["method"] as? String == "POST")
        #expect(duration >= .milliseconds(30))
        #expect(try timed { try Visit(server, "/late-body/0.03") }.1 >= .milliseconds(30))
        for path in ["/delay/x", "/delay/-1", "/delay/1e99", "/delay/nan", "/late-body/", "/drip?numbytes=x"] {
            #expect([400, 404].contains(try Visit(server, path).status), "\(path)")
        }
    }

    @Test func `a late body follows its head`() throws {
        let client = try RawClient(server)
        try client.send("GET /late-body/60 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(client.isSilent)
        server.stop()
    }

    @Test func `a dripping body takes its time`() throws {
        let target = "/drip?numbytes=5&duration=0.05&delay=0.02&code=206"
        let (reply, duration) = try timed { try Visit(server, target) }
        #expect(reply.status == 206)
        #expect(reply.text == "*****")
        #expect(duration >= .milliseconds(70))
        #expect(try Visit(server, "/drip?numbytes=0&duration=9").body.isEmpty)
    }

    @Test func `a held answer waits for its signal`() throws {
        let client = try RawClient(server)
        try client.send("GET /held/go HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        try server.waitForRequests(1)
        #expect(client.isSilent)
        server.signal("go")
        #expect(try Visit(readingFrom: client).status == 200)
    }

    // MARK: - Bytes

    @Test func `bytes depend on seed and count only`() throws {
        let whole = try Visit(server, "/bytes/70001?seed=7").body
        #expect(whole.count == 70_001)
        #expect(try Visit(server, "/bytes/1000?seed=7").body == Array(whole.prefix(1_000)))
        #expect(try Visit(server, "/stream-bytes/70001?seed=7&chunk_size=999").body == whole)
        #expect(try Visit(server, "/bytes/1000?seed=8").body != Array(whole.prefix(1_000)))
        #expect(Set(whole).count == 256)
        #expect(try Visit(server, "/bytes/x").status == 400)
        #expect(try Visit(server, "/stream-bytes/99999999999999999999").status == 400)
    }

    @Test func `bodies of any size take no memory`() throws {
        let client = try RawClient(server)
        try client.send("GET /bytes/1000000000000 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readHead().contains("\r\nContent-Length: 1000000000000\r\n"))
        _ = try client.read(100_000)
        client.reset()
        try server.waitUntilIdle()
    }

    @Test func `each line has a chunk`() throws {
        let client = try RawClient(server)
        try client.send("GET /stream/3?interval=0.001 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        let reply = try client.readToEnd()
        #expect(reply.contains("\r\nTransfer-Encoding: chunked\r\n"))
        #expect(reply.components(separatedBy: "{\"id\": ").count == 4)
        #expect(reply.hasSuffix("\"id\": 2, \"url\": \"http://h/stream/3?interval=0.001\"}\n\r\n0\r\n\r\n"))
        #expect(try Visit(server, "/stream/0").body.isEmpty)
    }
}
