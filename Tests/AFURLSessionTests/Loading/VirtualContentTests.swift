@testable import AFURLSession
@testable import AFURLTypes

/// Coded bodies on the scripted network: deadlines, turns, and who is held up.
final class VirtualContentTests: WorldSuite {
    /// A reply as text of Latin-1, as scripts have it, is no way to send any bytes; this is.
    private func serve(_ world: VirtualWorld, _ host: String, _ body: Data) {
        world.respond(host) { _, moment, client in
            guard moment == .complete else { return }
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
            client.send(Array(head.utf8) + Array(body))
        }
    }

    @Test func `T-RES-01 ten mebibytes out of ten kibibytes take several turns and let others go ahead`() {
        serve(world, "dense.test", Coded.gzip(Data(count: 10 << 20), level: 9))
        let dense = world.get("http://dense.test/")
        var growth: Int64 = 0
        var last: Int64 = 0

        world.run {
            growth = max(growth, dense.task.countOfBytesReceived - last)
            last = dense.task.countOfBytesReceived
            return dense.isComplete
        }

        #expect(dense.all == [.response(200), .data(10 << 20), .finished])
        #expect(growth > 0 && growth <= 1 << 20)
    }

    @Test
    func `a decoded body that is not taken ends with the resource timeout, though all of it has arrived`() {
        world.configure { $0.timeoutIntervalForResource = 30 }
        serve(world, "dense.test", Coded.gzip(Data(count: 10 << 20), level: 9))
        let (recorder, queue) = (world.recorder, world.queue)
        recorder.onEvent { _, _, event in if case .data? = event { queue.sleep(for: .seconds(100)) } }
        let dense = world.get("http://dense.test/", idleTimeout: .seconds(1))

        world.run(limit: .seconds(10_000)) { dense.isComplete }

        #expect(dense.all.last == .failed(.timedOut))
        #expect(dense.record.completions == 1)
    }

    @Test func `a slow consumer is no stall: the idle time stands still while there is something to decode`() {
        serve(world, "dense.test", Coded.gzip(Data(count: 2 << 20), level: 9))
        let (recorder, queue) = (world.recorder, world.queue)
        recorder.onEvent { _, _, event in if case .data? = event { queue.sleep(for: .seconds(5)) } }
        let dense = world.get("http://dense.test/", idleTimeout: .seconds(1))

        world.run(limit: .seconds(10_000)) { dense.isComplete }

        #expect(dense.all == [.response(200), .data(2 << 20), .finished])
    }

    @Test func `T-API-01 a coded task cancelled after every step completes once and leaves nothing`() {
        for steps in stride(from: 0, to: 60, by: 1) {
            let world = VirtualWorld()
            serve(world, "dense.test", Coded.gzip(Data(count: 3 << 20), level: 9))
            let dense = world.get("http://dense.test/")
            for _ in 0..<steps { _ = world.step(until: world.now + .seconds(1)) }
            dense.task.cancel()
            world.run(limit: .seconds(100)) { dense.isComplete }

            #expect(dense.record.completions == 1)
            #expect(world.finish() == [])
        }
    }
}
