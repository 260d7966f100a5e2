import AFLoop
import AFNetworkingTesting
import AFURLSession
import Dispatch
import Foundation
import Glibc
import Testing

extension LoopbackTests.Alone {
    @Test func `T-API-19 a process may exit while tasks of every kind run`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let server = try TestServer()
            server.route("GET", "/held", ServerReply.text("late").held(until: "never"))
            server.route("GET", "/flood") { _ in .stream(.repeating("x", count: 1 << 30)) }
            let session = URLSession.loopback()
            let flood = session.dataTask(with: server.url("/flood"))
            flood.resume()
            session.dataTask(with: server.url("/held")) { _, _, _ in }.resume()
            for _ in 1...20 { session.dataTask(with: server.url("/held")).resume() }
            try await LoopbackTests.eventually { flood.countOfBytesReceived > 0 }

            exit(7)
        }
    }

    @Test func `T-API-37 the first request may be made while the process exits`() async {
        await #expect(processExitsWith: .exitCode(8)) {
            let server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            LastRequest.url.withLock { $0 = server.url("/hello") }
            atexit { LastRequest.make() }

            exit(9)
        }
    }
}

/// A request made by an exit handler, which can capture nothing.
private enum LastRequest {
    static let url = Lock<URL?>(nil)

    static func make() {
        guard let url = url.withLock({ $0 }) else { _exit(1) }
        let answered = DispatchSemaphore(value: 0)
        let isRight = Lock(false)
        URLSession.shared.dataTask(with: url) { data, _, _ in
            isRight.withLock { $0 = data == Data("hello".utf8) }
            answered.signal()
        }.resume()
        guard answered.wait(timeout: .now() + 10) == .success else { _exit(2) }
        _exit(isRight.withLock { $0 } ? 8 : 3)
    }
}

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
            DispatchQueue.global().async {
                Self.useEverything(task, session)
                done.signal()
            }
            if done.wait(timeout: .now() + 5) == .timedOut { blocked.withLock { $0 += 1 } }
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

        task.delegate = nil

        #expect(delegate == nil && states.withLock { $0 } == [.suspended])
        task.cancel()
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
        session.dataTask(with: URLRequest(url: URL(fileURLWithPath: "/"))).cancel()
        // Answered by the network thread.
        let answered = DispatchSemaphore(value: 0)
        session.getAllTasks { _ in answered.signal() }
        _ = answered.wait(timeout: .now() + 5)
    }
}

struct BuilderPathTests {
    @Test func `T-API-35 no source of ours asks for the path of its file`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }

        for path in paths {
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            #expect(!text.contains("#filePath"), "\(path)")
            #expect(!text.replacing("#fileID", with: "").contains("#file"), "\(path)")
        }
        #expect(paths.count > 100)
    }
}
