import Glibc

/// Managers leave nothing behind.
@Suite struct ManagerLifeTests {
    private let site: ManagerSite

    init() throws {
        site = try ManagerSite()
    }

    /// An object that handlers retain.
    private final class Held: Sendable {
        private let alive: Counter

        init(_ alive: Counter) {
            self.alive = alive
            alive.add(1)
        }

        deinit {
            alive.add(-1)
        }
    }

    private final class Counter: @unchecked Sendable {
        private let lock = NSLock()
        private var number = 0

        func add(_ change: Int) { lock.withLock { number += change } }

        var value: Int { lock.withLock { number } }
    }

    /// Not made by the site, which retains its managers.
    private var freeManager: HTTPSessionManager {
        HTTPSessionManager(baseURL: site.server.url("/"), sessionConfiguration: site.configuration)
    }

    @Test func `tasks, their handlers and their managers are released, over ten thousand requests`() async throws {
        let alive = Counter()
        let heard = Heard<Bool>()
        weak var forgotten: HTTPSessionManager?
        weak var session: URLSession?
        do {
            let manager = freeManager
            manager.completionQueue = .global()
            manager.responseSerializer = HTTPResponseSerializer()
            (forgotten, session) = (manager, manager.session)
            for round in 1...100 {
                for number in 0..<100 {
                    let held = Held(alive)
                    let task = manager.dataTask(
                        with: site.request("/bytes/10"),
                        uploadProgress: { _ in _ = held },
                        downloadProgress: { _ in _ = held },
                        completionHandler: { _, _, _ in
                            _ = held
                            heard.add(true)
                        }
                    )
                    if number.isMultiple(of: 10) { _ = manager.downloadProgress(for: task) }
                    task.resume()
                    if number.isMultiple(of: 7) { task.cancel() }
                }
                try await heard.wait(for: 100 * round)
            }
            try await settle { alive.value == 0 }
            #expect(alive.value == 0)
            manager.invalidateSessionCancelingTasks(false, resetSession: false)
        }
        try await settle { forgotten == nil && session == nil }
        #expect(forgotten == nil && session == nil)
    }

    @Test func `managers are released whose verbs were awaited`() async throws {
        site.server.route("GET", "/small", .json("[1]"))
        site.server.route("GET", "/long", .json("[\(String(repeating: "1, ", count: 2000))1]"))
        weak var forgotten: HTTPSessionManager?
        weak var session: URLSession?
        do {
            let manager = freeManager
            (forgotten, session) = (manager, manager.session)
            for _ in 0..<20 {
                #expect(try await manager.get("small", decode: [Int].self) == [1])
                #expect(try await (manager.get("long").object as? [Int])?.count == 2001)
                await #expect(throws: RequestFailure.self) { try await manager.get("nowhere") }
            }
            manager.invalidateSessionCancelingTasks(false, resetSession: false)
        }
        try await settle { forgotten == nil && session == nil }
        #expect(forgotten == nil && session == nil)
    }

    @Test func `tasks that are never resumed are held until the session of the manager ends`() async throws {
        let alive = Counter()
        let heard = Heard<Bool>()
        let manager = site.manager
        for _ in 0..<10_000 {
            let held = Held(alive)
            _ = manager.dataTask(
                withHTTPMethod: "GET",
                urlString: "get",
                parameters: nil,
                headers: nil,
                uploadProgress: nil,
                downloadProgress: nil,
                success: { _, _ in _ = held },
                failure: { _, _ in
                    _ = held
                    heard.add(true)
                }
            )
        }
        #expect(alive.value == 10_000)

        manager.invalidateSessionCancelingTasks(true, resetSession: false)

        try await heard.wait(for: 10_000)
        try await settle { alive.value == 0 }
        #expect(alive.value == 0)
    }

    // MARK: - Managers that no program invalidates

    /// A subclass, whose delegate methods the session calls.
    private final class Hearing: HTTPSessionManager, @unchecked Sendable {
        let ends = Counter()

        override func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
        {
            ends.add(1)
            super.urlSession(session, task: task, didCompleteWithError: error)
        }
    }

    /// The descriptors of this process that are connected to the server.
    private func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutableBytes(of: &address) { bytes in
                getpeername(Int32(name) ?? -1, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
            return result == 0 && address.sin_family == AF_INET
                && UInt16(bigEndian: address.sin_port) == site.server.port
        }
    }

