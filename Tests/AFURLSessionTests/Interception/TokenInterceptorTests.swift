@testable import AFURLSession
@testable import AFURLTypes

/// A server that wants a token, and gives one out.
private final class TokenServer: Sendable {
    struct Refused: Error, Equatable {}

    let server: TestServer
    /// What it accepts now.
    let valid = Lock("new")
    let refreshes = Watched(0)

    init() throws {
        server = try TestServer()
        let valid = valid
        server.route("*", "/private") { request in
            guard request.headers["Authorization"] == "Bearer \(valid.withLock { $0 })" else {
                return ServerReply.text("who?").status(401).header("WWW-Authenticate", "Bearer")
            }
            return .text("welcome \(request.bodyText)")
        }
        server.route("POST", "/token") { _ in .text(valid.withLock { $0 }) }
        server.route("GET", "/free", .text("free"))
    }

    var url: URL { server.url("/private") }

    /// Gets a token as `session` would, which may be the one that waits for it.
    func refresh(with session: URLSession) async throws -> String {
        refreshes.change { $0 += 1 }
        let (data, _) = try await session.data(for: URLRequest("POST", server.url("/token")))
        return String(decoding: data, as: UTF8.self)
    }
}

@Suite("Tokens")
struct TokenInterceptorTests {
    private let tokens: TokenServer
    private let plain = URLSession.loopback()
    private let holder = Lock<URLSession?>(nil)

    init() throws {
        tokens = try TokenServer()
    }

    private func session(_ interceptor: TokenInterceptor, _ others: any TaskInterceptor...) -> URLSession {
        URLSession.loopback { $0.requestInterceptors = [interceptor] + others }
    }

