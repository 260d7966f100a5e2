import AFBase
import Dispatch

@testable import AFNetworking

/// Tasks of managers that have a delegate of their own, and hooks that are set late: both change who takes the body.
@Suite struct OwnDelegateTests {
    private let site: ManagerSite
    private let heard = Heard<Answer>()

    init() throws {
        site = try ManagerSite()
        site.server.route("GET", "/hello", .text("hello"))
    }

    private final class Ending: URLSessionTaskDelegate {
        let ends = Heard<URLSessionTask>()

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ends.add(task)
        }
    }

    private final class Reading: URLSessionDataDelegate {
        let bodies = Heard<Data>()

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            bodies.add(data)
        }
    }

    private final class Silent: URLSessionTaskDelegate {}

    private var manager: HTTPSessionManager {
        let manager = site.manager
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = DispatchQueue(label: "completions")
        return manager
    }

    private func task(_ manager: HTTPSessionManager) throws -> URLSessionDataTask {
        try #require(
            manager.dataTask(
                withHTTPMethod: "GET",
                urlString: "hello",
                parameters: nil,
                headers: nil,
                uploadProgress: nil,
                downloadProgress: nil,
                success: heard.success,
                failure: heard.failure
            )
        )
    }

    @Test func `a delegate that takes the end of a task leaves the manager its completion handler`() async throws {
        let (manager, ending) = (manager, Ending())
        let hooked = Heard<Int>()
        manager.setTaskDidCompleteBlock { _, task, _ in hooked.add(task.taskIdentifier) }
        let task = try task(manager)
        task.delegate = ending
        task.resume()

        let answer = try await heard.first
        #expect(answer.object as? Data == Data("hello".utf8))
        #expect(try await ending.ends.wait() == [task])
        #expect(try await hooked.wait() == [task.taskIdentifier])
        #expect(heard.all.count == 1)
    }

    @Test func `a delegate that takes the body leaves none to the manager`() async throws {
        let (manager, reading) = (manager, Reading())
        let task = try task(manager)
        task.delegate = reading
        task.resume()

        let answer = try await heard.first
        #expect(answer.object as? Data == Data())
        #expect(reading.bodies.all == [Data("hello".utf8)])
    }

    @Test func `a delegate without methods changes nothing`() async throws {
        let manager = manager
        for _ in 0..<2 {
            let task = try task(manager)
            task.delegate = Silent()
            task.resume()
        }

        let answers = try await heard.wait(for: 2)
        #expect(answers.map { $0.object as? Data } == [Data("hello".utf8), Data("hello".utf8)])
    }

    @Test func `a hook for data counts for a task that was made before it, and not for later ones once it is gone`()
        async throws
    {
        let manager = manager
        let parts = Heard<Data>()
        let task = try task(manager)
        manager.setDataTaskDidReceiveDataBlock { _, _, data in parts.add(data) }
        task.resume()
        _ = try await heard.first
        #expect(parts.all == [Data("hello".utf8)])

        manager.setDataTaskDidReceiveDataBlock(nil)
        try self.task(manager).resume()
        let answers = try await heard.wait(for: 2)
        #expect(answers.map { $0.object as? Data } == [Data("hello".utf8), Data("hello".utf8)])
        #expect(parts.all.count == 1)
    }

    @Test func `the notification has the metrics that the hook got, and makes its own without a hook`() async throws {
        let manager = manager
        let hooked = Heard<URLSessionTaskMetrics>()
        for isHooked in [false, true] {
            if isHooked { manager.setTaskDidFinishCollectingMetricsBlock { _, _, metrics in hooked.add(metrics) } }
            let task = try task(manager)
            let observed = Observed(.networkingTaskDidComplete, of: task)
            task.resume()
            let note = try #require(try await observed.heard.wait().first)
            let metrics = note.userInfo[Notification.NetworkingTaskKey.sessionTaskMetrics] as? URLSessionTaskMetrics
            #expect(metrics?.transactionMetrics.count == 1 && metrics?.redirectCount == 0)
            #expect(metrics?.transactionMetrics.first?.countOfResponseBodyBytesReceived == 5)
            #expect(hooked.all == (isHooked ? [metrics].compactMap(\.self) : []))
        }
    }

    @Test func `the notification has the metrics of a download, and of a task with a delegate of its own`() async throws
    {
        let manager = manager
        let own = try task(manager)
        own.delegate = Silent()
        let request = site.request("/hello")
        let download = manager.downloadTask(with: request, progress: nil, destination: nil, completionHandler: nil)
        for task in [own, download] as [URLSessionTask] {
            let observed = Observed(.networkingTaskDidComplete, of: task)
            task.resume()
            let note = try #require(try await observed.heard.wait().first)
            #expect(note.userInfo[Notification.NetworkingTaskKey.sessionTaskMetrics] is URLSessionTaskMetrics)
        }
    }

    @Test func `the user info of a completed task has its own values, whichever it has`() {
        let (error, file) = (URLError(.badURL), URL(fileURLWithPath: "/tmp/file"))
        for bits in 0..<16 {
            func present<Value>(_ bit: Int, _ value: Value) -> Value? { bits & bit == 0 ? nil : value }
            let info = TaskInfo(
                serializer: HTTPResponseSerializer(),
                object: present(1, bits),
                error: present(2, error),
                metrics: nil,
                file: present(4, file),
                body: present(8, Data([UInt8(bits)]))
            )
            .dictionary
            typealias Key = Notification.NetworkingTaskKey
            #expect(info.count == 1 + bits.nonzeroBitCount)
            #expect(info[Key.responseSerializer] is HTTPResponseSerializer)
            #expect(info[Key.serializedResponse] as? Int == present(1, bits))
            #expect(info[Key.error] as? URLError == present(2, error))
            #expect(info[Key.assetPath] as? URL == present(4, file))
            #expect(info[Key.responseData] as? Data == present(8, Data([UInt8(bits)])))
        }
    }

    @Test func `progress that is asked for while the body arrives begins where the task is`() async throws {
        let manager = manager
        let body = Data(count: 20_000)
        site.server.route("GET", "/slow", .data(body).dribbling(1000, every: .milliseconds(150)))
        let task = try #require(manager.get("slow", parameters: nil, success: heard.success, failure: heard.failure))
        try await eventually("a part") { task.countOfBytesReceived > 0 }
        let progress = try #require(manager.downloadProgress(for: task))
        #expect(progress.completedUnitCount > 0 && progress.totalUnitCount == 20_000)

        let answer = try await heard.first
        #expect(answer.object as? Data == body)
        #expect(progress.completedUnitCount == 20_000)
        #expect(manager.downloadProgress(for: task) == nil)
    }

    @Test func `a body that breaks off is loaded again where an interceptor asks for that`() async throws {
        let count = Lock(0)
        let body = Data("1234567890".utf8)
        site.server.route("GET", "/broken") { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? .data(body).closing(after: 5) : .data(body)
        }
        let configuration = site.configuration
        configuration.requestInterceptors = [RetryRules()]
        let base = site.server.url("/")
        let manager = site.owned(HTTPSessionManager(baseURL: base, sessionConfiguration: configuration))
        manager.responseSerializer = HTTPResponseSerializer()

        let answer = try await manager.get("broken")
        #expect(answer.object as? Data == body)
        #expect(count.withLock { $0 } == 2)
    }
}
