@testable import AFURLSession
@testable import AFURLTypes

/// The cache stores the very bytes that a handler gets, and makes no copy.
@Suite("Bodies that a task collects and its cache stores")
struct SharedBodyTests {
    private let server: TestServer
    private let cache = URLCache(memoryCapacity: 20 << 20, diskCapacity: 0)
    private let session: URLSession

    init() throws {
        server = try TestServer()
        session = URLSession.loopback { [cache] in $0.urlCache = cache }
    }

    private func serve(_ body: Data) -> URLRequest {
        server.route("GET", "/1", .data(body).header("Cache-Control", "max-age=100"))
        return URLRequest(url: server.url("/1"))
    }

    @Test(arguments: [0, 1, 40, 64 << 10, 700_000])
    func `what comes in one piece or in many is answered from the cache as it came`(count: Int) async throws {
        let body = Coded.text(count)
        let request = serve(body)

        let first = try await session.outcome(of: request)
        await session.settled()
        let second = try await session.outcome(of: request)

        #expect(first.data == body && second.data == body)
        #expect(cache.cachedResponse(for: request)?.data == body)
        #expect(server.requests.count == 1)
    }

    @Test func `a handler that changes its bytes changes none of the cache's`() async throws {
        let body = Coded.text(70_000)
        let request = serve(body)

        var mine = try await session.outcome(of: request).data
        mine?.resetBytes(in: 0..<70_000)
        await session.settled()

        #expect(mine == Data(count: 70_000))
        #expect(try await session.outcome(of: request).data == body)
        #expect(server.requests.count == 1)
    }

    @Test func `a body of unknown length that is too long for the cache reaches its handler, and is not stored`()
        async throws
    {
        let body = Coded.text(3 << 20)
        server.route("GET", "/1", .data(body).chunked(64 << 10).header("Cache-Control", "max-age=100"))
        let request = URLRequest(url: server.url("/1"))

        #expect(try await session.outcome(of: request).data == body)
        await session.settled()

        #expect(cache.cachedResponse(for: request) == nil)
    }

    @Test func `a coded body is stored as its handler gets it`() async throws {
        let text = Coded.text(300_000)
        let reply = ServerReply.data(Coded.gzip(text)).header("Content-Encoding", "gzip")
        server.route("GET", "/1", reply.header("Cache-Control", "max-age=100"))
        let request = URLRequest(url: server.url("/1"))

        let first = try await session.outcome(of: request)
        await session.settled()

        #expect(first.data == text && cache.cachedResponse(for: request)?.data == text)
    }

    @Test func `a body that breaks off is not stored`() async throws {
        server.route("GET", "/1", .data(Coded.text(9_000)).header("Cache-Control", "max-age=100").closing(after: 5_000))
        let request = URLRequest(url: server.url("/1"))

        #expect(try await session.outcome(of: request).error != nil)
        await session.settled()

        #expect(cache.cachedResponse(for: request) == nil)
    }
}
