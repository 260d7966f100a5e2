@testable import AFURLSession
@testable import AFURLTypes

@Suite("Cookies on the wire")
struct CookieTests {
    private let server: TestServer
    private let other: TestServer
    private let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
        other = try TestServer()
        for server in [server, other] {
            server.install(.cookies)
            server.route("GET", "/set", ServerReply.text("x").header("Set-Cookie", "a=1; Path=/"))
            server.route("GET", "/see") { .text($0.headers["Cookie"] ?? "none") }
        }
    }

    @Test func `a cookie that a server sets comes back to it`() async throws {
        _ = try await session.outcome(of: server.url("/set"))
        #expect(try await session.outcome(of: server.url("/see")).text == "a=1")
    }

    @Test func `T-RED-04 cookies are set and asked for anew on each hop`() async throws {
        server.route(
            "GET",
            "/1",
            ServerReply.status(302).header("Set-Cookie", "hop=1; Path=/").header("Location", "/see")
        )
        server.route(
            "GET",
            "/2",
            ServerReply.status(302).header("Set-Cookie", "hop=2; Path=/")
                .header("Location", other.url("/see", host: "localhost").absoluteString)
        )

        #expect(try await session.outcome(of: server.url("/1", host: "127.0.0.1")).text == "hop=1")
        #expect(try await session.outcome(of: server.url("/2", host: "127.0.0.1")).text == "none")
    }

    @Test func `errors and challenges set cookies as well`() async throws {
        server.route("GET", "/500", ServerReply.text("x").status(500).header("Set-Cookie", "e=1; Path=/"))

        _ = try await session.outcome(of: server.url("/500"))
        #expect(try await session.outcome(of: server.url("/see")).text == "e=1")
    }

    @Test func `the store's value takes the place of one set by hand`() async throws {
        let own = URLRequest("GET", server.url("/see"), fields: ["cookie": "mine=1"])

        #expect(try await session.outcome(of: own).text == "mine=1")
        _ = try await session.outcome(of: server.url("/set"))
        #expect(try await session.outcome(of: own).text == "a=1")
        var unhandled = own
        unhandled.httpShouldHandleCookies = false
        #expect(try await session.outcome(of: unhandled).text == "mine=1")
    }

    @Test func `a cookie set by hand goes behind the store's, if the caller asks for that`() async throws {
        var own = URLRequest("GET", server.url("/see"), fields: ["cookie": "a=2; mine=1"])
        own.addsStoredCookies = true

        #expect(try await session.outcome(of: own).text == "a=2; mine=1")
        _ = try await session.outcome(of: server.url("/set"))
        #expect(try await session.outcome(of: own).text == "a=1; a=2; mine=1")
        let shown = session.dataTask(with: own)
        #expect(shown.curlCommand(masksSecrets: false).contains("a=1; a=2; mine=1"))
        shown.cancel()
        #expect(session.configuration.httpCookieStorage?.cookies?.map(\.name) == ["a"])
        own.setValue(nil, forHTTPHeaderField: "Cookie")
        #expect(try await session.outcome(of: own).text == "a=1")
    }

    @Test func `T-RED-04 a cookie set by hand stays in its origin beside cookies that do not`() async throws {
        _ = try await session.outcome(of: server.url("/set"))
        server.route("GET", "/here", .status(302).header("Location", "/see"))
        server.route("GET", "/there", .status(302).header("Location", other.url("/see").absoluteString))

        for (path, seen) in [("/here", "a=1; mine=1"), ("/there", "a=1")] {
            var own = URLRequest("GET", server.url(path), fields: ["Cookie": "mine=1"])
            own.addsStoredCookies = true
            #expect(try await session.outcome(of: own).text == seen)
        }
    }

    @Test func `each setting keeps cookies out, both ways`() async throws {
        let configurations: [(URLSessionConfiguration) -> Void] = [
            { $0.httpShouldSetCookies = false }, { $0.httpCookieStorage = nil }, { $0.httpCookieAcceptPolicy = .never },
        ]
        for configure in configurations {
            let session = URLSession.loopback { configure($0) }
            _ = try await session.outcome(of: server.url("/set"))
            #expect(try await session.outcome(of: server.url("/see")).text == "none")
        }
    }

    @Test func `a session's cookies are those of its store, and no other's`() async throws {
        let one = URLSession.loopback()
        _ = try await one.outcome(of: server.url("/set"))

        #expect(try await URLSession.loopback().outcome(of: server.url("/see")).text == "none")
        #expect(one.configuration.httpCookieStorage?.cookies?.map(\.name) == ["a"])
        #expect(HTTPCookieStorage.shared.cookies?.contains { $0.name == "a" } != true)
    }
}
