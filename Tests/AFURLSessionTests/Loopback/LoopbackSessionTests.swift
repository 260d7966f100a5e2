@testable import AFURLSession
@testable import AFURLTypes

extension LoopbackTests {
    /// Configuration, life and end of sessions.
    struct Sessions {
        private let server: TestServer

        init() throws {
            server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
        }

        // MARK: - Configuration

        @Test func `the defaults are those of the original`() {
            let configuration = URLSessionConfiguration.default

            #expect(configuration.timeoutIntervalForRequest == 60)
            #expect(configuration.timeoutIntervalForResource == 604_800)
            #expect(configuration.requestCachePolicy == .useProtocolCachePolicy)
            #expect(configuration.httpAdditionalHeaders == nil)
            #expect(configuration.httpMaximumConnectionsPerHost == 6)
        }

        @Test func `T-API-28 a session copies its configuration and gives out copies`() {
            let configuration = URLSessionConfiguration.default
            configuration.timeoutIntervalForRequest = 7
            let session = URLSession(configuration: configuration)

            configuration.timeoutIntervalForRequest = 8
            session.configuration.timeoutIntervalForRequest = 9

            #expect(session.configuration.timeoutIntervalForRequest == 7)
            #expect(URLSessionConfiguration.default.timeoutIntervalForRequest == 60)
        }

        @Test func `additional headers are added only where the request lacks them`() async throws {
            let session = URLSession.loopback { $0.httpAdditionalHeaders = ["X-One": "session", "x-two": "session"] }

            let request = URLRequest("GET", server.url("/hello"), fields: ["X-Two": "request"])
            _ = try await session.data(for: request)

            let seen = try #require(server.requests.first)
            #expect(seen.headers.values(of: "x-one") == ["session"])
            #expect(seen.headers.values(of: "x-two") == ["request"])
        }

        @Test(arguments: [1, 2, 6])
        func `the server sees no more connections than the limit`(limit: Int) async throws {
            let session = URLSession.loopback { $0.httpMaximumConnectionsPerHost = limit }
            let outcomes = Outcomes()

            for _ in 1...20 {
                session.dataTask(with: server.url("/held"), completionHandler: outcomes.handler).resume()
            }
            try await server.waitForRequests(0)
            try await server.waitForConnections(limit)
            server.signal("go")

            #expect(try await outcomes.wait(for: 20).allSatisfy { $0.text == "late" })
            #expect(server.acceptedConnections == limit)
        }

        @Test(arguments: [Double.leastNonzeroMagnitude, -1, 0, 1, .greatestFiniteMagnitude, .infinity, .nan])
        func `T-API-36 no interval of a configuration makes a request impossible`(value: Double) async throws {
            let settings: [ReferenceWritableKeyPath<URLSessionConfiguration, TimeInterval>] = [
                \.idleConnectionTimeout, \.maximumConnectionAge,
            ]
            for setting in settings {
                let session = URLSession.loopback { $0[keyPath: setting] = value }
                for _ in 1...3 { #expect(try await session.outcome(of: server.url("/hello")).text == "hello") }
            }
            // The smallest timeouts there are may rightly pass; all others mean something longer.
            guard value != .leastNonzeroMagnitude else { return }
            let session = URLSession.loopback {
                $0.timeoutIntervalForRequest = value
                $0.timeoutIntervalForResource = value
            }
            #expect(try await session.outcome(of: server.url("/hello")).text == "hello")
            let request = URLRequest(url: server.url("/hello"), timeoutInterval: value)
            #expect(try await session.outcome(of: request).text == "hello")
        }

        @Test(arguments: [Int.min, -1, 0, 1, .max])
        func `T-API-36 no number of a configuration makes a request impossible`(value: Int) async throws {
            let session = URLSession.loopback {
                $0.httpMaximumConnectionsPerHost = value
                $0.maximumIdleConnections = value
            }

            let outcomes = Outcomes()
            for _ in 1...5 {
                session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler).resume()
            }

            #expect(try await outcomes.wait(for: 5).allSatisfy { $0.text == "hello" })
            #expect(server.acceptedConnections <= max(1, min(value, 5)))
        }

        @Test(arguments: [(Int.min, -1103), (-1, -1103), (0, -1103), (1, -1103), (5, 200), (.max, 200)])
        func `T-API-36 maximumBodyInMemory allows what it says and no more`(limit: Int, result: Int) async throws {
            let session = URLSession.loopback { $0.maximumBodyInMemory = limit }
            server.route("GET", "/empty", .text(""))

            let outcome = try await session.outcome(of: server.url("/hello"))
            let empty = try await session.outcome(of: server.url("/empty"))

            #expect(outcome.code ?? outcome.status == result)
            #expect(empty.status == 200 && empty.error == nil)
        }