    @Test(arguments: ["awaited", "closure", "subclass", "session", "download", "hooks"])
    func `two hundred managers that no program invalidates leave no descriptor`(kind: String) async throws {
        let heard = Heard<Bool>()
        var managers: [() -> HTTPSessionManager?] = []
        for round in 1...200 {
            let manager =
                kind == "subclass"
                ? Hearing(baseURL: site.server.url("/"), sessionConfiguration: site.configuration) : freeManager
            manager.completionQueue = .global()
            manager.responseSerializer = HTTPResponseSerializer()
            managers.append { [weak manager] in manager }
            switch kind {
            case "awaited":
                _ = try await manager.get("bytes/10")
                heard.add(true)
            case "session":
                manager.session.dataTask(with: site.request("/bytes/10")) { _, _, error in heard.add(error == nil) }
                    .resume()
            case "download":
                manager.downloadTask(with: site.request("/bytes/10"), progress: nil, destination: nil) { _, _, error in
                    heard.add(error == nil)
                }.resume()
            case "hooks":
                manager.setTaskDidCompleteBlock { _, _, error in heard.add(error == nil) }
                manager.dataTask(with: site.request("/bytes/10"), completionHandler: nil)
                    .resume()
            default:
                manager.get(
                    "bytes/10",
                    parameters: nil,
                    success: { _, _ in heard.add(true) },
                    failure: { _, _ in heard.add(false) }
                )
            }
            // A machine has room for some hundred.
            if round.isMultiple(of: 50) { try await heard.wait(for: round) }
        }

        try await settle { managers.allSatisfy { $0() == nil } && (try? descriptors()) == 0 }
        #expect(managers.count { $0() != nil } == 0)
        #expect(try descriptors() == 0)
        #expect(heard.all.count == 200 && heard.all.allSatisfy(\.self))
    }

    /// Its challenge handler might have refused the server.
    @Test func `a session whose manager is gone loads nothing`() async throws {
        let session: URLSession
        weak var forgotten: HTTPSessionManager?
        do {
            let manager = freeManager
            (session, forgotten) = (manager.session, manager)
        }
        try await eventually { forgotten == nil }

        for _ in 1...2 {
            let error = await #expect(throws: URLError.self) {
                try await session.data(from: site.server.url("/bytes/10"))
            }
            #expect(error?.loadFailure?.detail == .invalidated, "\(String(describing: error))")
        }
        #expect(site.server.requests.isEmpty)
    }

    @Test func `a manager that the program lets go of hears of its tasks until they end`() async throws {
        let ends: Counter
        weak var forgotten: Hearing?
        site.server.route("GET", "/held", ServerReply.text("x").held(until: "go"))
        do {
            let manager = Hearing(baseURL: site.server.url("/"), sessionConfiguration: site.configuration)
            (ends, forgotten) = (manager.ends, manager)
            manager.session.dataTask(with: site.request("/held")).resume()
        }
        try await site.server.waitForRequests(1)
        #expect(forgotten != nil && forgotten?.session.delegate === forgotten)
        site.server.signal("go")

        try await settle { forgotten == nil && ends.value == 1 }
        #expect(forgotten == nil && ends.value == 1)
    }

    @Test func `a manager that the program lets go of lives as long as its streams`() async throws {
        site.server.route("GET", "/events", ServerReply.text("data: 1\n\n").header("Content-Type", "text/event-stream"))
        weak var forgotten: HTTPSessionManager?
        do {
            var options = EventStreamOptions()
            options.initialDelay = .milliseconds(1)
            var events: EventStream.AsyncIterator
            do {
                let manager = freeManager
                forgotten = manager
                events = manager.session.events(for: site.request("/events"), options: options).makeAsyncIterator()
            }
            // Each event comes with a task of its own.
            for _ in 0..<3 {
                #expect(try await events.next()?.data == "1")
                #expect(forgotten != nil)
            }
        }
        try await settle { forgotten == nil }
        #expect(forgotten == nil)
    }

    /// Waits until the last block that retains an object is released.
    private func settle(_ isMet: () -> Bool) async throws {
        for _ in 0..<6000 where !isMet() { try await Task.sleep(for: .milliseconds(10)) }
    }
}
