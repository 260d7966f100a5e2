import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

@Suite("Sending a request again")
struct RetryTests {
    private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func `T-API-32 upload progress does not start again or pass the end when a body is sent twice`() {
        let world = VirtualWorld()
        world.scripts(
            "api.test",
            [
                [
                    .expectRequest, .reply(RetryTests.plain),
                    .expectRequest, .reply("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"), .close,
                ],
                [.expectRequest, .reply(RetryTests.plain)],
            ]
        )
        let first = world.get("http://api.test/1")
        world.run { first.isComplete }

        let second = world.send("POST", "http://api.test/2", body: Data(count: 100))
        world.run { second.isComplete }

        #expect(second.record.events == [.sent(100), .response(200), .data(2), .metrics, .finished])
        #expect(second.task.countOfBytesSent == 100)
        #expect(world.finish() == [])
    }
}
