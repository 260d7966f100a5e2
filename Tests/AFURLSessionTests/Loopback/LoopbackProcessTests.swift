import AFFaults
import Glibc

extension LoopbackTests.Alone {
    // MARK: - The thread and the descriptors

    @Test func `T-API-20 T-API-16 there is one thread of our name, and it takes no signal`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            let outcomes = Outcomes()
            // A worker of a disk that the network thread starts inherits its name.
            URLCache.shared = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            // First use from everywhere at once.
            DispatchQueue.concurrentPerform(iterations: 16) { _ in
                URLSession.shared.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler).resume()
            }
            #expect(try await outcomes.wait(for: 16).allSatisfy { $0.text == "hello" })

            let threads = LeakCheck.entries(of: "/proc/self/task").filter {
                ProcessUse.text(of: "/proc/self/task/\($0)/comm") == "AFNetworking\n"
            }
            #expect(threads.count == 1)
            let status = ProcessUse.text(of: "/proc/self/task/\(threads.first ?? "")/status")
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") })
            let mask = try #require(UInt64(line.dropFirst(8), radix: 16))
            // All but faults of the thread itself (ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS), of which crash reporters want
            // to know, and but KILL, STOP and the two of the thread library, which cannot be blocked.
            let unblocked = (1...64).filter { mask & (1 << UInt64($0 - 1)) == 0 }
            #expect(unblocked == [4, 5, 6, 7, 8, 9, 11, 19, 31, 32, 33])
        }
    }

    // MARK: - The cache of the process

    @Test func `a cache that is set later serves loads that begin later, and no others`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            for path in ["/first", "/second", "/third", "/late"] {
                server.route("GET", path, ServerReply.text(path).header("Cache-Control", "max-age=600"))
            }
            server.route(
                "GET",
                "/late",
                ServerReply.text("/late").header("Cache-Control", "max-age=600").held(until: "go")
            )
            func request(_ path: String) -> URLRequest { URLRequest(url: server.url(path)) }
            let caches = (0..<3).map { _ in URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }

            URLCache.shared = caches[0]
            _ = try await URLSession.shared.data(for: request("/first"))
            let late = Task { try await URLSession.shared.data(for: request("/late")) }
            try await server.waitForRequests(2)
            URLCache.shared = caches[1]
            server.signal("go")
            _ = try await late.value
            _ = try await URLSession.shared.data(for: request("/second"))
            URLCache.shared = caches[2]
            _ = try URLConnection.sendSynchronousRequest(request("/third"), returning: nil)
            let again = try await URLSession.shared.data(for: request("/third"))

            let paths = ["/first", "/late", "/second", "/third"]
            let kept = caches.map { cache in paths.filter { cache.cachedResponse(for: request($0)) != nil } }
            #expect(kept == [["/first", "/late"], ["/second"], ["/third"]])
            #expect(again.0 == Data("/third".utf8) && server.requests.count == 4)
            #expect(URLSession.shared.configuration.urlCache === caches[2])
        }
    }

    @Test func `T-API-18 every descriptor of ours is closed on exec`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
            let before = Set(LeakCheck.entries(of: "/proc/self/fd"))
            let outcomes = Outcomes()
            let session = URLSession.loopback()
            for _ in 1...3 {
                session.dataTask(with: server.url("/held"), completionHandler: outcomes.handler).resume()
            }
            try await server.waitForConnections(3)
            await session.settled()

            let ours = LeakCheck.entries(of: "/proc/self/fd").filter { !before.contains($0) }
            var flagged = 0
            for descriptor in ours {
                let flags = ProcessUse.text(of: "/proc/self/fdinfo/\(descriptor)").split(separator: "\n")
                    .first { $0.hasPrefix("flags:") }?.split(separator: "\t").last.flatMap { Int($0, radix: 8) }
                guard let flags else { continue }
                #expect(flags & Int(O_CLOEXEC) != 0, "descriptor \(descriptor)")
                flagged += 1
            }
            // Three sockets at both ends, epoll and the wake-up port; but one of them has the
            // number that listing the descriptors had before.
            #expect(flagged >= 7, "\(ours): \(flagged)")
            server.signal("go")
            _ = try await outcomes.wait(for: 3)
        }
    }

    @Test func `T-API-17 a forked child gets an error at once, and its parent goes on undisturbed`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            let session = URLSession.loopback()
            _ = try await session.data(from: server.url("/hello"))
            let code = Lock(0)
            let resumed = session.dataTask(with: server.url("/hello")) { _, _, error in
                code.withLock { $0 = (error as? URLError)?.code.rawValue ?? 1 }
            }
            let cancelled = session.dataTask(with: server.url("/hello"))
            let metrics = Lock(0)
            resumed.delegate = EventLog { event, _ in if event == .metrics { metrics.withLock { $0 += 1 } } }

            let status = Fork.run {
                resumed.resume()
                cancelled.cancel()
                guard resumed.state == .completed, cancelled.state == .completed else { return 2 }
                guard metrics.withLock({ $0 }) == 1 else { return 4 }
                return code.withLock { $0 } == -1004 ? 0 : 3
            }

            #expect(status == 0)
            #expect(resumed.state == .suspended)
            for _ in 1...3 { _ = try await session.data(from: server.url("/hello")) }
            #expect(server.acceptedConnections == 1 && server.requests.count == 4)
        }
    }

    @Test func `T-API-17 a forked child that exits sends no close_notify on its parent's secured connections`() async {
        await #expect(processExitsWith: .success) {
            let site = try SecuredSite()
            let text = String(repeating: "x", count: 300_000)
            site.server.route("GET", "/held", ServerReply.text(text).held(until: "go"))
            let session = site.session()
            let outcomes = Outcomes()
            session.dataTask(with: site.server.url("/held"), completionHandler: outcomes.handler).resume()
            try await site.server.waitForConnections(1)
            try await eventually { site.server.connections.first?.bytesReceived ?? 0 > 0 }
            await session.settled()

            // With all that a program does on its way out.
            #expect(Fork.run { exit(0) } == 0)
            site.server.signal("go")

            #expect(try await outcomes.first().text == text)
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
            #expect(site.server.acceptedConnections == 1)
        }
    }

    // MARK: - Memory and time

    @Test func `T-RES-40 a consumer that stops holds up its peer and not our memory`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            let size = 1 << 30
            server.route("GET", "/flood") { _ in .stream(.repeating("x", count: size)) }
            let gate = DispatchSemaphore(value: 0)
            let log = EventLog { event, _ in
                if case .data = event { _ = gate.wait(timeout: .now() + 20) }
            }
            let session = URLSession.loopback(delegate: log)
            _ = try await session.outcome(of: server.url("/warm"))
            let before = ProcessUse.residentBytes

            let task = session.dataTask(with: server.url("/flood"))
            task.resume()
            var sent = (-1, 0)
            // Held up: nothing more is sent during a tenth of a second.
            while sent.0 != sent.1 || sent.1 == 0 {
                try await Task.sleep(for: .milliseconds(100))
                sent = (sent.1, server.connections.last?.bytesSent ?? 0)
            }

            #expect(sent.1 < size / 8)
            #expect(task.countOfBytesReceived <= 1 << 20)
            #expect(ProcessUse.residentBytes - before < 16 << 20)
            task.cancel()
            for _ in 1...100 { gate.signal() }
            #expect(try await log.finished().last == .completed(-999))
        }
    }

    @Test func `T-RES-41 an upload that the server does not read is not read ahead`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.script(.expectHead, .stall)
            let body = Data(count: 256 << 20)
            let session = URLSession.loopback()
            let task = session.dataTask(with: URLRequest("POST", server.url(), body: body))
            let before = ProcessUse.residentBytes
            task.resume()
            var sent = (Int64(-1), Int64(0))
            while sent.0 != sent.1 || sent.1 == 0 {
                try await Task.sleep(for: .milliseconds(100))
                sent = (sent.1, task.countOfBytesSent)
            }

            #expect(sent.1 < 32 << 20)
            #expect(ProcessUse.residentBytes - before < 48 << 20)
            task.cancel()
        }
    }

    @Test func `T-RES-44 a hundred thousand queued tasks cost 2 KiB each and are cancelled in linear time`() async {
        await #expect(processExitsWith: .success) {
            let (server, count) = (try TestServer(), 100_000)
            server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
            let session = URLSession.loopback()
            for _ in 1...6 { session.dataTask(with: server.url("/held")).resume() }
            try await server.waitForConnections(6)
            let url = server.url("/queued")
            let ends = Watched(0)
            let before = ProcessUse.heapBytes

            let tasks = (0..<count).map { _ in
                session.dataTask(with: url) { _, _, _ in ends.change { $0 += 1 } }
            }
            for task in tasks { task.resume() }
            await session.settled()
            let each = (ProcessUse.heapBytes - before) / count
            #expect(each <= 2048, "\(each) bytes each")

            for task in tasks.reversed() { task.cancel() }
            // Quadratic time would be hours.
            _ = try await ends.wait(seconds: 600) { $0 == count }
            server.signal("go")
            _ = try await session.data(from: server.url("/held"))
        }
    }

    @Test func `T-RES-43 a million chunks of one byte need no more than 64 KiB of stack and 4 MiB of heap`() async {
        await #expect(processExitsWith: .success) {
            let (server, count) = (try TestServer(), 1_000_000)
            let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
            let chunks = repeatElement(Array("1\r\nx\r\n".utf8), count: count).joined()
            server.enqueue(.raw(bytes: head + Array(chunks) + Array("0\r\n\r\n".utf8)))
            let counter = ByteCounter()

            try await OwnWorld.run(delegate: counter, stackSize: 64 << 10, { $0.callsBackOnNetworkThread = true }) {
                session in
                session.dataTask(with: server.url()).resume()
                try await counter.progress.wait { $0.bytes > 0 }
                let before = ProcessUse.heapBytes
                var growth = 0
                while !counter.progress.value.isOver {
                    growth = max(growth, ProcessUse.heapBytes - before)
                    await Task.yield()
                }
                #expect(growth < 4 << 20)
            }

            #expect(counter.progress.value.bytes == count && counter.progress.value.error == nil)
        }
    }

    @Test func `T-RES-50 T-API-30 nothing grows with the number of requests, whatever becomes of them`() async {
        await #expect(processExitsWith: .success) {
            for path in ["/ok", "/cut", "/reset", "/bad", "/cancel", "/random", "/refused"] {
                // A server each: they remember what they saw.
                try await RepeatedRequests(path).run(300)
                var growth = Int.max
                // What a busy machine makes grow, more threads and their arenas, it makes grow once.
                for _ in 1...4 where growth >= 100 {
                    let before = ProcessUse.heapBytes
                    try await RepeatedRequests(path).run(1500)
                    growth = min(growth, (ProcessUse.heapBytes - before) / 1500)
                }
                #expect(growth < 100, "\(path): \(growth) bytes for each request")
            }
        }
    }

    @Test func `T-MSG-50 T-RES-27 connections that wait use no CPU`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            let endless = ScriptStep.send(bytes: [UInt8](repeating: 0x78, count: 8 << 20))
            let head = ScriptStep.send("HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n")
            let steps: [[ScriptStep]] = [
                // Suspended with bytes waiting; with the peer's end behind them; silent; idle.
                [.expectRequest, head, endless, .stall], [.expectRequest, head, .shutdownWrite, .stall],
                [.expectRequest, .stall],
                [.expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .stall],
            ]
            let session = URLSession.loopback()
            for (number, steps) in steps.enumerated() { server.script(on: .connection(number + 1), steps: steps) }
            let suspended = session.dataTask(with: server.url("/1"))
            suspended.resume()
            try await eventually { suspended.countOfBytesReceived > 0 }
            suspended.suspend()
            #expect(try await session.outcome(of: server.url("/2")).code == -1005)
            let silent = session.dataTask(with: server.url("/3"))
            silent.resume()
            try await server.waitForConnections(3)
            #expect(try await session.outcome(of: server.url("/4")).status == 200)
            await session.settled()

            let before = ProcessUse.cpuMicroseconds
            // The time in which nothing should happen is what is measured.
            try await Task.sleep(for: .milliseconds(500))

            #expect(ProcessUse.cpuMicroseconds - before < 100_000)
            session.invalidateAndCancel()
        }
    }

    @Test func `T-RES-49 a thousand requests use a handful of connections`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            let session = URLSession.loopback()
            let outcomes = Outcomes()
            for _ in 1...3000 {
                session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler).resume()
            }

            #expect(try await outcomes.wait(for: 3000, seconds: 60).allSatisfy { $0.text == "hello" })
            #expect(server.acceptedConnections <= 6)
        }
    }

    @Test func `T-API-10 when all sessions are gone nothing of them is open`() async {
        await #expect(processExitsWith: .success) {
            let before = try await OwnWorld.leakCheck()
            let server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            for round in 1...10 {
                try await OwnWorld.run { session in
                    for _ in 1...5 { _ = try await session.data(from: server.url("/hello")) }
                    if round % 3 == 0 { session.invalidateAndCancel() }
                    if round % 3 == 1 { session.finishTasksAndInvalidate() }
                }
            }
            server.stop()
            #expect(before.excess() == nil)
        }
    }
}