        @Test(arguments: ["", "a\0b", "/" + String(repeating: "x", count: 200), "/nonexistent/socket"])
        func `T-API-36 an impossible socket path fails the request`(path: String) async throws {
            let session = URLSession.loopback { $0.unixDomainSocketPath = path }

            let outcome = try await session.outcome(of: server.url("/hello"))

            #expect(outcome.code == -1000 || outcome.code == -1004)
            #expect(server.acceptedConnections == 0)
        }

        @Test func `a Unix-domain socket takes the place of host and port`() async throws {
            let path = NSTemporaryDirectory() + "af-\(UUID().uuidString.prefix(8)).sock"
            let local = try TestServer(on: .unix(path))
            local.route("GET", "/who", .text("local"))
            let session = URLSession.loopback { $0.unixDomainSocketPath = path }

            let (data, _) = try await session.data(from: URL(string: "http://named.test/who")!)  // literal

            #expect(data == Data("local".utf8))
            #expect(local.requests.first?.headers["Host"] == "named.test")
        }

        // MARK: - Tasks of a session

        @Test func `T-API-31 task identifiers rise from 1 in each session`() {
            for _ in 1...2 {
                let session = URLSession.loopback()
                let identifiers = (1...100).map { _ in session.dataTask(with: server.url()).taskIdentifier }
                #expect(identifiers == Array(1...100))
            }
        }

        @Test func `getAllTasks finds running and never resumed tasks, and none that is done`() async throws {
            let session = URLSession.loopback()
            let outcomes = Outcomes()
            let done = session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler)
            done.resume()
            _ = try await outcomes.first()
            let waiting = session.dataTask(with: server.url("/hello"))
            let running = session.dataTask(with: server.url("/held"))
            running.resume()

            #expect(await session.allTasks == [waiting, running])
            server.signal("go")
            // Held until it runs, or the session ends.
            session.invalidateAndCancel()
        }

        @Test func `getAllTasks answers a caller who blocks the delegate queue for it`() async throws {
            let answered = Watched<Bool?>(nil)
            let log = EventLog { _, task in
                let semaphore = DispatchSemaphore(value: 0)
                task?.session.getAllTasks { _ in semaphore.signal() }
                let isThere = semaphore.wait(timeout: .now() + 10) == .success
                answered.change { $0 = isThere }
            }
            let session = URLSession.loopback(delegate: log)

            session.dataTask(with: server.url("/hello")).resume()
            _ = try await log.finished()

            #expect(try await answered.wait { $0 != nil } == true)
        }

        @Test func `reset closes idle connections and calls back on the delegate queue`() async throws {
            let session = URLSession.loopback()
            _ = try await session.data(from: server.url("/hello"))

            await withCheckedContinuation { continuation in session.reset { continuation.resume() } }
            try await server.waitForEnd(ofConnection: 1)
            _ = try await session.data(from: server.url("/hello"))

            #expect(server.acceptedConnections == 2)
        }

        // MARK: - Ending

        @Test func `T-API-07 finishTasksAndInvalidate lets tasks finish and speaks last`() async throws {
            let log = EventLog()
            let session = URLSession.loopback(delegate: log)
            for _ in 1...3 { session.dataTask(with: server.url("/held")).resume() }
            try await server.waitForConnections(3)

            session.finishTasksAndInvalidate()
            session.finishTasksAndInvalidate()
            #expect(session.delegate != nil)
            server.signal("go")

            let events = try await log.events.wait { $0.contains(.invalid) }
            #expect(events.count { $0 == .completed(nil) } == 3)
            #expect(events.last == .invalid && events.count { $0 == .invalid } == 1)
            #expect(session.delegate == nil)
        }

        @Test func `T-API-07 invalidateAndCancel cancels everything, also what was never resumed`() async throws {
            let log = EventLog()
            let session = URLSession.loopback(delegate: log)
            let tasks = (1...8).map { _ in session.dataTask(with: server.url("/held")) }
            for task in tasks.dropLast(2) { task.resume() }
            try await server.waitForConnections(6)

            session.invalidateAndCancel()
            session.invalidateAndCancel()

            let events = try await log.events.wait { $0.contains(.invalid) }
            #expect(events.count { $0 == .completed(-999) } == 8)
            #expect(events.last == .invalid && events.count { $0 == .invalid } == 1)
            #expect(tasks.allSatisfy { $0.state == .completed })
            server.signal("go")
            #expect(try await server.waitUntilIdle().count == 6)
        }

