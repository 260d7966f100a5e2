import AFBase
import AFLoop
import Dispatch

@testable import AFNetworking

/// Where a manager hears of the end of a task: small responses skip its operation queue, unless something is left to do
/// there.
@Suite struct TaskEndPlaceTests {
    private let site: ManagerSite
    private let manager: HTTPSessionManager
    private let heard = Heard<Answer>()

    init() throws {
        site = try ManagerSite()
        site.server.route("GET", "/small", .json(#"{"id": 1}"#))
        manager = site.manager
    }

    struct Small: Decodable {
        /// Whether the network thread has decoded it.
        let isOnLoop: Bool

        init(from decoder: any Decoder) throws {
            isOnLoop = World.system.loop.isOnLoop
        }
    }

    /// Waits until calls on the main queue that were made before have come back.
    private func passMainQueue() async {
        await withCheckedContinuation { continuation in MainQueue.whenQuiet { continuation.resume() } }
    }

    private func get() throws -> URLSessionDataTask {
        try #require(
            manager.get("small", parameters: nil, success: heard.success, failure: heard.failure)
        )
    }

    @Test(arguments: [nil, "completions"])
    func `the handler of a small response is on its queue, and its notification on the main queue`(
        name: String?
    ) async throws {
        manager.completionQueue = name.map(Queues.named)
        let observed = Heard<String>()
        let token = NotificationCenter.default.addObserver(forName: .networkingTaskDidComplete, object: nil, queue: nil)
        { [heard] notification in
            // Other tests have tasks, too.
            guard let task = notification.object as? URLSessionTask, heard.all.contains(where: { $0.task === task })
            else { return }
            observed.add("\(Queues.current), \(OperationQueue.current === OperationQueue.main)")
        }
        defer { NotificationCenter.default.removeObserver(token) }

        _ = try get()

        let answer = try await heard.first
        #expect(answer.json?["id"] as? Int == 1 && answer.queue == name ?? "main")
        #expect(try await observed.wait() == ["main, true"])
        #expect(!manager.callbackQueue.isMade)
    }

    @Test(arguments: ["suspended", "busy"], [nil, "completions"])
    func `an operation queue that has something left to do holds the end back`(
        state: String,
        name: String?
    ) async throws {
        manager.completionQueue = name.map(Queues.named)
        let gate = DispatchSemaphore(value: 0)
        if state == "busy" {
            manager.operationQueue.addOperation { gate.wait() }
        } else {
            manager.operationQueue.isSuspended = true
        }
        let task = try get()
        try await eventually("the end of the task") { manager.tasks.isEmpty && task.countOfBytesReceived > 0 }
        await passMainQueue()
        #expect(heard.all.isEmpty)

        gate.signal()
        manager.operationQueue.isSuspended = false

        #expect(try await heard.first.json?["id"] as? Int == 1)
    }

    @Test func `an operation queue that is suspended holds back a caller that awaits`() async throws {
        manager.operationQueue.isSuspended = true
        let isThere = Lock(false)
        async let answer = {
            let answer = try await manager.get("small")
            isThere.withLock { $0 = true }
            return answer
        }()
        try await eventually("the request") { site.server.requests.count == 1 }
        try await eventually("the end of the task") { manager.tasks.isEmpty }
        #expect(!isThere.withLock { $0 })

        manager.operationQueue.isSuspended = false

        #expect((try await answer.object as? [String: Any])?["id"] as? Int == 1)
    }

    @Test func `a small value is decoded away from the network thread`() async throws {
        for _ in 0..<10 { #expect(try await manager.get("small", decode: Small.self).isOnLoop == false) }
        #expect(try await manager.get("small").response?.statusCode == 200)
    }

    @Test func `the completion group waits from the end of a task to the end of its handler`() async throws {
        let (group, queue, gate) = (DispatchGroup(), Queues.named("slow"), DispatchSemaphore(value: 0))
        manager.completionGroup = group
        manager.completionQueue = queue
        queue.suspend()
        manager.get("small", parameters: nil) { [heard] task, object in
            gate.wait()
            heard.success(task, object)
        } failure: { [heard] in
            heard.failure($0, $1)
        }
        // Only the manager has entered it.
        try await eventually("the group to be entered") { group.wait(timeout: .now()) == .timedOut }
        queue.resume()
        #expect(group.wait(timeout: .now()) == .timedOut)
        gate.signal()
        await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }

        #expect(heard.all.count == 1)
    }

    @Test func `the steps of a progress come before the end`() async throws {
        let steps = Heard<String>()
        manager.get("small", parameters: nil, headers: nil, progress: { _ in steps.add("step") }) { _, _ in
            steps.add("end")
        } failure: { _, _ in
            steps.add("failure")
        }

        #expect(try await steps.wait { $0.contains { $0 != "step" } }.last == "end")
        #expect(steps.all.first == "step" && steps.all.filter { $0 == "end" }.count == 1)
    }
}
