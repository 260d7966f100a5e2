@testable import AFURLSession
@testable import AFURLTypes

@Suite("Interceptors and classes that load")
struct InterceptedProtocolTests {
    private static let twice = RetryingInterceptor { $0.number < 3 ? .retry(after: .milliseconds(5)) : .giveUp }

    @Test func `a class gets what the adapters made, and is asked again when an interceptor wants that`() async throws {
        let count = Lock(0)
        let site = StubSite { load in
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch number {
            case 1: load.answer("busy", 503)
            case 2: load.fail(URLError(.networkConnectionLost))
            default: load.answer("done")
            }
        }
        let session = StubSite.session {
            $0.requestInterceptors = [
                AdaptingInterceptor { request, _ in
                    var request = request
                    request.setValue("1", forHTTPHeaderField: "X-Mine")
                    return request
                },
                Self.twice,
            ]
        }
        let collector = TaskMetricsCollector()

        let (data, response) = try await session.data(from: site.url(), delegate: collector)

        #expect(String(decoding: data, as: UTF8.self) == "done")
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        try await site.stopped(3)
        let requests = site.log.value.requests
        #expect(requests.map { $0.value(forHTTPHeaderField: "X-Mine") } == ["1", "1", "1"])
        #expect(collector.metrics?.transactionMetrics.count == 3)
    }

    @Test func `a body goes to a class each time`() async throws {
        let bodies = Lock<[String]>([])
        let site = StubSite { load in
            bodies.withLock { $0.append(String(decoding: load.request.httpBody ?? Data(), as: UTF8.self)) }
            load.answer("busy", 503)
        }
        let session = StubSite.session { $0.requestInterceptors = [Self.twice] }

        let (_, response) = try await session.upload(for: URLRequest("PUT", site.url()), from: Data("up".utf8))

        #expect((response as? HTTPURLResponse)?.statusCode == 503)
        #expect(bodies.withLock { $0 } == ["up", "up", "up"])
    }

    @Test func `errors of a class are its own, and what an interceptor gives up is delivered`() async throws {
        struct Mine: Error {}
        let heard = Lock<[Bool]>([])
        let site = StubSite { $0.fail(Mine()) }
        let session = StubSite.session {
            $0.requestInterceptors = [
                RetryingInterceptor { attempt in
                    heard.withLock { $0.append(attempt.error is Mine) }
                    return .giveUp
                }
            ]
        }
        await #expect(throws: Mine.self) { _ = try await session.data(from: site.url()) }
        #expect(heard.withLock { $0 } == [true])

        let missing = StubSite { $0.answer("not here", 404) }
        #expect(try await session.outcome(of: missing.url()).text == "not here")
    }

    @Test func `T-RED-02 secrets stay with their origin when a class does not want the next attempt`() async throws {
        let server = try TestServer()
        server.route("GET", "/end", .text("network"))
        let end = server.url("/end")
        FickleProtocol.wanted.withLock { _ = $0.insert(end) }
        let first = StubSite { $0.redirect(to: end) }
        let session = StubSite.session {
            $0.protocolClasses = [StubProtocol.self, FickleProtocol.self]
            $0.httpAdditionalHeaders = ["Authorization": "canary", "X-Plain": "p"]
            $0.requestInterceptors = [Self.twice]
        }

        #expect(try await session.outcome(of: first.url()).text == "network")

        #expect(first.log.value.requests.map { $0.value(forHTTPHeaderField: "Authorization") } == ["canary"])
        #expect(FickleProtocol.wanted.withLock { !$0.contains(end) })
        #expect(server.requests.count == 1)
        #expect(server.requests.first?.headers["Authorization"] == nil)
        #expect(server.requests.first?.headers["X-Plain"] == "p")
    }

    @Test func `a load that needs no network is adapted and not tried again`() async throws {
        let asked = Lock(0)
        let session = URLSession.loopback {
            $0.requestInterceptors = [
                RetryingInterceptor { _ in
                    asked.withLock { $0 += 1 }
                    return .retry
                }
            ]
        }
        let folder = try ScratchFolder()
        let file = try folder.file(Data("content".utf8))
        #expect(try await session.outcome(of: file).text == "content")
        let missing = try await session.outcome(of: folder.url.appendingPathComponent("missing"))
        #expect(missing.error?.code == .fileDoesNotExist)
        let data = try #require(URL(string: "data:,hello"))
        #expect(try await session.outcome(of: data).text == "hello")
        #expect(asked.withLock { $0 } == 0)
    }
}

/// Wants each of its URLs once, and cannot load it.
private final class FickleProtocol: URLProtocol, @unchecked Sendable {
    static let wanted = Lock<Set<URL>>([])

    override class func canInit(with request: URLRequest) -> Bool {
        guard let url = request.url else { return false }
        return wanted.withLock { $0.contains(url) }
    }

    override func startLoading() {
        if let url = request.url { FickleProtocol.wanted.withLock { _ = $0.remove(url) } }
        client?.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost))
    }

    override func stopLoading() {}
}
