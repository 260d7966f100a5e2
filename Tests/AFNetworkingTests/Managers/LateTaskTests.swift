import AFBase
import Dispatch

@testable import AFNetworking

/// Tasks that are made when their session has been invalidated, or while it is.
@Suite struct LateTaskTests {
    private let site: ManagerSite
    private let heard = Heard<Answer>()

    init() throws {
        site = try ManagerSite()
    }

    /// Records where handlers are called, waits for them, or makes more tasks than requested.
    private final class Watching: HTTPSessionManager, @unchecked Sendable {
        let queues = Heard<String>()
        let awaitsHandler = Lock(false)
        let other = Lock<URLRequest?>(nil)
        let others = Heard<URLSessionDataTask>()
        let otherManager = Lock<HTTPSessionManager?>(nil)
        let ownQueue = Lock<DispatchQueue?>(nil)

        override func dataTask(
            with request: URLRequest,
            uploadProgress uploadProgressBlock: ProgressHandler?,
            downloadProgress downloadProgressBlock: ProgressHandler?,
            completionHandler: TaskCompletionHandler?
        ) -> URLSessionDataTask {
            otherManager.withLock { $0 }?.get("get?of=another", parameters: nil) { [queues] _, _ in
                queues.add("another's: \(Queues.current)")
            } failure: { _, _ in
            }
            if let other = other.withLock({ $0 }) {
                let task = super.dataTask(with: other, uploadProgress: nil, downloadProgress: nil) { [queues] _, _, _ in
                    queues.add("the other: \(Queues.current)")
                }
                others.add(task)
            }
            let called = DispatchSemaphore(value: 0)
            let task = super.dataTask(
                with: request,
                uploadProgress: uploadProgressBlock,
                downloadProgress: downloadProgressBlock
            ) { [queues] response, object, error in
                queues.add(Queues.current)
                completionHandler?(response, object, error)
                called.signal()
            }
            if let queue = ownQueue.withLock({ $0 }) { setCompletionQueue(queue, for: task) }
            if awaitsHandler.withLock({ $0 }) { called.wait() }
            return task
        }
    }

    private var manager: Watching {
        site.owned(Watching(baseURL: site.server.url("/"), sessionConfiguration: site.configuration))
    }

    private func invalidate(_ manager: URLSessionManager) async throws {
        let observed = Observed(.urlSessionDidInvalidate, of: manager.session)
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
        try await observed.heard.wait()
    }

    @Test func `5.1 an async verb needs no queue, also if its task is made too late`() async throws {
        let manager = manager
        try await invalidate(manager)

        let failure = await #expect(throws: RequestFailure.self) { try await manager.get("get") }
        #expect(failure?.kind == .cancelled && failure?.error.localizedDescription.contains("invalidated") == true)
        #expect(manager.queues.all.count == 1 && manager.queues.all != ["main"])
    }

    @Test func `5.1 the closures of a verb are called, also before it knows its task`() async throws {
        let manager = manager
        manager.completionQueue = Queues.named("own")
        manager.awaitsHandler.withLock { $0 = true }
        try await invalidate(manager)

        let task = manager.get("get", parameters: nil, success: heard.success, failure: heard.failure)
        let answer = try await heard.first
        #expect(answer.error?.code == NSURLErrorCancelled && answer.queue == "own")
        #expect(answer.task != nil && answer.task === task)
    }

    @Test func `6.3 another task that an override makes completes like any other`() async throws {
        let manager = manager
        manager.other.withLock { $0 = site.request("/bytes/10") }
        manager.otherManager.withLock { $0 = site.manager }
        let answer = try await manager.get("get")

        #expect(answer.task.originalRequest?.url?.path == "/get" && answer.object is [String: Any])
        try await manager.others.first.resume()
        let queues = try await manager.queues.wait(for: 3)
        #expect(queues.contains("the other: main") && queues.contains("another's: main") && !queues.contains("main"))
    }

