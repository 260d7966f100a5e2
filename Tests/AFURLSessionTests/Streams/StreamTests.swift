@testable import AFURLSession
@testable import AFURLTypes

/// Bodies read as they arrive, from a real server on the loopback interface.
struct StreamTests {
    let server: TestServer
    let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
    }

    private func reason(of error: any Error) -> LoadFailure.Reason? { (error as? URLError)?.loadFailure?.reason }

    // MARK: - What comes

    @Test(arguments: [0, 1, 70_000, 3_000_001])
    func `bytes, chunks and lines have every byte`(count: Int) async throws {
        let text = Coded.text(count)
        server.route("GET", "/file", .data(text))

        let (bytes, response) = try await session.bytes(from: server.url("/file"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200 && bytes.task.response === response)
        var all = Data()
        for try await byte in bytes { all.append(byte) }
        #expect(all == text)

        all = Data()
        for try await chunk in try await session.bytes(from: server.url("/file")).0.chunks {
            #expect(!chunk.isEmpty && chunk.count <= 256 << 10)
            all.append(chunk)
        }
        #expect(all == text)

        var lines: [String] = []
        for try await line in try await session.bytes(from: server.url("/file")).0.lines { lines.append(line) }
        let whole = String(decoding: text, as: UTF8.self)
        #expect(
            lines
                == whole.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).filter {
                    !$0.isEmpty
                }
        )
        #expect(server.acceptedConnections == 1)
    }

    @Test func `a coded body is read as its content`() async throws {
        let text = Coded.text(2_000_000)
        server.route("GET", "/file", .data(Coded.gzip(text)).header("Content-Encoding", "gzip").chunked(10_000))

        var all = Data()
        for try await chunk in try await session.bytes(from: server.url("/file")).0.chunks {
            #expect(chunk.count <= 64 << 10)
            all.append(chunk)
        }

        #expect(all == text)
    }

    @Test func `the head is handed over before the body has come, and each line when it is complete`() async throws {
        server.script(
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"),
            .pause(until: "head"),
            .send("one\r"),
            .pause(until: "line"),
            .send("\ntwo")
        )

        let (bytes, _) = try await session.bytes(from: server.url("/events"))
        server.signal("head")
        var lines = bytes.lines.makeAsyncIterator()
        #expect(try await lines.next() == "one")
        server.signal("line")
        #expect(try await lines.next() == "two")
        #expect(try await lines.next() == nil)
        #expect(try await lines.next() == nil)
    }

    @Test @MainActor func `an actor may read without leaving itself`() async throws {
        server.route("GET", "/file", .text("a\nb\nc"))
        var count = 0
        for try await _ in try await session.bytes(from: server.url("/file")).0 { count += 1 }
        var lines: [String] = []
        for try await line in try await session.bytes(from: server.url("/file")).0.lines { lines.append(line) }

        #expect(count == 5 && lines == ["a", "b", "c"])
    }

    @Test func `the delegate of the task hears of its metrics, and of nothing the caller gets`() async throws {
        server.route("GET", "/file", .text("hello"))
        let log = EventLog()

        for try await _ in try await session.bytes(from: server.url("/file"), delegate: log).0 {}

        try await log.events.wait("metrics") { !$0.isEmpty }
        await session.settled()
        #expect(log.events.value == [.metrics])
    }

    // MARK: - Errors

    @Test func `an error before the head is thrown by the call`() async throws {
        server.script(.expectHead, .close)
        await #expect(throws: URLError.self) { _ = try await session.bytes(from: server.url("/file")) }
        let request = URLRequest("NOT A METHOD", server.url("/file"))
        await #expect(throws: URLError.self) { _ = try await session.bytes(for: request) }
    }

    @Test func `an error in the body comes after the bytes before it, and once`() async throws {
        server.route("GET", "/file", .data(Coded.text(100_000)).closing(after: 60_000))

        let (bytes, _) = try await session.bytes(from: server.url("/file"))
        var iterator = bytes.makeAsyncIterator()
        var all = Data()
        do {
            while let byte = try await iterator.next() { all.append(byte) }
            Issue.record("the body was complete")
        } catch {
            #expect(reason(of: error) == .lost)
        }

        #expect(all == Coded.text(100_000).prefix(60_000))
        #expect(try await iterator.next() == nil)
        // Another reader finds the error too, and nothing else.
        var other = bytes.chunks.makeAsyncIterator()
        await #expect(throws: URLError.self) { try await other.next() }
        #expect(try await other.next() == nil)
    }

    @Test func `a line that was cut short is not handed out as one`() async throws {
        server.route("GET", "/file", .text("whole\nhalf of it, and more").closing(after: 10))
        var lines: [String] = []
        await #expect(throws: URLError.self) {
            for try await line in try await session.bytes(from: server.url("/file")).0.lines { lines.append(line) }
        }
        #expect(lines == ["whole"])
    }

    @Test func `a line that is too long is an error that says so, and ends the load`() async throws {
        server.route("GET", "/file") { _ in .stream(.repeating("x", count: 1 << 30)) }

        let (bytes, _) = try await session.bytes(from: server.url("/file"))
        do {
            for try await _ in bytes.lines(limit: 5000) { Issue.record("a line") }
        } catch {
            #expect((error as? URLError)?.code == .dataLengthExceedsMaximum)
            #expect((error as? URLError)?.loadFailure?.message.contains("5000") == true)
        }

        try await server.waitForEnd(ofConnection: 1)
    }

    // MARK: - Ends

    @Test func `breaking out of the loop ends the load`() async throws {
        server.route("GET", "/flood") { _ in .stream(.repeating("x\n", count: 1 << 30)) }
        let (bytes, _) = try await session.bytes(from: server.url("/flood"))

        for try await _ in bytes { break }

        try await server.waitForEnd(ofConnection: 1)
        #expect((bytes.task.error as? URLError)?.code == .cancelled)
        // Who comes later gets what had arrived, and then hears about it.
        var late = bytes.chunks.makeAsyncIterator()
        await #expect(throws: URLError.self) { while try await late.next() != nil {} }
    }

    @Test func `bytes that the caller does not read end their load when they are let go of`() async throws {
        server.route("GET", "/flood") { _ in .stream(.repeating("x\n", count: 1 << 30)) }
        var bytes: URLSession.AsyncBytes? = try await session.bytes(from: server.url("/flood")).0
        let task = try #require(bytes?.task)
        #expect(task.state == .running)
        bytes = nil

        try await server.waitForEnd(ofConnection: 1)
        try await eventually { task.state == .completed }
    }

    @Test func `cancelling the Swift task cancels the load, while it waits for the head or for bytes`() async throws {
        server.script(.expectHead, .stall)
        server.script(.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nabc"), .stall)
        for number in 1...2 {
            let read = Lock(0)
            let work = Task {
                for try await _ in try await session.bytes(from: server.url("/x")).0 { read.withLock { $0 += 1 } }
            }
            try await server.waitForRequests(number)
            if number == 2 { try await eventually { read.withLock { $0 } == 3 } }
            work.cancel()
            let result = await work.result
            #expect(throws: URLError.self) { try result.get() }
            try await server.waitForEnd(ofConnection: number)
        }
    }

    @Test func `cancelled at random moments, streams neither hang nor trap nor leak their tasks`() async throws {
        server.route("GET", "/file", .data(Coded.text(400_000)).chunked(5000))
        server.route("GET", "/zip", .data(Coded.gzip(Coded.text(900_000))).header("Content-Encoding", "gzip"))
        var random = SeededGenerator(seed: 3)
        for _ in 1...60 {
            let path = random.next().isMultiple(of: 2) ? "/file" : "/zip"
            let url = server.url(path)
            let enough = Int(random.next() % 500_000)
            let isBreak = random.next().isMultiple(of: 2)
            let work = Task { [session] in
                var count = 0
                for try await chunk in try await session.bytes(from: url).0.chunks {
                    count += chunk.count
                    if isBreak, count > enough { break }
                }
            }
            if !isBreak {
                for _ in 0..<(enough / 20_000) { await Task.yield() }
                work.cancel()
            }
            _ = await work.result
        }

        try await eventually { self.server.openConnections <= 6 }
        for _ in 1...50 where await !session.allTasks.isEmpty { await session.settled() }
        #expect(await session.allTasks.isEmpty)
    }

    @Test func `an invalidated session and a task that was cancelled from outside end the stream`() async throws {
        server.route("GET", "/flood") { _ in .stream(.repeating("x\n", count: 1 << 30)) }
        let (bytes, _) = try await session.bytes(from: server.url("/flood"))
        let (others, _) = try await session.bytes(from: server.url("/flood"))

        bytes.task.cancel()
        await #expect(throws: URLError.self) { for try await _ in bytes.chunks {} }
        session.invalidateAndCancel()
        await #expect(throws: URLError.self) { for try await _ in others.chunks {} }
        await #expect(throws: URLError.self) { _ = try await session.bytes(from: server.url("/flood")) }
    }

    // MARK: - Several readers

    @Test func `readers at the same time share the bytes, each byte going to one`() async throws {
        let text = Coded.text(3_000_000)
        server.route("GET", "/file", .data(text))
        let (bytes, _) = try await session.bytes(from: server.url("/file"))

        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...4 {
                group.addTask {
                    var count = 0
                    for try await chunk in bytes.chunks { count += chunk.count }
                    return count
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(counts.reduce(0, +) == text.count)
    }

    // MARK: - Holding up

    @Test(arguments: [false, true])
    func `T-RES-40 a reader that stops stops the server, and at most 256 KiB wait for it`(coded: Bool) async throws {
        let size = 1 << 30
        server.route("GET", "/flood") { _ in
            coded
                ? .data(Coded.gzip(Data(count: 14 << 20), level: 9) + Coded.text(0)).header("Content-Encoding", "gzip")
                : .stream(.repeating("x", count: size))
        }
        let (bytes, _) = try await session.bytes(from: server.url("/flood"))
        var reader = bytes.chunks.makeAsyncIterator()
        var taken = try await reader.next()?.count ?? 0
        let task = bytes.task

        for _ in 1...20 {
            var before = -1
            // Held up: nothing more arrives in many turns of the loop.
            while before != task.countOfBytesReceived {
                before = Int(task.countOfBytesReceived)
                for _ in 1...20 { await session.settled() }
            }
            #expect(Int(task.countOfBytesReceived) - taken <= 256 << 10)
            taken += try await reader.next()?.count ?? 0
        }
        if !coded { #expect(server.connections[0].bytesSent < size / 8) }
    }

    @Test func `a long stream comes through whole`() async throws {
        let size = 64 << 20
        server.route("GET", "/flood") { _ in .stream(.repeating("x", count: size)) }
        var count = 0

        for try await chunk in try await session.bytes(from: server.url("/flood")).0.chunks { count += chunk.count }

        #expect(count == size)
    }
}
