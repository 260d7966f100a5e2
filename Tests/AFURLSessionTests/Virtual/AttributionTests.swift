@Suite("Whose answer it is")
final class AttributionTests: WorldSuite {
    @Test func `T-MSG-54 a body of five gibibytes is counted to the last byte`() {
        let size = 5 << 30
        world.network.link.receiveCapacity = 1 << 20
        let recorder = EventRecorder(keepsBodies: false)
        let session = world.makeSession(delegate: recorder).session
        world.script(
            "api.test",
            .expectRequest,
            .reply("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"),
            .fill(size),
            .again
        )
        guard let url = URL(string: "http://api.test/") else { return }
        let events = TaskEvents(task: session.dataTask(with: url), recorder: recorder)

        events.task.resume()
        world.run { events.isComplete }

        #expect(events.all == [.response(200), .data(size), .finished])
        #expect(events.task.countOfBytesReceived == Int64(size))
        #expect(events.task.countOfBytesExpectedToReceive == Int64(size))
    }
}