    @Test func `6.3 the completion queue that an override sets for its task is used`() async throws {
        let manager = manager
        manager.other.withLock { $0 = site.request("/bytes/10") }
        manager.ownQueue.withLock { $0 = Queues.named("own") }

        manager.get("get", parameters: nil, success: heard.success, failure: heard.failure)

        let answer = try await heard.first
        #expect(answer.error == nil && answer.queue == "own")
        #expect(answer.task?.originalRequest?.url?.path == "/get")
    }

    @Test func `5.1 a task that is made while its session ends and is replaced fails with an error`() async throws {
        let manager = manager
        let task = manager.make(TaskRecord(by: manager, completion: .handler(heard.completion))) { session, record in
            let isInvalid = DispatchSemaphore(value: 0)
            let name = Notification.Name.urlSessionDidInvalidate
            let token = NotificationCenter.default.addObserver(forName: name, object: session, queue: nil) { _ in
                isInvalid.signal()
            }
            manager.invalidateSessionCancelingTasks(true, resetSession: true)
            isInvalid.wait()
            NotificationCenter.default.removeObserver(token)
            return session.dataTask(with: site.request("/get"), for: record)
        }

        #expect(try await heard.first.error?.localizedDescription.contains("invalidated") == true)
        #expect(task.session !== manager.session)
        #expect(try await manager.get("get").response?.statusCode == 200)
    }

    @Test func `5.1 a task that is cancelled before its maker has it completes`() async throws {
        let manager = manager
        let hasEnded = DispatchSemaphore(value: 0)
        manager.setTaskDidCompleteBlock { _, _, _ in hasEnded.signal() }
        let task = manager.make(TaskRecord(by: manager, completion: .handler(heard.completion))) { session, record in
            let task = session.dataTask(with: site.request("/get"), for: record)
            // As all tasks of the session are.
            task.cancel()
            hasEnded.wait()
            return task
        }

        #expect(try await heard.wait(seconds: 10)[0].error?.code == NSURLErrorCancelled)
        #expect(task.state == .completed && manager.record(of: task) == nil)
    }

    /// Uses a manager when it is released.
    private final class Parting: Sendable {
        private let manager: URLSessionManager
        private let gone: Heard<Bool>

        init(_ manager: URLSessionManager, _ gone: Heard<Bool>) {
            self.manager = manager
            self.gone = gone
        }

        deinit {
            gone.add(manager.completionQueue == nil)
        }
    }

    @Test func `objects of dropped tasks' handlers are released when no lock is held`() async throws {
        let manager = manager
        let gone = Heard<Bool>()
        let request = site.request("/get")
        for _ in 0..<100 {
            let parting = Parting(manager, gone)
            _ = manager.dataTask(with: request) { _, _, _ in _ = parting }
        }
        // With the lock held this would wait forever.
        manager.invalidateSessionCancelingTasks(true, resetSession: true)
        try await gone.wait(for: 100)
    }

    @Test func `a task that nothing retains and that was never resumed completes when its session ends`()
        async throws
    {
        let manager = manager
        _ = manager.dataTask(with: site.request("/get"), completionHandler: heard.completion)
        manager.invalidateSessionCancelingTasks(false, resetSession: false)
        #expect(try await heard.first.error?.code == NSURLErrorCancelled)
    }

    /// Answers without the network, before there is a task.
    private final class Canned: HTTPSessionManager, @unchecked Sendable {
        override func dataTask(
            with request: URLRequest,
            uploadProgress uploadProgressBlock: ProgressHandler?,
            downloadProgress downloadProgressBlock: ProgressHandler?,
            completionHandler: TaskCompletionHandler?
        ) -> URLSessionDataTask {
            completionHandler?(nil, ["canned"], nil)
            return super.dataTask(with: request, uploadProgress: nil, downloadProgress: nil, completionHandler: nil)
        }
    }

    @Test func `6.3 an overridden method may call the handler before there is a task`() async throws {
        let manager = site.owned(Canned(baseURL: site.server.url("/"), sessionConfiguration: site.configuration))
        let task = manager.get("get", parameters: nil, success: heard.success, failure: heard.failure)
        let answer = try await heard.first
        #expect(answer.object as? [String] == ["canned"] && answer.task === task)
        #expect(try await manager.get("get").object as? [String] == ["canned"])
    }
}
