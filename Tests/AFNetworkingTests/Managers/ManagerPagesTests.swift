/// Lists in pages, as values of a manager.
@Suite struct ManagerPagesTests {
    private let site: ManagerSite
    private let manager: HTTPSessionManager

    init() throws {
        site = try ManagerSite()
        manager = site.manager
        site.server.route("GET", "/items") { request in
            let page = request.queryItems.first { $0.name == "page" }.flatMap { $0.value.flatMap(Int.init) } ?? 1
            let reply = ServerReply.json("[\(page * 10), \(page * 10 + 1)]")
            return page < 3 ? reply.header("Link", "<?page=\(page + 1)>; rel=\"next\"") : reply
        }
    }

    @Test func `each page is a value, asked for with the fields of the first`() async throws {
        manager.requestSerializer.setValue("Bearer a", forHTTPHeaderField: "Authorization")
        var all: [Int] = []

        let pages = try manager.pages("items", parameters: ["size": 2], headers: ["X-A": "b"], decode: [Int].self)
        for try await items in pages { all += items }

        #expect(all == [10, 11, 20, 21, 30, 31])
        #expect(site.server.requests.map(\.query) == ["size=2", "page=2", "page=3"])
        #expect(
            site.server.requests.allSatisfy { $0.headers["Authorization"] == "Bearer a" && $0.headers["X-A"] == "b" }
        )
    }

    @Test func `a page with another status fails as a verb does`() async throws {
        site.server.route("GET", "/broken", ServerReply.json("[1]").header("Link", "</missing>; rel=next"))
        site.server.route("GET", "/missing", ServerReply.json("{}").status(404))
        var all: [Int] = []

        let error = await #expect(throws: RequestFailure.self) {
            for try await items in try manager.pages("broken", decode: [Int].self) { all += items }
        }

        #expect(all == [1])
        #expect(error?.kind == .status && error?.statusCode == 404)
    }

    @Test func `T-ANS-07 fields for the base do not follow a page to another origin`() async throws {
        let other = try TestServer()
        other.route("GET", "/2", ServerReply.json("[2]"))
        site.server.route(
            "GET",
            "/1",
            ServerReply.json("[1]").header("Link", "<\(other.url("/2").absoluteString)>; rel=next")
        )
        manager.requestSerializer.setValue("Bearer a", forHTTPHeaderField: "Authorization")
        var all: [Int] = []

        await #expect(throws: PageRefusal.self) {
            for try await items in try manager.pages("1", decode: [Int].self) { all += items }
        }
        for try await items in try manager.pages("1", allowsOtherOrigins: true, decode: [Int].self) { all += items }

        #expect(all == [1, 1, 2])
        #expect(other.requests.map { $0.headers["Authorization"] } == [nil])
    }
}