    @Test func `T-RTY-12 fifty tasks with an old token have it refreshed once`() async throws {
        let refused = Watched(0)
        let interceptor = try TokenInterceptor(for: [tokens.url], token: "old") { [tokens] old in
            #expect(old == "old")
            // As slow as it takes for all to be refused.
            try await refused.wait("refusals") { $0 == 50 }
            return try await tokens.refresh(with: plain)
        }
        tokens.server.route("*", "/private") { request in
            guard request.headers["Authorization"] == "Bearer new" else {
                refused.change { $0 += 1 }
                return ServerReply.status(401)
            }
            return .text("welcome")
        }
        let session = session(interceptor)
        let url = tokens.url

        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 {
                group.addTask { String(decoding: try await session.data(from: url).0, as: UTF8.self) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(texts == Array(repeating: "welcome", count: 50))
        #expect(tokens.refreshes.value == 1 && interceptor.token == "new")
        #expect(tokens.server.requests.count { $0.path == "/private" } == 100)
    }

    @Test func `T-RTY-13 the refresh may use the session that waits for it`() async throws {
        for token in ["old", nil] {
            let interceptor = try TokenInterceptor(for: [tokens.url], token: token) { [tokens] _ in
                let session = try #require(holder.withLock { $0 })
                return try await tokens.refresh(with: session)
            }
            let session = session(interceptor, RetryRules())
            holder.withLock { $0 = session }

            #expect(try await session.outcome(of: tokens.url).text == "welcome ")
            #expect(interceptor.token == "new")
        }
        let asked = tokens.server.requests.filter { $0.path == "/token" }
        #expect(asked.count == 2 && asked.allSatisfy { $0.headers["Authorization"] == nil })
        holder.withLock { $0 = nil }
    }

    @Test func `T-RTY-13 a refresh may need the connection whose refusal it is made for`() async throws {
        let server = try TestServer()
        server.script(
            .expectHead,
            .send("HTTP/1.1 401 No\r\nContent-Length: 4\r\n\r\n"),
            .pause(.milliseconds(50)),
            .send("who?"),
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew"),
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nwelcome")
        )
        let interceptor = try TokenInterceptor(for: [server.url("/")], token: "old") { _ in
            let session = try #require(holder.withLock { $0 })
            let (data, _) = try await session.data(from: server.url("/token"))
            return String(decoding: data, as: UTF8.self)
        }
        let session = URLSession.loopback {
            $0.requestInterceptors = [interceptor]
            $0.httpMaximumConnectionsPerHost = 1
            $0.timeoutIntervalForRequest = 10
        }
        holder.withLock { $0 = session }

        #expect(try await session.outcome(of: server.url("/private")).text == "welcome")
        #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer old", nil, "Bearer new"])
        holder.withLock { $0 = nil }
    }

    @Test func `T-RTY-13 a refresh that is refused itself ends with that answer`() async throws {
        tokens.server.route("POST", "/token", ServerReply.status(401))
        let interceptor = try TokenInterceptor(for: [tokens.url], token: "old") { [tokens] _ in
            let session = try #require(holder.withLock { $0 })
            let (_, response) = try await session.data(for: URLRequest("POST", tokens.server.url("/token")))
            #expect((response as? HTTPURLResponse)?.statusCode == 401)
            throw TokenServer.Refused()
        }
        let session = session(interceptor)
        holder.withLock { $0 = session }
        let url = tokens.url

        await #expect(throws: TokenServer.Refused.self) { _ = try await session.data(from: url) }
        holder.withLock { $0 = nil }
    }

    @Test func `T-RTY-12 a task that was refused with an older token is not worth a refresh`() async throws {
        let interceptor = try TokenInterceptor(for: [tokens.url], token: "old") { [tokens] _ in
            try await tokens.refresh(with: plain)
        }
        let session = session(interceptor)
        let hold = "hold"
        tokens.server.route("GET", "/late") { request in
            guard request.headers["Authorization"] == "Bearer old" else { return .text("late") }
            return ServerReply.status(401).held(until: hold)
        }
        let outcomes = Outcomes()
        session.dataTask(with: tokens.server.url("/late"), completionHandler: outcomes.handler).resume()
        try await tokens.server.waitForRequests(1, timeout: .seconds(60))
        #expect(try await session.outcome(of: tokens.url).status == 200)
        tokens.server.signal(hold)

        #expect(try await outcomes.first().text == "late")
        #expect(tokens.refreshes.value == 1)
    }

    @Test func `T-RTY-12 each task is sent once more, and then its 401 is the answer`() async throws {
        let interceptor = try TokenInterceptor(for: [tokens.url], token: "old") { [tokens] _ in
            _ = try await tokens.refresh(with: plain)
            return "useless"
        }
        let outcome = try await session(interceptor).outcome(of: tokens.url)
        #expect(outcome.status == 401 && outcome.text == "who?")
        #expect(tokens.refreshes.value == 1)
        #expect(tokens.server.requests.count { $0.path == "/private" } == 2)
    }

    @Test func `a refresh that fails is the error of all that waited, and the next 401 tries again`() async throws {
        let attempts = Watched(0)
        let holder = Lock<TokenInterceptor?>(nil)
        let interceptor = try TokenInterceptor(for: [tokens.url], token: "old") { _ in
            let number = attempts.change { attempts in
                attempts += 1
                return attempts
            }
            guard number == 1 else { return "new" }
            try await eventually { holder.withLock { $0?.waiting } == 5 }
            throw TokenServer.Refused()
        }
        holder.withLock { $0 = interceptor }
        defer { holder.withLock { $0 = nil } }
        let session = session(interceptor)
        let url = tokens.url
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do {
                        _ = try await session.data(from: url)
                        return false
                    } catch {
                        return error is TokenServer.Refused
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 5 && attempts.value == 1)

        #expect(try await session.outcome(of: url).text == "welcome ")
        #expect(attempts.value == 2)
    }

    @Test func `T-RTY-14 a cancelled task waits no longer, and the others get their token`() async throws {
        let mayEnd = Watched(false)
        let begun = Watched(0)
        let interceptor = try TokenInterceptor(for: [tokens.url], token: "old") { _ in
            begun.change { $0 += 1 }
            try await mayEnd.wait("permission") { $0 }
            try Task.checkCancellation()
            return "new"
        }
        let session = session(interceptor)
        let outcomes = Outcomes()
        let first = session.dataTask(with: tokens.url, completionHandler: outcomes.handler)
        first.resume()
        try await begun.wait { $0 == 1 }
        let others = Outcomes()
        for _ in 0..<3 { session.dataTask(with: tokens.url, completionHandler: others.handler).resume() }
        try await tokens.server.waitForRequests(4, timeout: .seconds(60))

        first.cancel()
        #expect(try await outcomes.first().error?.code == .cancelled)
        mayEnd.change { $0 = true }

        #expect(try await others.wait(for: 3).allSatisfy { $0.status == 200 })
        #expect(begun.value == 1)
    }

    @Test func `T-RTY-11 other origins never have it, nor see that there is one`() async throws {
        let other = try TokenServer()
        let refreshes = Lock(0)
        let interceptor = try TokenInterceptor(for: [tokens.server.url("/any/path?x=1")], token: "new") { _ in
            refreshes.withLock { $0 += 1 }
            return "canary"
        }
        let session = session(interceptor)
        tokens.server.route("GET", "/away", ServerReply.status(307).header("Location", "\(other.url)"))

        #expect(try await session.outcome(of: tokens.url).status == 200)
        #expect(try await session.outcome(of: other.url).status == 401)
        #expect(try await session.outcome(of: tokens.server.url("/away")).status == 401)
        // By another name it is another origin.
        #expect(try await session.outcome(of: tokens.server.url("/private", host: "localhost")).status == 401)

        #expect(other.server.requests.allSatisfy { $0.headers["Authorization"] == nil })
        #expect(tokens.server.requests.map { $0.headers["Authorization"] } == ["Bearer new", "Bearer new", nil])
        #expect(refreshes.withLock { $0 } == 0)
    }

    @Test func `a request with a field of its own keeps it`() async throws {
        let interceptor = try TokenInterceptor(for: [tokens.url], token: "new") { _ in throw TokenServer.Refused() }
        let request = URLRequest("GET", tokens.url, fields: ["authorization": "Bearer mine"])

        #expect(try await session(interceptor).outcome(of: request).status == 401)
        #expect(tokens.server.requests.map { $0.headers["Authorization"] } == ["Bearer mine"])
    }

    @Test func `the field and what stands before the token can be chosen`() async throws {
        let interceptor = try TokenInterceptor(for: [tokens.url], token: "t", field: "X-Session", scheme: nil) { _ in
            throw TokenServer.Refused()
        }
        _ = try await session(interceptor).outcome(of: tokens.server.url("/free"))
        #expect(tokens.server.requests.map { $0.headers["X-Session"] } == ["t"])
    }

    @Test func `a token that is set goes before a refresh, and none ends those who wait`() async throws {
        for set in ["set", nil] {
            let begun = Watched(false)
            let mayEnd = Watched(false)
            let interceptor = try TokenInterceptor(for: [tokens.url]) { _ in
                begun.change { $0 = true }
                try await mayEnd.wait { $0 }
                return "refreshed"
            }
            let outcomes = Outcomes()
            session(interceptor).dataTask(with: tokens.server.url("/free"), completionHandler: outcomes.handler)
                .resume()
            try await begun.wait { $0 }
            interceptor.token = set
            mayEnd.change { $0 = true }

            let outcome = try await outcomes.first()
            #expect(interceptor.token == set)
            #expect(outcome.status == (set == nil ? nil : 200))
            #expect(outcome.error?.code == (set == nil ? .userAuthenticationRequired : nil))
            #expect(outcome.reason == (set == nil ? .authentication : nil))
            #expect(outcome.error?.failingURL == (set == nil ? tokens.server.url("/free") : nil))
        }
        #expect(tokens.server.requests.map { $0.headers["Authorization"] } == ["Bearer set"])
    }

    @Test func `T-RTY-11 a URL that names no origin is refused when the interceptor is made`() throws {
        for text in ["relative/path", "ftp://host/", "http://ho st/", "file:///etc/passwd"] {
            guard let url = URL(string: text) else { continue }
            let error = #expect(throws: URLError.self) { _ = try TokenInterceptor(for: [url]) { _ in "" } }
            #expect([.badURL, .unsupportedURL].contains(error?.code))
        }
        let interceptor = try TokenInterceptor(for: [tokens.url], token: "canary") { _ in "" }
        #expect(!"\(interceptor)".contains("canary"))
    }
}