        @Test func `T-API-07 a task resumed after the end fails and says why`() async throws {
            let session = URLSession.loopback()
            let early = Outcomes()
            let task = session.dataTask(with: server.url("/hello"), completionHandler: early.handler)
            session.finishTasksAndInvalidate()
            task.resume()

            let late = try await session.outcome(of: server.url("/hello"))
            let first = try await early.first()

            for outcome in [first, late] {
                #expect(outcome.code == -999)
                #expect(outcome.error?.loadFailure?.message.contains("invalidated") == true)
            }
            await #expect(throws: URLError.self) { try await session.data(from: server.url("/hello")) }
            #expect(server.requests.isEmpty)
        }

        @Test func `T-API-07 a session may be ended from its own callbacks`() async throws {
            let log = EventLog { event, task in
                if case .response = event { task?.session.invalidateAndCancel() }
                if event == .invalid { task?.session.finishTasksAndInvalidate() }
            }
            let session = URLSession.loopback(delegate: log)

            session.dataTask(with: server.url("/hello")).resume()

            let events = try await log.events.wait { $0.contains(.invalid) }
            #expect(events.first == .response(200) && events.last == .invalid)
            #expect(events.count { if case .completed = $0 { true } else { false } } == 1)
        }

        @Test func `T-API-07 tasks made while a session ends complete exactly once`() async throws {
            let outcomes = Outcomes()
            let session = URLSession.loopback()
            let (server, count) = (server, 400)

            await withTaskGroup(of: Void.self) { group in
                for number in 1...count {
                    group.addTask {
                        session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler).resume()
                        if number == count / 2 { session.invalidateAndCancel() }
                    }
                }
            }