/// Many requests of one kind, to see whether they leave anything behind.
private struct RepeatedRequests {
    private let server: TestServer
    private let path: String
    private let url: URL

    init(_ path: String) throws {
        server = try TestServer()
        self.path = path
        server.route("GET", "/ok", .text("hello"))
        server.route("GET", "/cut", .text("twelve bytes").closing(after: 6))
        server.route("GET", "/reset", .text("twelve bytes").resetting(after: 6))
        server.route("GET", "/bad", ServerReply.raw("<html>").keepAlive(false))
        server.route("GET", "/cancel", .text("hello"))
        server.route("GET", "/random", .text("hello"))
        url = server.url(path)
        if path == "/refused" { server.stop() }
    }

    private static func treatAtRandom(_ task: URLSessionDataTask) {
        let chance = Int.random(in: 0..<4)
        if chance > 0 { task.resume() }
        if chance == 1 { Thread.sleep(forTimeInterval: .random(in: 0...0.001)) }
        if chance < 3 { task.cancel() }
    }

    func run(_ count: Int) async throws {
        let session = URLSession.loopback()
        let ends = Watched(0)
        for start in stride(from: 0, to: count, by: 50) {
            for _ in 1...50 {
                let task = session.dataTask(with: url) { _, _, _ in ends.change { $0 += 1 } }
                if path == "/random" {
                    Self.treatAtRandom(task)
                } else {
                    task.resume()
                    if path == "/cancel" { task.cancel() }
                }
            }
            _ = try await ends.wait { $0 >= start + 50 }
        }
        session.finishTasksAndInvalidate()
        await session.settled()
        server.stop()
    }
}

/// A delegate that keeps nothing.
private final class ByteCounter: URLSessionDataDelegate {
    struct Progress: Sendable {
        var bytes = 0
        var isOver = false
        var error: String?
    }

    let progress = Watched(Progress())

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        progress.change { $0.bytes += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        progress.change { progress in
            progress.isOver = true
            progress.error = error.map { "\($0)" }
        }
    }
}
