@testable import AFURLSession
@testable import AFURLTypes

@Suite("Objects and their identity")
struct ObjectTests {
    private let url = URL(string: "http://a.test/")!
    private let session = URLSession.loopback()

    private func cookie(_ value: String = "1") throws -> HTTPCookie {
        try #require(HTTPCookie(properties: [.name: "a", .value: value, .domain: "a.test", .path: "/"]))
    }

    @Test func `what Apple's loader has as objects are objects, equal to themselves alone`() throws {
        // A session holds its tasks until they end.
        defer { session.invalidateAndCancel() }
        let configuration = URLSessionConfiguration.ephemeral
        let objects: [NSObject] = [
            session, configuration, session.dataTask(with: url), session.dataTask(with: url),
            session.uploadTask(with: URLRequest("POST", url), from: Data()), session.downloadTask(with: url),
            session.streamTask(withHostName: "a.test", port: 1), try cookie(), HTTPCookieStorage(), HTTPCookieStorage(),
            URLCache(memoryCapacity: 0, diskCapacity: 0), URLCredentialStorage(), URLCredentialStorage(),
        ]

        #expect(Set(objects).count == objects.count)
        for object in objects { #expect(object == object && object.hash == object.hash && object.isEqual(object)) }
        #expect(session == session && session != URLSession.shared && URLCache.shared == URLCache.shared)
        #expect(configuration != URLSessionConfiguration.ephemeral)
    }

    @Test func `sessions, tasks and stores are keys`() {
        defer { session.invalidateAndCancel() }
        let (one, other) = (session.dataTask(with: url), session.dataTask(with: url))
        let storage = HTTPCookieStorage()

        #expect([one: 1, other: 2][one] == 1)
        #expect([session: "mine", URLSession.shared: "shared"][session] == "mine")
        #expect([ObjectIdentifier(storage): 1].count == 1 && NSArray(array: [storage]).contains(storage))
        #expect(one.copy() as? URLSessionTask === one && (one as any ProgressReporting).progress === one.progress)
    }

    @Test func `a copy of a configuration is another, with the same settings`() throws {
        let configuration = URLSessionConfiguration()
        configuration.timeoutIntervalForRequest = 7

        let copy = try #require(configuration.copy() as? URLSessionConfiguration)
        copy.timeoutIntervalForRequest = 8

        #expect(copy != configuration && configuration.timeoutIntervalForRequest == 7)
    }

    @Test func `cookies are equal if they say the same`() throws {
        let (one, same, other) = (try cookie(), try cookie(), try cookie("2"))

        #expect(one == same && one.hash == same.hash && one.isEqual(same) && one != other && !one.isEqual("a"))
        #expect(Set([one, same, other]).count == 2 && NSArray(array: [one]).contains(same))
        #expect(one.debugDescription == one.description && !"\(one)".contains("=1"))
    }

    @Test func `metrics and their transactions are objects`() async throws {
        let server = try TestServer()
        server.route("GET", "/", .text("x"))
        let collector = TaskMetricsCollector()
        _ = try await session.data(from: server.url("/"), delegate: collector)

        let metrics = try #require(collector.metrics)
        let transaction = try #require(metrics.transactionMetrics.first)
        let objects: [NSObject] = [metrics, transaction]
        #expect(Set(objects).count == 2 && metrics == metrics && [transaction: 1][transaction] == 1)
    }
}
