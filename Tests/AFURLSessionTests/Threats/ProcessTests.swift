import Dispatch
import Glibc

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
            try await eventually { flood.countOfBytesReceived > 0 }

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
