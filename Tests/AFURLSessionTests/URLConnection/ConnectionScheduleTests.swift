import Dispatch

@testable import AFURLSession
@testable import AFURLTypes

// One at a time: some run the network thread that all of them share in another mode.
@Suite("Where a URLConnection calls back", .serialized)
struct ConnectionScheduleTests {
    private let server: TestServer
    private let sessions = ConnectionSessions.loopback()
    private let log = ConnectionLog()

    init() throws {
        server = try TestServer()
        server.route("*", "/hello", .text("hello"))
        server.route("GET", "/big", .stream(.repeating("0123456789", count: 4_000_000)))
    }

    private func connection(_ path: String, _ log: ConnectionLog) throws -> URLConnection {
        try #require(URLConnection(request: URLRequest(url: server.url(path)), delegate: log, in: sessions))
    }

    /// What a run loop did on a thread of its own.
    private struct Run: Sendable {
        var passes = 0
        var events: [ConnectionLog.Event] = []
    }

    /// Runs the loop of a new thread, pass by pass, until the log has come to its end.
    private func onRunLoop(
        mode: RunLoop.Mode = .default,
        _ log: ConnectionLog,
        _ start: @escaping @Sendable () -> Void
    ) async throws -> Run {
        let result = Watched<Run?>(nil)
        Thread.detachNewThread {
            start()
            var run = Run()
            let late = Date(timeIntervalSinceNow: 50)
            while !log.events.value.contains(where: \.isEnd), Date() < late {
                _ = RunLoop.current.run(mode: mode, before: late)
                run.passes += 1
            }
            run.events = log.events.value
            result.change { [run] in $0 = run }
        }
        return try #require(try await result.wait { $0 != nil })
    }

