@testable import AFTransport

/// Requests that wait for one of a host's connections: whether that is silence.
@Suite final class QueueSilenceTests: TransferSuite {
    private func serve(_ names: String...) {
        for name in names { world.serveEcho(name, after: .milliseconds(500)) }
    }

    @Test(arguments: [Float(0.5), 0.25])
    func `a thousand requests wait for their turns, and all are served`(priority: Float) {
        serve("api.test")

        let all = (0..<1000).map { world.get("http://api.test/\($0)", priority: priority) }
        // 1000 requests, 6 at a time, of half a second each.
        world.run(limit: .seconds(100)) { all.allSatisfy(\.isComplete) }

        #expect(all.map(\.body) == (0..<1000).map { "/\($0)" })
    }

    @Test func `the time of the task as a whole bounds the wait all the same`() {
        serve("api.test")
        world.settings.taskTimeout = .seconds(20)

        let all = (0..<1000).map { world.get("http://api.test/\($0)") }
        world.run(limit: .seconds(100)) { all.allSatisfy(\.isComplete) }

        let served = all.count { $0.error == nil }
        #expect((220...250).contains(served) && all.count { $0.error?.isOutOfTime == true } == 1000 - served)
    }

    @Test func `while other hosts are served, a host that waits for their connections is not late`() {
        serve("api.test", "other.test")
        world.settings.pool.maximumConnections = 1

        let all = (0..<300).map { world.get("http://\($0 < 299 ? "other" : "api").test/\($0)") }
        world.run(limit: .seconds(200)) { all.allSatisfy(\.isComplete) }

        #expect(all.allSatisfy { $0.error == nil })
    }
}
