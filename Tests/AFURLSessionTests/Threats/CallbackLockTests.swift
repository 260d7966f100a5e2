import Dispatch

@Suite("Calling back")
struct CallbackLockTests {
    /// A callback that traps leaves no lock of ours behind if it never held one.
    @Test func `T-API-14 no lock of ours is held while a callback runs`() async throws {
        let server = try TestServer()
        server.route("POST", "/hello", .text("hello"))
        let blocked = Lock(0)
        let used = Lock<URLSession?>(nil)
        let log = EventLog { _, task in
            guard let task, let session = used.withLock({ $0 }) else { return }
            let done = DispatchSemaphore(value: 0)
            // A thread of its own: the global queue's may all be busy with other tests.
            Thread.detachNewThread {
                Self.useEverything(task, session)
                done.signal()
            }
            if done.wait(timeout: .now() + 10) == .timedOut { blocked.withLock { $0 += 1 } }
        }
        let session = URLSession.loopback(delegate: log)
        used.withLock { $0 = session }

        session.dataTask(with: URLRequest("POST", server.url("/hello"), body: Data("body".utf8))).resume()
        let events = try await log.finished()

        #expect(events.count >= 4)
        #expect(blocked.withLock { $0 } == 0)
        used.withLock { $0 = nil }
        session.invalidateAndCancel()
    }

    @Test func `T-API-10 a delegate may use its task while it is let go of`() throws {
        let session = URLSession.loopback()
        let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:9/")))
        let states = Lock<[URLSessionTask.State]>([])
        weak var delegate: PartingDelegate?
        do {
            let made = PartingDelegate { [weak task] in
                guard let task else { return }
                states.withLock { $0.append(task.state) }
            }
            delegate = made
            task.delegate = made
        }
        #expect(delegate != nil)

        // Not here: should it wait for ever, so would the whole run.
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            task.delegate = nil
            isDone.signal()
        }

        try #require(isDone.wait(timeout: .now() + 10) == .success)
        #expect(delegate == nil && states.withLock { $0 } == [.suspended])
        task.cancel()
    }

    /// In a world of its own: should its thread wait for ever, then those of other tests do not.
    @Test func `T-API-10 a delegate that came after the task had begun may use it when it ends`() async throws {
        let server = try TestServer()
        server.route("GET", "/slow", .text("slow").stalling(after: 1))
        let url = server.url("/slow")
        let states = Watched<[URLSessionTask.State]>([])
        try await OwnWorld.run { session in
            let task = session.dataTask(with: url)
            task.resume()
            _ = try await server.waitForRequests(1)
            task.delegate = PartingDelegate { [weak task] in
                guard let task else { return }
                states.change { $0.append(task.state) }
            }

            task.cancel()

            #expect(try await states.wait("the delegate's end") { !$0.isEmpty } == [.completed])
        }
    }

    /// Calls back when it is gone.
    private final class PartingDelegate: URLSessionTaskDelegate {
        private let parting: @Sendable () -> Void

        init(_ parting: @escaping @Sendable () -> Void) {
            self.parting = parting
        }

        deinit { parting() }
    }

    private static func useEverything(_ task: URLSessionTask, _ session: URLSession) {
        _ = (task.state, task.response, task.error, task.currentRequest, task.progress.fractionCompleted)
        _ = (task.countOfBytesReceived, task.countOfBytesSent, task.delegate == nil, session.delegate == nil)
        task.priority = 0.5
        task.taskDescription = "used"
        task.suspend()
        task.resume()
        _ = (session.configuration.timeoutIntervalForRequest, session.sessionDescription)
        // With a handler, so that the delegate hears one completion only.
        session.dataTask(with: URLRequest(url: URL(fileURLWithPath: "/"))) { _, _, _ in }.cancel()
        // Answered by the network thread.
        let answered = DispatchSemaphore(value: 0)
        session.getAllTasks { _ in answered.signal() }
        _ = answered.wait(timeout: .now() + 5)
    }
}
