import AFWire

@testable import AFURLSession
@testable import AFURLTypes

@Suite("Streams in virtual time")
final class VirtualStreamTests: WorldSuite {
    private let log = StreamLog()

    private func task(in world: VirtualWorld, _ configure: (URLSessionConfiguration) -> Void = { _ in })
        -> URLSessionStreamTask
    {
        world.makeSession(delegate: log, configure).session.streamTask(withHostName: "api.test", port: 80)
    }

    private var events: [StreamLog.Event] { log.events.value }

    @Test(arguments: [
        ("bücher.test", "xn--bcher-kva.test"), ("A.test", "a.test"), ("::1", "::1"), ("[::1]", "::1"),
        ("a\u{FF05}0d\u{FF05}0ab.test", nil), ("a\u{FF0F}b.test", nil), ("a%0d%0ab.test", nil),
        ("fe80::1%\u{301}lo", nil), ("a\r\nb.test", nil), ("", nil),
    ])
    func `text that is no host is no place to connect to`(host: String, known: String?) {
        #expect((try? StreamAddress(host: host, port: 443).frozen.get())?.endpoint.host.text == known)
    }

    @Test func `a read that takes too long fails with what had come, and all others with it`() {
        world.script("api.test", .reply("ab"), .delay(.seconds(100)), .reply("cd"), .stall)
        let task = task(in: world)
        log.read(task, 4, 4, timeout: 5)
        log.read(task, 1, 1, timeout: 50)
        task.resume()

        world.advance(by: .milliseconds(4_900))
        #expect(events == [])
        world.advance(by: .milliseconds(200))
        #expect(events == [.readFailed(-1001, "ab"), .readFailed(-1001, nil)])

        log.write(task, "still")
        log.read(task, 1, 1)
        world.advance(by: .seconds(1))
        #expect(Set(events.suffix(2)) == [.wrote, .readFailed(-1001, nil)])
        task.closeWrite()
        world.run()
        #expect(events.suffix(2) == [.writeClosed, .completed(-1001)])
    }

    @Test func `a write whose peer does not read fails, and reading goes on`() {
        world.script("api.test", .stopReading, .delay(.seconds(20)), .reply("hello"), .stall)
        let task = task(in: world)
        log.write(task, String(repeating: "x", count: 4 << 20), timeout: 10)
        log.write(task, "y")
        log.read(task, 5, 5, timeout: 60)
        task.resume()

        world.run(limit: .seconds(30))

        #expect(events == [.writeFailed(-1001), .writeFailed(-1001), .read("hello", isAtEnd: false)])
        task.cancel()
        world.run()
        #expect(events.last == .completed(-999))
    }

    @Test func `times stand still while the task is suspended, and so does the stream`() {
        world.script("api.test", .delay(.seconds(2)), .reply("late"), .stall)
        let task = task(in: world)
        log.read(task, 4, 4, timeout: 5)
        task.resume()
        world.advance(by: .seconds(1))
        task.suspend()
        world.advance(by: .seconds(1000))
        #expect(events == [] && task.state == .suspended)

        task.resume()
        world.advance(by: .seconds(1))
        #expect(events == [.read("late", isAtEnd: false)])
        log.read(task, 1, 1, timeout: 5)
        world.advance(by: .seconds(3))
        task.suspend()
        world.advance(by: .seconds(3))
        task.resume()
        world.advance(by: .milliseconds(1_900))
        #expect(events.count == 1)
        world.advance(by: .milliseconds(200))
        #expect(events.last == .readFailed(-1001, nil))
    }

    @Test func `a read may wait in vain before there is a connection`() {
        world.host("api.test", "192.0.2.1")
        world.set(.neverAnswers, for: "192.0.2.1")
        let task = task(in: world) { $0.timeoutIntervalForRequest = 30 }
        log.read(task, 1, 1, timeout: 10)
        log.write(task, "x")
        task.resume()

        world.advance(by: .seconds(11))
        #expect(events == [.readFailed(-1001, nil)])
        world.advance(by: .seconds(20))
        #expect(events == [.readFailed(-1001, nil), .writeFailed(-1001), .completed(-1001)])
        #expect(log.error.withLock { $0?.loadFailure?.phase } == .connecting)
    }

    @Test func `a stream that is asked for nothing stays, until its time as a whole is over`() {
        world.script("api.test", .stall)
        let task = task(in: world) {
            $0.timeoutIntervalForRequest = 1
            $0.timeoutIntervalForResource = 7200
        }
        task.resume()

        world.advance(by: .seconds(7000))
        #expect(events == [] && task.state == .running)
        world.advance(by: .seconds(201))
        #expect(events == [.completed(-1001)])
    }

    @Test(arguments: 0..<20)
    func `dialogues come through any link`(seed: UInt64) {
        let world = VirtualWorld(seed: seed)
        world.network.link.segment = 1...7
        world.network.link.writeCap = 1...5
        world.network.link.readEAGAIN = 30
        world.script("api.test", .expect("hello"), .reply("HELLO"), .expect("bye"), .reply("BYE"))
        let task = task(in: world)
        log.write(task, "hello", timeout: 5)
        log.read(task, 5, 5, timeout: 5)
        log.write(task, "bye", timeout: 5)
        log.read(task, 3, 10, timeout: 5)
        task.closeWrite()
        log.read(task, 1, 1)
        task.resume()

        world.run()

        #expect(events.filter { $0 == .wrote }.count == 2)
        #expect(events.contains(.read("HELLO", isAtEnd: false)))
        #expect(events.contains(.read("BYE", isAtEnd: false)) || events.contains(.read("BYE", isAtEnd: true)))
        #expect(events.last == .completed(nil))
        #expect(world.finish() == [])
    }

    @Test func `T-STR-03 cancelled after any step, everybody hears once and nothing is left`() {
        var isOver = false
        var steps = 0
        while !isOver, steps < 500 {
            let world = VirtualWorld(seed: UInt64(steps))
            let log = StreamLog()
            world.script("api.test", .expect("hello"), .reply("HELLO"), .stall)
            let task = world.makeSession(delegate: log).session.streamTask(withHostName: "api.test", port: 80)
            log.write(task, "hello", timeout: 5)
            log.read(task, 5, 5, timeout: 5)
            task.closeWrite()
            log.read(task, 1, 1, timeout: 5)
            task.resume()
            let end = world.now + .seconds(4)
            for _ in 0..<steps where !isOver { isOver = !world.step(until: end) }

            task.cancel()
            world.run(limit: .seconds(60))

            let events = log.events.value
            let answers = events.filter {
                if case .completed = $0 { false } else { $0 != .writeClosed && $0 != .readClosed }
            }
            #expect(answers.count == 3, "after step \(steps): \(events)")
            #expect(events.filter { if case .completed = $0 { true } else { false } }.count == 1)
            #expect(task.state == .completed)
            if case .completed = events.last {} else { Issue.record("after step \(steps): \(events)") }
            #expect(world.finish() == [], "after step \(steps)")
            steps += 1
        }
        #expect(isOver && steps > 3)
    }
}
