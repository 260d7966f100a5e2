import Glibc

/// Uploads where time, or what the server has received, matters.
@Suite("Uploads in time")
final class VirtualUploadTests: WorldSuite {
    static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Counts what arrives, and does something each time.
    private final class Counter: ServerProgram {
        var count = 0
        let onBytes: (Int, ServerEnd) -> Void

        init(_ onBytes: @escaping (Int, ServerEnd) -> Void) {
            self.onBytes = onBytes
        }

        func received(_ bytes: ArraySlice<UInt8>, _ client: ServerEnd) {
            count += bytes.count
            onBytes(count, client)
        }
    }

    private func upload(_ file: URL, in world: VirtualWorld, method: String = "PUT") -> TaskEvents {
        let request = URLRequest(method, URL(string: "http://api.test/") ?? file)
        let task = world.session.uploadTask(with: request, fromFile: file)
        task.resume()
        return TaskEvents(task: task, recorder: world.recorder)
    }

    private func stream(
        _ stream: InputStream?,
        in world: VirtualWorld,
        _ method: String = "PUT",
        fields: [String: String] = [:]
    ) -> TaskEvents {
        var request = URLRequest(method, URL(fileURLWithPath: "/"), fields: fields)
        request.url = URL(string: "http://api.test/")
        request.httpBodyStream = stream
        let task = world.session.dataTask(with: request)
        task.resume()
        return TaskEvents(task: task, recorder: world.recorder)
    }

