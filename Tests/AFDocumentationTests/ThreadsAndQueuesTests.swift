import AFNetworking
import AFNetworkingTesting
import Foundation
import Glibc
import Testing

/// The snippets of the article about threads and queues.
@Suite struct ThreadsAndQueuesTests {
    private static let key = DispatchSpecificKey<String>()

    private let site: Site

    init() throws {
        site = try Site()
        site.server.route("GET", "/text", .json("{}"))
    }

    @Test func `answers of a manager come on the queue that was set`() async throws {
        let manager = site.manager
        let heard = Heard<String>()

        manager.completionQueue = DispatchQueue(label: "answers")

        manager.completionQueue?.setSpecific(key: Self.key, value: "answers")
        manager.get("text", parameters: nil) { _, _ in
            heard.add(DispatchQueue.getSpecific(key: Self.key) ?? "another")
        } failure: { _, _ in
            heard.add("failure")
        }
        #expect(try await heard.wait() == ["answers"])
    }

    @Test func `a delegate queue may stand on a queue of the program's`() async throws {
        let model = DispatchQueue(label: "model")
        model.setSpecific(key: Self.key, value: "model")
        let heard = Heard<String>()

        let queue = OperationQueue()
        queue.underlyingQueue = model
        let session = URLSession(configuration: .default, delegate: nil, delegateQueue: queue)

        session.dataTask(with: site.url("/text")) { _, _, _ in
            heard.add(DispatchQueue.getSpecific(key: Self.key) ?? "another")
        }.resume()
        #expect(try await heard.wait() == ["model"])
    }

    @Test func `cancelling the Swift task cancels the request`() async throws {
        site.server.route("GET", "/held", ServerReply.text("late").held(until: "never"))
        let (session, url) = (site.session, site.url("/held"))

        let loading = Task { try await session.data(from: url) }
        loading.cancel()

        let error = await #expect(throws: URLError.self) { _ = try await loading.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `all tasks of a session are cancelled, and it goes on`() async throws {
        site.server.route("GET", "/held", ServerReply.text("late").held(until: "never"))
        let (session, manager, ended) = (site.session, site.manager, Heard<URLError.Code?>())
        for _ in 1...3 {
            session.dataTask(with: site.url("/held")) { ended.add(($2 as? URLError)?.code) }.resume()
        }
        manager.dataTask(with: URLRequest(url: site.url("/held"))) { ended.add(($2 as? URLError)?.code) }.resume()

        for task in await session.allTasks { task.cancel() }
        for task in manager.tasks { task.cancel() }

        #expect(try await ended.wait(for: 4) == [.cancelled, .cancelled, .cancelled, .cancelled])
        _ = try await session.data(from: site.url("/text"))
    }

    @Test func `a handler of a session is called while the main thread waits`() {
        let (session, url, shown) = (site.session, site.url("/text"), Heard<Data?>())
        @Sendable func show(_ data: Data?, _ error: (any Error)?) { shown.add(data) }

        let isDone = DispatchSemaphore(value: 0)
        session.dataTask(with: url) { data, _, error in
            show(data, error)
            isDone.signal()
        }.resume()
        isDone.wait()

        #expect(shown.all == [Data("{}".utf8)])
    }

    @Test func `a task that runs does not keep the process alive`() async {
        await #expect(processExitsWith: .success) {
            let site = try Site()
            site.server.route("GET", "/held", ServerReply.text("late").held(until: "never"))
            let session = URLSession(configuration: site.configuration)
            session.dataTask(with: site.url("/held")).resume()
            _ = try await site.server.waitForRequests(1)
        }
    }

    @Test func `many small requests run where their answers are`() async throws {
        let session = site.session
        let urls = (1...20).map { _ in site.url("/text") }
        let counted = Heard<Int>()
        @Sendable func count(_ data: Data) { counted.add(data.count) }

        try await withTaskExecutorPreference(URLSession.networkExecutor) {
            for url in urls { count(try await session.data(from: url).0) }
        }

        #expect(counted.all.count == 20)
    }

    @Test func `T-API-21 a signal ends what is under way, from a block of Dispatch`() async {
        await #expect(processExitsWith: .success) {
            let site = try Site()
            site.server.route("GET", "/held", ServerReply.text("late").held(until: "never"))
            let session = URLSession(configuration: site.configuration)

            signal(SIGTERM, SIG_IGN)
            let terminated = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
            terminated.setEventHandler { session.invalidateAndCancel() }
            terminated.resume()

            // Dispatch takes a signal only once it has registered the source, on another thread.
            let isRegistered = Heard<Bool>()
            terminated.setRegistrationHandler { isRegistered.add(true) }
            _ = try await isRegistered.wait()

            let loading = Task { try await session.data(from: site.url("/held")) }
            _ = try await site.server.waitForRequests(1)
            kill(getpid(), SIGTERM)
            let error = await #expect(throws: URLError.self) { _ = try await loading.value }
            #expect(error?.code == .cancelled)
        }
    }
}