    @Test func `a connection that is not scheduled uses the run loop of the thread that starts it`() async throws {
        let threads = Lock<Set<ObjectIdentifier>>([])
        let own = Lock<ObjectIdentifier?>(nil)
        let log = ConnectionLog(hook: { _, _ in threads.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) } })
        let connection = try connection("/hello", log)

        let run = try await onRunLoop(log) {
            own.withLock { $0 = ObjectIdentifier(Thread.current) }
            connection.start()
        }

        #expect(run.events.last == .finished && log.text == "hello")
        #expect(threads.withLock { $0 } == [own.withLock { $0 }])
        // The loop was woken and came back, instead of waiting ten seconds.
        #expect(run.passes >= 1)
    }

    @Test func `a run loop delivers in the modes it was given, and in no other`() async throws {
        let mode = RunLoop.Mode("com.example.modal")
        let connection = try connection("/hello", log)

        let run = try await onRunLoop(mode: mode, log) {
            connection.schedule(in: .current, forMode: mode)
            connection.start()
            // Nothing in the default mode.
            RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.05))
            #expect(log.events.value.isEmpty)
        }

        #expect(run.events.last == .finished)
    }

    @Test func `several modes may be given, and taken back`() async throws {
        let mode = RunLoop.Mode("com.example.modal")
        let connection = try connection("/hello", log)

        let run = try await onRunLoop(mode: mode, log) {
            let loop = RunLoop.current
            connection.schedule(in: loop, forMode: .default)
            connection.schedule(in: loop, forMode: mode)
            connection.schedule(in: loop, forMode: mode)
            connection.unschedule(from: loop, forMode: .default)
            connection.unschedule(from: loop, forMode: .default)
            connection.start()
            RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.05))
            #expect(log.events.value.isEmpty)
        }

        #expect(run.events.last == .finished)
    }

    @Test func `a loop is woken for every event, however they come`() async throws {
        server.route("GET", "/slow", ServerReply.text("abcdefghij").dribbling(1, every: .milliseconds(5)))
        let connection = try connection("/slow", log)

        let run = try await onRunLoop(log) { connection.start() }

        #expect(run.events.last == .finished && log.text == "abcdefghij")
    }

    @Test func `the main run loop is served through the main queue`() async throws {
        let isMain = Lock<Set<Bool>>([])
        let log = ConnectionLog(hook: { _, _ in
            dispatchPrecondition(condition: .onQueue(.main))
            isMain.withLock { _ = $0.insert(true) }
        })
        let connection = try connection("/hello", log)

        connection.schedule(in: .main, forMode: .common)
        connection.start()

        #expect(try await log.ended().last == .finished)
        #expect(isMain.withLock { $0 } == [true])
    }

    @Test(arguments: [1, 8])
    func `a queue gets one call at a time, in order, also one that could do more`(width: Int) async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let inside = Lock((now: 0, most: 0))
        let log = ConnectionLog(hook: { _, _ in
            inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            #expect(OperationQueue.current === queue)
            inside.withLock { $0.now -= 1 }
        })
        let connection = try connection("/big", log)

        connection.setDelegateQueue(queue)
        connection.start()

        #expect(try await log.ended().last == .finished)
        #expect(log.body.withLock { $0.count } == 4_000_000 && inside.withLock { $0.most } == 1)
        #expect(log.body.withLock { $0.prefix(10) } == Data("0123456789".utf8))
    }

    @Test func `on the network thread everything is heard there`() async throws {
        let elsewhere = Lock(0)
        let log = ConnectionLog(hook: { _, _ in
            if !NetworkThread.loop.isOnLoop { elsewhere.withLock { $0 += 1 } }
        })

        _ = try sessions.start(URLRequest(url: server.url("/big")), log)

        #expect(try await log.ended().last == .finished)
        #expect(elsewhere.withLock { $0 } == 0)
    }

    @Test func `started on the network thread, it is scheduled there`() async throws {
        let connection = try connection("/hello", log)

        URLConnection.perform(onNetworkThreadIn: [.common]) { connection.start() }

        #expect(try await log.ended().last == .finished)
    }

    @Test func `while the network thread runs in another mode, a connection says nothing there`() async throws {
        server.route("GET", "/late", .text("late").delayed(by: .milliseconds(50)))
        let (early, late) = (Lock(0), ConnectionLog())
        let log = ConnectionLog(hook: { [sessions, server] event, _ in
            guard event == .response(200) else { return }
            let loop = sessions.world.loop
            _ = try? sessions.start(URLRequest(url: server.url("/late")), late)
            // In its mode, until it has asked what to send.
            loop.run(in: .default) { !late.events.value.isEmpty }
            let isLate = Lock(false)
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) {
                loop.enqueue(in: .tracking) { isLate.withLock { $0 = true } }
            }
            loop.run(in: .tracking) { isLate.withLock { $0 } }
            early.withLock { $0 = late.events.value.count }
        })

        _ = try sessions.start(URLRequest(url: server.url("/hello")), log)

        #expect(try await log.ended().last == .finished)
        #expect(try await late.ended().last == .finished)
        #expect(early.withLock { $0 } == 1 && late.text == "late")
    }

    @Test func `a delegate that moves its connection hears the rest where it has put it`() async throws {
        let queue = OperationQueue()
        let astray = Lock<[ConnectionLog.Event]>([])
        let log = ConnectionLog(hook: { event, connection in
            if case .response = event { return connection.setDelegateQueue(queue) }
            guard case .willSend = event else {
                return astray.withLock { if OperationQueue.current !== queue { $0.append(event) } }
            }
        })

        _ = try sessions.start(URLRequest(url: server.url("/hello")), log)

        #expect(try await log.ended().last == .finished)
        #expect(astray.withLock { $0 } == [] && log.text == "hello")
    }

    @Test func `modes in which the network thread does not run wait`() async throws {
        let connection = try connection("/hello", log)

        connection.schedule(onNetworkThreadIn: [RunLoop.Mode("com.example.modal")])
        connection.start()
        await URLSession.shared.settled()
        await URLSession.shared.settled()
        #expect(log.events.value.isEmpty)
        connection.setDelegateQueue(OperationQueue())

        #expect(try await log.ended().last == .finished)
    }

    @Test func `a connection may be moved while it runs: nothing is lost, doubled or out of order`() async throws {
        let queues = (0..<4).map { _ in OperationQueue() }
        let log = ConnectionLog(hook: { event, connection in
            guard case .data = event else { return }
            let next = queues.randomElement()
            if let next { connection.setDelegateQueue(next) }
            if Bool.random() { connection.schedule(onNetworkThreadIn: [.default]) }
        })
        let connection = try connection("/big", log)

        connection.setDelegateQueue(queues[0])
        connection.start()

        let events = try await log.ended()
        #expect(events.last == .finished && events.count { $0.isEnd } == 1)
        #expect(log.body.withLock { $0 } == Data(String(repeating: "0123456789", count: 400_000).utf8))
    }

    @Test func `taken off everything, it waits, and goes on where it is put`() async throws {
        let queue = OperationQueue()
        let log = ConnectionLog(hook: { event, connection in
            if case .response = event { connection.setDelegateQueue(nil) }
        })
        let connection = try connection("/hello", log)

        connection.setDelegateQueue(queue)
        connection.start()
        try await log.events.wait { $0.count >= 2 }
        try await eventually { queue.operationCount == 0 }
        #expect(log.events.value.last == .response(200))
        connection.setDelegateQueue(queue)

        #expect(try await log.ended().last == .finished)
    }

    /// Waits until as much waits for the delegate as may, and no more comes.
    private func filled(_ connection: URLConnection) async throws {
        var waiting = -1
        try await eventually {
            defer { waiting = connection.core.waitingBytes }
            return connection.core.waitingBytes >= ConnectionCore.highWater && waiting == connection.core.waitingBytes
        }
    }

    @Test func `at most so much waits for a delegate that does not come`() async throws {
        server.route("GET", "/huge", .stream(.repeating("x", count: 64 << 20)))
        let gate = DispatchSemaphore(value: 0)
        let log = ConnectionLog(hook: { event, _ in if case .response = event { gate.wait() } })
        let connection = try connection("/huge", log)

        connection.setDelegateQueue(OperationQueue())
        connection.start()
        try await log.events.wait { $0.contains(.response(200)) }
        try await filled(connection)
        #expect(connection.core.waitingBytes <= 3 * ConnectionCore.highWater)
        gate.signal()
        try await log.events.wait { _ in log.body.withLock { $0.count } > 4 << 20 }
        connection.cancel()
    }

    @Test func `parts without a body make the server wait, too`() async throws {
        let parts = ServerReply.stream(.repeating("--b\n\n", count: 64 << 20))
        server.route("GET", "/parts", parts.header("Content-Type", "multipart/x-mixed-replace;boundary=b"))
        let gate = DispatchSemaphore(value: 0)
        let log = ConnectionLog(hook: { event, _ in if case .response = event { gate.wait() } })
        let connection = try connection("/parts", log)

        connection.setDelegateQueue(OperationQueue())
        connection.start()
        try await log.events.wait { $0.contains(.response(200)) }
        try await filled(connection)
        #expect(connection.core.waitingBytes < 256 << 20)
        connection.cancel()
        for _ in 0..<10 { gate.signal() }
    }
}