    private func serveBodies(_ world: VirtualWorld, _ bodies: @escaping ([UInt8]) -> Void) {
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            bodies(request.body)
            client.send(Self.plain)
        }
    }

    // MARK: - Early answers

    @Test func `T-MSG-43 the error says so when the server takes no more and waits for the rest`() {
        world.respond("api.test") { request, moment, client in
            client.send("HTTP/1.1 \(request.method == "GET" ? 200 : 403) X\r\nContent-Length: 2\r\n\r\n")
        }

        let upload = world.send("PUT", "http://api.test/", body: Data(count: 4 << 20), idleTimeout: .seconds(5))
        world.run { upload.isComplete }
        let other = world.get("http://api.test/", idleTimeout: .seconds(5))
        world.run { other.isComplete }

        #expect(upload.all == [.response(403), .failed(.timedOut)])
        #expect(other.all == [.response(200), .failed(.timedOut)])
        let messages = [upload, other].map { $0.error?.loadFailure?.message ?? "" }
        #expect(messages.map { $0.contains("the rest was not sent") } == [true, false], "\(messages)")
    }

    /// Answers with this head as soon as the head of a request has come, and with its body when that has.
    private func answerEarly(_ world: VirtualWorld, _ head: String) {
        world.respond("api.test") { request, moment, client in
            if moment == .head { client.send("HTTP/1.1 \(head)\r\nContent-Length: \(4 << 20)\r\n\r\n") }
            if moment == .complete, request.method == "PUT" {
                client.send(String(decoding: request.body, as: UTF8.self))
            }
            if moment == .complete, request.method == "GET" { client.send(Self.plain) }
        }
    }

    @Test(arguments: ["200 OK", "201 Created", "304 Not Modified", "399 Odd"], 1...5)
    func `T-MSG-43 a server may answer while it reads, and the connection is used again`(head: String, seed: Int) {
        let world = VirtualWorld(seed: UInt64(seed))
        let status = Int(head.prefix(3)) ?? 0
        answerEarly(world, head)

        let body = Data(repeating: UInt8(ascii: "x"), count: 4 << 20)
        let upload = world.send("PUT", "http://api.test/", body: body, idleTimeout: .seconds(5))
        world.run { upload.isComplete }
        // 304 has no body, so that this answer ends before the request.
        let isWhole = status != 304
        #expect(upload.all.first == .response(status) && upload.error == nil)
        #expect(upload.body.utf8.count == (isWhole ? body.count : 0))
        let other = world.get("http://api.test/")
        world.run { other.isComplete }

        #expect(other.error == nil && world.network.connections.count == (isWhole ? 1 : 2))
        #expect(world.finish() == [])
    }

    @Test(arguments: ["400 No", "401 Who", "413 Much", "500 Oh", "200 OK\r\nConnection: close"])
    func `T-MSG-43 an answer that refuses or closes stops the body`(head: String) {
        var received = 0
        world.serve("api.test") {
            Counter { count, client in
                if received == 0 { client.send("HTTP/1.1 \(head)\r\nContent-Length: 2\r\n\r\nno") }
                received = count
            }
        }
        world.network.link.sendCapacity = 8192
        world.network.link.receiveCapacity = 8192

        let upload = world.send("PUT", "http://api.test/", body: Data(count: 4 << 20))
        world.run { upload.isComplete }
        world.run(limit: .seconds(10))

        #expect(upload.error == nil && upload.body == "no")
        #expect(received < 200_000)
    }

    @Test func `T-MSG-43 an answer in place of 100 keeps the body back`() {
        var received = 0
        world.serve("api.test") {
            Counter { count, client in
                if received == 0 { client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n") }
                received = count
                client.after(.milliseconds(500)) { $0.send("ok") }
            }
        }

        let fields = ["Expect": "100-continue"]
        let upload = world.send("PUT", "http://api.test/", body: Data(count: 4 << 20), fields: fields)
        world.run { upload.isComplete }

        #expect(upload.error == nil && upload.body == "ok" && received < 1000)
    }

    @Test func `T-MSG-43 a server that neither reads nor answers on is late`() {
        world.network.link.sendCapacity = 8192
        world.network.link.receiveCapacity = 8192
        world.respond("api.test") { _, moment, client in
            guard moment == .head else { return }
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
            client.stopReading()
        }

        let upload = world.send("PUT", "http://api.test/", body: Data(count: 4 << 20), idleTimeout: .seconds(5))
        world.run { upload.isComplete }

        #expect(upload.error?.code == .timedOut)
    }

    // MARK: - Files

    enum Change: CaseIterable {
        case truncated, grown, rewritten
    }

    @Test(arguments: 1...12, Change.allCases)
    func `T-FIL-20 a file that changes while it is sent never arrives as a whole`(block: Int, change: Change) throws {
        let folder = try ScratchFolder()
        let size = 13 * 65_536 + 100
        let file = try folder.file(pattern(size))
        // Younger than any clock tick that a change could share with it.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)],
            ofItemAtPath: file.path
        )
        world.network.link.sendCapacity = 8192
        world.network.link.receiveCapacity = 8192
        world.network.link.segment = 4096...4096
        var received = 0
        var isChanged = false
        world.serve("api.test") {
            Counter { count, _ in
                received = count
                guard count >= block * 65_536, !isChanged else { return }
                isChanged = true
                switch change {
                case .truncated: _ = truncate(file.path, off_t(block * 65_536))
                case .grown: _ = truncate(file.path, off_t(size + 1))
                case .rewritten:
                    try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: file.path)
                }
            }
        }

        let events = upload(file, in: world)
        world.run { events.isComplete }

        #expect(isChanged)
        #expect(events.all == [.failed(.requestBodyStreamExhausted)])
        #expect(events.error?.loadFailure?.detail == .changed, "\(String(describing: events.error))")
        #expect(received < size)
    }

    @Test func `T-FIL-20 a file that is deleted or replaced is sent as it was opened`() throws {
        let folder = try ScratchFolder()
        let content = pattern(400_000)
        let file = try folder.file(content)
        var body: [UInt8] = []
        world.respond("api.test") { request, moment, client in
            if moment == .head { try? Data("another".utf8).write(to: file, options: .atomic) }
            guard moment == .complete else { return }
            body = request.body
            client.send(Self.plain)
        }

        let events = upload(file, in: world)
        world.run { events.isComplete }

        #expect(events.all == [.response(200), .data(2), .finished])
        #expect(Data(body) == content)
    }

    @Test func `a slow disk does not count against the request's idle time`() throws {
        let folder = try ScratchFolder()
        let file = try folder.file(pattern(100_000))
        world.workers.take(.seconds(3))
        var count = 0
        serveBodies(world) { count = $0.count }

        var request = URLRequest("PUT", URL(fileURLWithPath: "/"))
        request.url = URL(string: "http://api.test/")
        request.timeoutInterval = 1
        let task = world.session.uploadTask(with: request, fromFile: file)
        task.resume()
        let events = TaskEvents(task: task, recorder: world.recorder)
        world.run { events.isComplete }

        #expect(events.all.last == .finished)
        #expect(count == 100_000)
    }

    @Test func `a file that takes too long to open is out of time`() throws {
        let folder = try ScratchFolder()
        world.configure { $0.timeoutIntervalForResource = 2 }
        world.workers.take(.seconds(5))

        let events = upload(try folder.file(Data([1])), in: world)
        world.run { events.isComplete }

        #expect(events.all == [.failed(.timedOut)])
        #expect(events.error?.loadFailure?.phase == .preparing)
    }

    @Test func `cancelling at any moment leaves nothing behind`() throws {
        let folder = try ScratchFolder()
        let file = try folder.file(pattern(300_000))
        for steps in 0..<40 {
            let world = VirtualWorld()
            world.workers.take(.milliseconds(1))
            serveBodies(world) { _ in }
            let fromFile = upload(file, in: world)
            let fromStream = stream(TestStream(pattern(300_000)), in: world)
            for _ in 0..<steps where !world.step(until: world.now + .milliseconds(10)) { break }

            fromFile.task.cancel()
            fromStream.task.cancel()
            world.run { fromFile.isComplete && fromStream.isComplete }

            #expect(fromFile.record.completions == 1 && fromStream.record.completions == 1)
            #expect(world.finish() == [])
        }
        #expect(!openFiles().contains(file.path))
    }

    @Test(arguments: ["PUT", "GET"])
    func `T-FIL-28 a file is closed where it was read, since that may take long too`(method: String) throws {
        let folder = try ScratchFolder()
        let file = try folder.file(pattern(100_000))
        let world = VirtualWorld()
        world.workers.take(.seconds(3))
        serveBodies(world) { _ in }

        let events = upload(file, in: world, method: method)
        world.run { events.isComplete }

        // A method without body is refused when the file is open.
        #expect((events.all.last == .finished) == (method == "PUT"))
        #expect(openFiles().contains(file.path))
        #expect(world.finish() == [])
        #expect(!openFiles().contains(file.path))
    }

    private func openFiles() -> [String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    }

    // MARK: - Streams

    @Test func `T-RES-41 a stream is read at most 256 KiB ahead of the socket`() {
        let world = VirtualWorld()
        world.network.link.sendCapacity = 16 << 10
        world.network.link.receiveCapacity = 16 << 10
        let body = TestStream(Data(count: 4 << 20))
        world.script("api.test", .stopReading, .stall)

        let events = stream(body, in: world)
        world.run(limit: .seconds(30))

        let sent = Int(events.task.countOfBytesSent)
        #expect(body.doings.value.given <= sent + 256 << 10)
        #expect(body.doings.value.given >= 256 << 10)
        #expect(world.finish() == [])
        #expect(body.doings.value.closings == 1)
    }

    @Test func `a stream that claims more than there was room for fails its task`() {
        world.script("api.test", .stopReading, .stall)
        world.network.link.sendCapacity = 16 << 10
        world.network.link.receiveCapacity = 16 << 10
        let body = TestStream(Data(count: 1000), end: .boast(64 << 10))

        let events = stream(body, in: world)
        world.run(limit: .seconds(30))

        #expect(events.all == [.failed(.requestBodyStreamExhausted)])
    }

    @Test(arguments: [1...1, 2...3, 5...50, 1000...1000])
    func `chunks survive writes of any size`(cap: ClosedRange<Int>) {
        world.network.link.writeCap = cap
        let content = pattern(3000)
        var bodies: [[UInt8]] = []
        serveBodies(world) { bodies.append($0) }

        let events = stream(TestStream(content, pieces: 700), in: world)
        world.run { events.isComplete }

        #expect(events.all.last == .finished)
        #expect(bodies.map { Data($0) } == [content])
    }

    @Test func `progress adds up for every kind of body`() throws {
        let folder = try ScratchFolder()
        let content = pattern(700_000)
        world.network.link.sendCapacity = 50_000
        serveBodies(world) { _ in }

        let all = [
            (world.send("PUT", "http://api.test/", body: content), Int64(700_000)),
            (upload(try folder.file(content), in: world), 700_000),
            (stream(TestStream(content), in: world, fields: ["Content-Length": "700000"]), 700_000),
            (stream(TestStream(content), in: world), -1),
        ]
        world.run { all.allSatisfy { $0.0.isComplete } }

        for (events, expected) in all {
            let totals = events.record.events.compactMap {
                if case .sent(let total) = $0 { total } else { nil as Int64? }
            }
            #expect(totals.last == 700_000 && totals == totals.sorted() && Set(totals).count == totals.count)
            #expect(events.task.countOfBytesExpectedToSend == expected)
            #expect(events.task.countOfBytesSent == 700_000)
        }
    }
}
