@testable import AFURLSession

/// Pages that follow their links.
struct PagesTests {
    let server: TestServer
    let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
    }

    /// A page at the path whose text is the path.
    private func route(_ path: String, next: String?, status: Int = 200, on server: TestServer? = nil) {
        let reply = ServerReply.text(path).status(status)
        (server ?? self.server).route("GET", path, next.map { reply.header("Link", "<\($0)>; rel=next") } ?? reply)
    }

    private func texts(_ pages: Pages<(Data, HTTPURLResponse)>) async throws -> [String] {
        var texts: [String] = []
        for try await (data, _) in pages { texts.append(String(decoding: data, as: UTF8.self)) }
        return texts
    }

    private func request(_ path: String) -> URLRequest { URLRequest(url: server.url(path)) }

    @Test func `pages come one by one, each when it is asked for`() async throws {
        for number in 1...3 { route("/\(number)", next: number < 3 ? "/\(number + 1)" : nil) }
        var pages = session.pages(of: request("/1")).makeAsyncIterator()

        for number in 1...3 {
            #expect(try await pages.next()?.1.url?.path == "/\(number)")
            #expect(server.requests.count == number)
        }
        #expect(try await pages.next() == nil)
        #expect(try await pages.next() == nil)
        #expect(server.requests.count == 3)
    }

    @Test func `a page that fails is the last, with its status`() async throws {
        route("/1", next: "/2")
        route("/2", next: "/3", status: 503)
        var statuses: [Int] = []

        for try await (_, response) in session.pages(of: request("/1")) { statuses.append(response.statusCode) }

        #expect(statuses == [200, 503])
    }

    @Test func `T-ANS-06 pages that lead in a circle end where it closes`() async throws {
        route("/1", next: "/2")
        route("/2", next: "/1")

        #expect(try await texts(session.pages(of: request("/1"))) == ["/1", "/2"])
    }

    @Test func `T-ANS-06 pages without end are an error behind the last one that is allowed`() async throws {
        server.route("GET", "/n") { .text("").header("Link", "</n?\((Int($0.query ?? "") ?? 0) + 1)>; rel=next") }
        var count = 0

        let error = await #expect(throws: PageRefusal.self) {
            for try await _ in session.pages(of: request("/n?0"), limit: 5) { count += 1 }
        }

        #expect(error?.reason == .limit(5))
        #expect(count == 5 && server.requests.count == 5)
    }

    @Test func `T-ANS-07 another origin gets no request unless the caller allows it, and no secrets then`() async throws
    {
        let other = try TestServer()
        route("/1", next: other.url("/2").absoluteString)
        route("/2", next: nil, on: other)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Api-Key": "a", "X-Plain": "b"]
        configuration.requestInterceptors = [
            AdaptingInterceptor { request, _ in
                var request = request
                request.setValue("Bearer c", forHTTPHeaderField: "Authorization")
                return request
            }
        ]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var first = request("/1")
        first.setValue("d", forHTTPHeaderField: "Cookie")

        let error = await #expect(throws: PageRefusal.self) { try await texts(session.pages(of: first)) }
        #expect(error?.reason == .otherOrigin && other.requests.isEmpty)
        #expect(try await texts(session.pages(of: first, allowsOtherOrigins: true)) == ["/1", "/2"])

        let (here, there) = (server.requests.last?.headers, other.requests.last?.headers)
        #expect(here?["X-Api-Key"] == "a" && here?["Authorization"] == "Bearer c" && here?["Cookie"] == "d")
        #expect(there?["X-Api-Key"] == nil && there?["Authorization"] == nil && there?["Cookie"] == nil)
        #expect(here?["X-Plain"] == "b" && there?["X-Plain"] == "b")
    }

    @Test func `T-ANS-07 a redirect that leads elsewhere ends the pages there`() async throws {
        let other = try TestServer()
        server.route("GET", "/1", ServerReply.status(302).header("Location", other.url("/1").absoluteString))
        route("/1", next: server.url("/2").absoluteString, on: other)
        var pages = session.pages(of: request("/1")).makeAsyncIterator()

        #expect(try await pages.next()?.1.url == other.url("/1"))
        let error = await #expect(throws: PageRefusal.self) { try await pages.next() }

        #expect(error?.reason == .otherOrigin)
        #expect(try await pages.next() == nil)
        #expect(server.requests.map(\.path) == ["/1"])
    }

    @Test func `cookies and the cache are those of the session`() async throws {
        let page = ServerReply.text("/1").header("Cache-Control", "max-age=60")
        server.route("GET", "/1", page.header("Link", "</2>; rel=next"))
        server.route("GET", "/2", ServerReply.text("/2").header("Set-Cookie", "a=b; Path=/2"))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }

        for _ in 0..<2 { #expect(try await texts(session.pages(of: request("/1"))) == ["/1", "/2"]) }

        #expect(server.requests.map(\.path) == ["/1", "/2", "/2"])
        #expect(server.requests.map { $0.headers["Cookie"] } == [nil, nil, "a=b"])
    }

    @Test func `T-API-24 cancelling the Swift task ends the page that is loading, and no other is asked for`()
        async throws
    {
        route("/1", next: "/2")
        server.route("GET", "/2", ServerReply.text("late").stalling(after: 1))
        let task = Task { try await texts(session.pages(of: request("/1"))) }

        try await eventually { server.requests.count == 2 }
        task.cancel()

        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        try await eventually { server.openConnections == 0 }
    }
}
