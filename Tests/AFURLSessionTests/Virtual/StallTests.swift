@Suite("Peers that stall")
final class StallTests: WorldSuite {
    @Test func `15.9 the idle time stands still while the delegate is asked, the resource time does not`() {
        world.configure { $0.timeoutIntervalForResource = 500 }
        world.script("api.test", .expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"), .stall)
        world.recorder.onResponse { _, _ in }
        let events = world.get("http://api.test/", idleTimeout: .seconds(10))

        world.advance(by: .seconds(499))
        #expect(events.all == [.response(200)])
        world.advance(by: .seconds(2))

        #expect(events.all == [.response(200), .failed(.timedOut)])
    }

    @Test(arguments: [false, true])
    func `15.9 the resource time also ends the wait for an answer about a response in full`(isSuspended: Bool) {
        world.configure { $0.timeoutIntervalForResource = 500 }
        world.serveEcho("api.test")
        world.recorder.onResponse { _, _ in }
        let events = world.get("http://api.test/")
        world.advance(by: .seconds(100))
        if isSuspended {
            events.task.suspend()
            world.advance(by: .seconds(1000))
            events.task.resume()
        }

        world.advance(by: .seconds(399))
        #expect(events.all == [.response(200)])
        world.advance(by: .seconds(2))

        #expect(events.all == [.response(200), .failed(.timedOut)])
        #expect(events.record.metrics?.transactionMetrics.first?.responseEndDate != nil)
    }
}
