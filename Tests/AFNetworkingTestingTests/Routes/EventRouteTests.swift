import AFNetworkingTesting
import Foundation
import Testing

@Suite struct EventRouteTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.events)
    }

    @Test func `a stream has its events, and those behind an identifier`() throws {
        let whole = try Visit(server, "/events/3?retry=50")
        #expect(whole.status == 200 && whole["content-type"] == "text/event-stream")
        #expect(
            whole.text == "retry: 50\nid: 1\ndata: {\"number\": 1}\n\n"
                + (2...3).map { "id: \($0)\ndata: {\"number\": \($0)}\n\n" }.joined()
        )
        let part = try Visit(server, "/events/3?per_response=1", ["Last-Event-ID: 1"])
        #expect(part.text == "id: 2\ndata: {\"number\": 2}\n\n")
        #expect(try Visit(server, "/events/3", ["Last-Event-ID: 3"]).status == 204)
        #expect(try Visit(server, "/events/x").status == 400)
        let last = 1 << 60
        #expect(try Visit(server, "/events/\(last)?per_response=\(last)", ["Last-Event-ID: \(last - 1)"]).status == 200)
        #expect(try Visit(server, "/events/2", ["Last-Event-ID: -7"]).text.hasPrefix("id: 1\n"))
    }

    @Test func `a reply with events may be sent again, each in a chunk`() throws {
        server.route("GET", "/news", .events("data: a", "data: b\ndata: c"))

        for _ in 1...2 {
            let client = try RawClient(server)
            try client.send("GET /news HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let text = try client.readToEnd()
            #expect(text.hasSuffix("\r\n\r\n9\r\ndata: a\n\n\r\n11\r\ndata: b\ndata: c\n\n\r\n0\r\n\r\n"))
        }
    }
}
