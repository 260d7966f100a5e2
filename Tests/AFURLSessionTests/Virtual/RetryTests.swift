@Suite("Sending a request again")
final class RetryTests: WorldSuite {
    @Test func `T-API-32 upload progress does not start again or pass the end when a body is sent twice`() {
        let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let late = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"
        world.scripts(
            "api.test",
            [[.expectRequest, .reply(plain), .expectRequest, .reply(late), .close], [.expectRequest, .reply(plain)]]
        )
        world.load("http://api.test/1")

        let events = world.send("PUT", "http://api.test/2", body: Data(count: 100))
        world.run { events.isComplete }

        #expect(events.record.events == [.sent(100), .response(200), .data(2), .metrics, .finished])
        #expect(events.task.countOfBytesSent == 100)
    }
}
