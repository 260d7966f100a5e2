@testable import AFURLSession

/// Orders of events that put a stream between two states.
@Suite struct StreamOrderTests {
    private let world = VirtualWorld()
    private let log = StreamLog()

    private func task(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> URLSessionStreamTask {
        world.makeSession(delegate: log, configure).session.streamTask(withHostName: "api.test", port: 80)
    }

    private var events: [StreamLog.Event] { log.events.value }

    @Test func `a task that is cancelled while TLS starts closes the connection, and tells everybody once`() {
        world.script("api.test", .stall)
        let task = task()
        log.write(task, "plain")
        task.startSecureConnection()
        log.read(task, 1, 1, timeout: 50)
        log.write(task, "secret")
        task.captureStreams()
        task.resume()
        world.advance(by: .seconds(1))
        #expect(events == [.wrote])

        task.cancel()
        world.run()

        #expect(events == [.wrote, .readFailed(-999, nil), .writeFailed(-999), .completed(-999)])
        #expect(world.finish() == [])
    }

    @Test func `a stream whose two directions are given up while TLS starts ends once`() {
        world.script("api.test", .stall)
        let task = task()
        task.startSecureConnection()
        log.read(task, 1, 1, timeout: 5)
        log.write(task, "late", timeout: 6)
        task.resume()

        world.advance(by: .milliseconds(5_500))
        #expect(events == [.readFailed(-1001, nil)])
        world.run(limit: .seconds(30))

        #expect(events == [.readFailed(-1001, nil), .writeFailed(-1001), .completed(-1001)])
        #expect(world.finish() == [])
    }

    @Test func `writing closes while a read waits, which gets the answer to all that was written`() {
        world.serve("api.test") { LateAnswer() }
        let task = task()
        log.write(task, "ask")
        log.read(task, 6, 6)
        task.resume()
        world.advance(by: .seconds(1))
        #expect(events == [.wrote])

        task.closeWrite()
        log.write(task, "too late")
        log.read(task, 1, 1)
        world.run()

        #expect(events.prefix(3) == [.wrote, .writeClosed, .writeFailed(-1005)])
        #expect(
            events.dropFirst(3) == [
                .read("answer", isAtEnd: false), .read("", isAtEnd: true), .readClosed, .completed(nil),
            ]
        )
        #expect(world.finish() == [])
    }

    @Test func `streams are captured behind the reads that wait, and before those asked for later`() {
        world.script("api.test", .delay(.seconds(5)), .reply("greeting"), .stall)
        let task = task()
        log.read(task, 8, 8)
        task.captureStreams()
        log.read(task, 1, 1)
        task.resume()
        world.advance(by: .seconds(2))
        #expect(events == [])

        world.advance(by: .seconds(5))
        log.write(task, "too late")
        world.run()

        #expect(
            Set(events) == [.read("greeting", isAtEnd: false), .streams, .readFailed(-1005, nil), .writeFailed(-1005)]
        )
        #expect(events.count == 4 && events.first == .read("greeting", isAtEnd: false))
        #expect(task.state == .completed && task.error == nil)
        #expect(world.finish() == [])
    }

    @Test(arguments: [true, false])
    func `a stream that has given up a direction is not captured: its gap would pass for the end`(reads: Bool) {
        world.network.link.sendCapacity = 64 << 10
        world.script("api.test", .stopReading, .stall)
        let task = task()
        if reads {
            log.read(task, 1, 1, timeout: 1)
        } else {
            log.write(task, String(repeating: "x", count: 4 << 20), timeout: 1)
        }
        task.captureStreams()
        task.resume()
        world.run(limit: .seconds(10))

        #expect(events == [reads ? .readFailed(-1001, nil) : .writeFailed(-1001), .completed(-1001)])
        #expect(world.finish() == [])
    }

    @Test(arguments: 0..<30)
    func `both sides close at once, and each direction and the task end once`(seed: UInt64) {
        let world = VirtualWorld(seed: seed)
        let log = StreamLog()
        world.network.link.segment = 1...3
        world.script("api.test", .delay(.milliseconds(Int(seed))), .reply("bye"), .close)
        let task = world.makeSession(delegate: log).session.streamTask(withHostName: "api.test", port: 80)
        log.read(task, 0, 10)
        task.resume()
        world.advance(by: .milliseconds(15))
        task.closeRead()
        task.closeWrite()
        log.read(task, 1, 1)
        world.run()

        let events = log.events.value
        #expect(events.filter { $0 == .readClosed }.count == 1, "\(events)")
        #expect(events.filter { $0 == .writeClosed }.count <= 1, "\(events)")
        #expect(events.filter { if case .completed = $0 { true } else { false } }.count == 1, "\(events)")
        #expect(events.filter { if case .readFailed = $0 { true } else { false } }.count <= 1, "\(events)")
        #expect(world.finish() == [])
    }

    @Test func `a stream that has given up a direction is not secured`() {
        world.script("api.test", .stall)
        let task = task()
        log.read(task, 1, 1, timeout: 1)
        task.startSecureConnection()
        log.write(task, "secret")
        task.resume()
        world.run(limit: .seconds(10))

        #expect(events.first == .readFailed(-1001, nil))
        #expect(events.contains(.writeFailed(-1200)) && events.last == .completed(-1200), "\(events)")
        #expect(world.finish() == [])
    }

    @Test func `what is asked for of a task that is over is refused once`() {
        world.script("api.test", .close)
        let task = task()
        log.read(task, 1, 1)
        task.closeWrite()
        task.resume()
        world.run()
        #expect(events.last == .completed(nil))

        task.startSecureConnection()
        task.captureStreams()
        task.closeRead()
        log.read(task, 1, 1)
        log.write(task, "late")
        world.run()

        #expect(Set(events.suffix(2)) == [.readFailed(-1005, nil), .writeFailed(-1005)])
        #expect(world.finish() == [])
    }
}

/// Answers when it has got everything.
private final class LateAnswer: ServerProgram {
    func received(_ bytes: ArraySlice<UInt8>, _ client: ServerEnd) {}

    func outputEnded(_ client: ServerEnd) {
        client.send("answer")
        client.close()
    }
}