            let all = try await outcomes.wait(for: count)
            await session.settled()
            #expect(all.count == count)
            #expect(all.allSatisfy { $0.text == "hello" || $0.code == -999 })
        }

        @Test func `the shared session cannot be invalidated`() async throws {
            URLSession.shared.invalidateAndCancel()
            URLSession.shared.finishTasksAndInvalidate()

            #expect(try await URLSession.shared.outcome(of: server.url("/hello")).text == "hello")
        }

        // MARK: - Memory

        @Test func `T-API-10 nothing is retained once a session was invalidated`() async throws {
            weak var weakLog: EventLog?
            weak var weakSession: URLSession?
            weak var weakTask: URLSessionTask?
            let events: Watched<[EventLog.Event]>
            do {
                let log = EventLog()
                events = log.events
                let session = URLSession.loopback(delegate: log)
                let task = session.dataTask(with: server.url("/hello"))
                task.resume()
                (weakLog, weakSession, weakTask) = (log, session, task)
                _ = try await log.finished()
                session.finishTasksAndInvalidate()
            }

            _ = try await events.wait { $0.contains(.invalid) }
            try await eventually { weakLog == nil && weakSession == nil && weakTask == nil }
        }

        @Test func `T-API-08 a dropped session lets its tasks finish and is then freed`() async throws {
            let outcomes = Outcomes()
            weak var weakSession: URLSession?
            do {
                let session = URLSession.loopback()
                weakSession = session
                for _ in 1...3 {
                    session.dataTask(with: server.url("/held"), completionHandler: outcomes.handler).resume()
                }
            }

            try await server.waitForConnections(3)
            server.signal("go")
            #expect(try await outcomes.wait(for: 3).allSatisfy { $0.text == "late" })
            // With the session its idle connections go.
            try await server.waitUntilIdle()
            try await eventually { weakSession == nil }
        }

        @Test func `T-API-08 a session dropped with its delegate frees both`() async throws {
            weak var weakLog: EventLog?
            do {
                let log = EventLog()
                weakLog = log
                URLSession.loopback(delegate: log).dataTask(with: server.url("/hello")).resume()
                _ = try await log.finished()
            }

            try await eventually { weakLog == nil }
            try await server.waitUntilIdle()
        }

        @Test func `T-API-09 a task its maker let go of runs to its end`() async throws {
            let log = EventLog()
            let session = URLSession.loopback(delegate: log)
            weak var weakTask: URLSessionTask?
            do {
                let task = session.dataTask(with: server.url("/held"))
                weakTask = task
                task.resume()
            }
            try await server.waitForConnections(1)
            server.signal("go")

            #expect(try await log.finished().last == .completed(nil))
            try await eventually { weakTask == nil }
        }

        @Test func `T-API-09 a task that only its session holds can be resumed later`() async throws {
            let outcomes = Outcomes()
            let session = URLSession.loopback()
            weak let task = session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler)
            #expect(task?.state == .suspended)
            #expect(await session.allTasks.map(\.taskIdentifier) == [1])

            task?.resume()

            #expect(try await outcomes.first().text == "hello")
            try await eventually { task == nil }
        }

        @Test func `T-API-10 a task that was never resumed goes when it is cancelled, and its session with it`()
            async throws
        {
            let outcomes = Outcomes()
            weak var task: URLSessionTask?
            weak var weakSession: URLSession?
            do {
                let session = URLSession.loopback()
                weakSession = session
                task = session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler)
            }
            #expect(task != nil && weakSession != nil)

            task?.cancel()

            #expect(try await outcomes.first().code == -999)
            try await eventually { task == nil && weakSession == nil }
        }

        @Test(arguments: [false, true])
        func `T-API-10 T-API-07 the end of a session cancels the tasks that were never resumed and lets go of them`(
            cancelling: Bool
        ) async throws {
            let (log, outcomes) = (EventLog(), Outcomes())
            weak var task: URLSessionTask?
            weak var weakSession: URLSession?
            do {
                let session = URLSession.loopback(delegate: log)
                weakSession = session
                for _ in 1...3 { _ = session.dataTask(with: server.url("/hello")) }
                task = session.downloadTask(with: server.url("/hello")) { _, _, error in
                    outcomes.handler(nil, nil, error)
                }
                if cancelling { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
            }

            let events = try await log.events.wait { $0.contains(.invalid) }
            #expect(events.count { $0 == .completed(-999) } == 3 && events.last == .invalid)
            let outcome = try await outcomes.first()
            #expect(outcome.code == -999)
            let message = outcome.error?.loadFailure?.message
            #expect(cancelling || message?.contains("The session was invalidated before") == true)
            try await eventually { task == nil && weakSession == nil }
            #expect(server.acceptedConnections == 0)
        }

        @Test func `T-API-10 a task that was made in an invalidated session is not held`() async throws {
            let outcomes = Outcomes()
            weak var weakSession: URLSession?
            do {
                let session = URLSession.loopback()
                weakSession = session
                session.invalidateAndCancel()
                weak let dropped = session.dataTask(with: server.url("/hello"))
                #expect(dropped == nil)
                session.dataTask(with: server.url("/hello"), completionHandler: outcomes.handler).resume()
            }

            #expect(try await outcomes.first().code == -999)
            try await eventually { weakSession == nil }
        }

        @Test(arguments: ["/hello", "/nothing"])
        func `T-API-10 a finished task lets go of its handler, delegate and body`(path: String) async throws {
            final class Owner: Sendable {
                let task = Lock<URLSessionTask?>(nil)
            }
            let session = URLSession.loopback()
            let outcomes = Outcomes()
            weak var weakOwner: Owner?
            weak var weakLog: EventLog?
            do {
                // The usual shape of a leak: the owner keeps the task, its handler the owner.
                let owner = Owner()
                let log = EventLog()
                (weakOwner, weakLog) = (owner, log)
                let task = session.dataTask(with: server.url(path)) { [owner] in
                    _ = owner
                    outcomes.handler($0, $1, $2)
                }
                task.delegate = log
                owner.task.withLock { $0 = task }
                task.resume()
                if path == "/nothing" { task.cancel() }
            }

            _ = try await outcomes.first()
            try await eventually { weakOwner == nil && weakLog == nil }
        }

        @Test func `T-API-11 a delegate lives until its queued callbacks have run`() async throws {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            weak var weakLog: EventLog?
            let events: Watched<[EventLog.Event]>
            do {
                let log = EventLog()
                (weakLog, events) = (log, log.events)
                let session = URLSession.loopback(delegate: log, queue: queue)
                queue.isSuspended = true
                session.dataTask(with: server.url("/missing")).resume()
                session.invalidateAndCancel()
                await session.settled()
            }
            #expect(weakLog != nil)

            queue.isSuspended = false
            #expect(try await events.wait { $0.contains(.invalid) }.suffix(2) == [.completed(-999), .invalid])
            try await eventually { weakLog == nil }
        }
    }
}
