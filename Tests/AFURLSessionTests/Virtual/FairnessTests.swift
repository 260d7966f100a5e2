@Suite("No load holds up another")
final class FairnessTests: WorldSuite {
    @Test func `T-RES-27 one fast peer leaves room for ninety-nine slow ones`() throws {
        world.configure { $0.httpMaximumConnectionsPerHost = 100 }
        world.network.link.receiveCapacity = 1 << 30
        let size = 64 << 20
        world.script(
            "fast.test",
            .expectRequest,
            .reply("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"),
            .fill(size),
            .again
        )
        world.serveEcho("slow.test")
        let url = try #require(URL(string: "http://fast.test/"))
        let fast = world.session.dataTask(with: url) { _, _, _ in }
        fast.resume()
        world.run { fast.countOfBytesReceived > 0 }
        var received = fast.countOfBytesReceived

        let slow = (0..<99).map { world.get("http://slow.test/\($0)") }
        var largestShare: Int64 = 0
        world.run {
            largestShare = max(largestShare, fast.countOfBytesReceived - received)
            received = fast.countOfBytesReceived
            return slow.allSatisfy { $0.isComplete }
        }

        #expect(slow.allSatisfy { $0.all.last == .finished })
        #expect(largestShare > 0 && largestShare <= Int64(TurnShare.size) + 256 << 10)
        fast.cancel()
    }

    /// What a server may send without end, in the smallest pieces that there are.
    enum Flood: String, CaseIterable {
        case chunks, fragments, messages, pings

        var piece: [UInt8] {
            switch self {
            case .chunks: Array("1\r\nx\r\n".utf8)
            case .fragments: [0x00, 0]
            case .messages: [0x82, 0]
            case .pings: [0x89, 0]
            }
        }

        /// Long enough for a hundred turns.
        var bytes: [UInt8] {
            let beginning: [UInt8] = self == .fragments ? [0x02, 0] : []
            return beginning + Array(repeatElement(piece, count: 30_000).joined())
        }
    }

    private func begin(_ flood: Flood, in world: VirtualWorld) throws -> URLSessionTask {
        guard flood == .chunks else {
            var behaviour = WebSocketProgram.Behaviour()
            behaviour.opened = { $0.send(flood.bytes) }
            let program = behaviour
            world.serve("flood.test") { WebSocketProgram(program) }
            let task = world.session.webSocketTask(with: try #require(URL(string: "ws://flood.test/")))
            FairnessTests.receive(from: task)
            task.resume()
            return task
        }
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        world.script("flood.test", .expectRequest, .reply(head + String(decoding: flood.bytes, as: UTF8.self)), .stall)
        let task = world.session.dataTask(with: try #require(URL(string: "http://flood.test/"))) { _, _, _ in }
        task.resume()
        return task
    }

    private static func receive(from task: URLSessionWebSocketTask) {
        task.receive { if case .success = $0 { receive(from: task) } }
    }

    @Test(arguments: Flood.allCases)
    func `T-RES-27 a server that sends tiny pieces gets no more of a turn than others`(flood: Flood) throws {
        world.network.link.receiveCapacity = 1 << 30
        let task = try begin(flood, in: world)
        world.run { (world.network.connections.first?.sentCount ?? 0) > 1000 }
        world.serveEcho("other.test")

        let other = world.get("http://other.test/")
        let before = world.turns
        world.run { other.isComplete }

        #expect(other.all.last == .finished)
        // Its own turns for the name, the connection, the answer and the callback, and no more.
        #expect(world.turns - before <= 20)
        task.cancel()
    }

    @Test func `T-RES-42 T-RES-40 a callback that takes ten seconds holds up its own peer and no other`() throws {
        world.network.link.latency = 1_000_000...1_000_000
        let size = 8 << 20
        world.script(
            "big.test",
            .expectRequest,
            .reply("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"),
            .fill(size),
            .again
        )
        world.serveEcho("other.test")
        let (recorder, queue) = (world.recorder, world.queue)
        recorder.onEvent { _, _, event in if case .data? = event { queue.sleep(for: .seconds(10)) } }
        let big = world.get("http://big.test/", idleTimeout: .seconds(1))
        world.advance(by: .seconds(5))

        let neighbour = EventRecorder()
        let session = world.makeSession(delegate: neighbour).session
        let url = try #require(URL(string: "http://other.test/"))
        let other = TaskEvents(task: session.dataTask(with: url), recorder: neighbour)
        let asked = world.now
        other.task.resume()
        world.run { other.isComplete }

        #expect(other.all.last == .finished)
        #expect(asked.duration(to: world.now) < .milliseconds(10))
        // What the delegate has, the mailbox, and the kernel's buffer.
        #expect(world.network.connections[0].sentCount <= 1 << 20)
        world.run(limit: .seconds(100_000)) { big.isComplete }
        #expect(big.all == [.response(200), .data(size), .finished])
    }
}
