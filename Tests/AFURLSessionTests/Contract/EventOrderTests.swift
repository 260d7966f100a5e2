/// What one task tells its delegate, in which order, when everything happens that can.
@Suite("The order of events")
struct EventOrderTests {
    private static let guarded = ServerReply.text("who?").status(401).header("WWW-Authenticate", "Basic realm=\"r\"")
    private let witness = Witness()

    @Test func `15.3 an upload that is sent on, asked and answered tells everything once, in order`() async throws {
        let site = try SecuredSite()
        let server = site.server
        let content = pattern(300_000)
        server.route(
            "PUT",
            "/1",
            ServerReply.text("on").status(307).header("Location", "/2").header("Set-Cookie", "hop=1; Path=/")
        )
        server.route("PUT", "/2") { request in
            guard request.headers["Authorization"] != nil else {
                return EventOrderTests.guarded.header("Set-Cookie", "hop=2; Path=/")
            }
            let reply = ServerReply.text("\(request.body == content)").status(303).header("Location", "/3")
            return reply.header("Set-Cookie", "hop=3; Path=/")
        }
        server.route("GET", "/3") { request in
            .text(request.headers["Cookie"] ?? "none").header("Cache-Control", "max-age=100")
        }
        let witness = Witness { answers in
            answers.stream = { InputStream(data: content) }
            answers.challenge = URLSession.AuthChallengeDisposition.password("me", "secret")
        }
        let session = site.session(delegate: witness)

        let task = session.uploadTask(withStreamedRequest: URLRequest("PUT", server.url("/1")))
        task.resume()
        let words = try await witness.ended()

        #expect(
            words == [
                "stream", "challenge ServerTrust", "sent", "redirect 307", "stream", "challenge HTTPBasic", "stream",
                "redirect 303", "response 200", "data", "caching", "metrics", "completed",
            ]
        )
        #expect(witness.body.withLock { $0 } == Data("hop=3".utf8))
        #expect(server.requests.map(\.path) == ["/1", "/2", "/2", "/3"])
        #expect(server.requests.map { $0.headers["Cookie"] } == [nil, "hop=1", "hop=2", "hop=3"])
        #expect(server.requests.dropLast().allSatisfy { $0.body == content })
        let metrics = try #require(witness.metrics.withLock { $0 })
        #expect(metrics.redirectCount == 2)
        let statuses = metrics.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode }
        #expect(statuses == [307, 401, 303, 200])
        #expect(task.originalRequest?.url?.path == "/1" && task.currentRequest?.url?.path == "/3")
        #expect(task.currentRequest?.httpMethod == "GET" && task.state == .completed)
        #expect(task.countOfBytesSent == 300_000)
    }

    @Test func `15.3 15.8 an answer from the cache goes the same way, and no delegate is asked whether to keep it`()
        async throws
    {
        let server = try TestServer()
        server.route("GET", "/1", ServerReply.text("kept").header("Cache-Control", "max-age=100"))
        let session = URLSession.loopback(delegate: witness)

        session.dataTask(with: server.url("/1")).resume()
        try await witness.ended()
        await session.settled()
        session.dataTask(with: server.url("/1")).resume()
        let words = try await witness.ended(2)

        let first = ["response 200", "data", "caching", "metrics", "completed"]
        #expect(words == first + ["response 200", "data", "metrics", "completed"])
        #expect(server.requests.count == 1 && witness.body.withLock { $0 } == Data("keptkept".utf8))
        let metrics = witness.metrics.withLock { $0 }
        #expect(metrics?.transactionMetrics.map(\.resourceFetchType) == [.localCache])
    }

    @Test func `15.3 whether to keep it is asked after the data, also when the response is allowed late`() throws {
        let world = VirtualWorld()
        world.respond("a.test") { _, moment, client in
            guard moment == .complete else { return }
            client.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 5\r\n\r\nhello")
        }
        let clock = ThreadBound(world.clock)
        let witness = Witness { answers in
            answers.response = { _, done in clock.value.after(.seconds(1)) { done(.allow) } }
        }
        let (session, _) = world.makeSession(delegate: witness)

        session.dataTask(with: try #require(URL(string: "http://a.test/"))).resume()
        world.run { witness.words.value.last == "completed" }

        #expect(witness.words.value == ["response 200", "data", "caching", "metrics", "completed"])
        #expect(world.finish() == [])
    }

    @Test func `15.3 a response that a delegate does not allow is not offered to the cache either`() async throws {
        let server = try TestServer()
        server.route("GET", "/1", ServerReply.text("kept").header("Cache-Control", "max-age=100"))
        let witness = Witness { $0.response = { _, done in done(.cancel) } }
        let session = URLSession.loopback(delegate: witness)

        session.dataTask(with: server.url("/1")).resume()
        let words = try await witness.ended()

        #expect(words == ["response 200", "metrics", "completed -999"])
        #expect(session.configuration.urlCache?.currentMemoryUsage == 0)
    }

    @Test func `15.3 a download shows its file before it completes`() async throws {
        let server = try TestServer()
        server.route("GET", "/1", ServerReply.status(302).header("Location", "/2"))
        server.route("GET", "/2", ServerReply.text("gone").status(404))

        URLSession.loopback(delegate: witness).downloadTask(with: server.url("/1")).resume()
        let words = try await witness.ended()

        #expect(
            words == ["redirect 302", "file", "metrics", "completed"]
                || words == ["redirect 302", "metrics", "file", "completed"]
        )
        #expect(witness.body.withLock { $0 } == Data("gone".utf8))
    }

    @Test func `15.3 a connection that is used again is not judged again`() async throws {
        let site = try SecuredSite()
        let session = site.session(delegate: witness)

        for count in 1...2 {
            session.dataTask(with: site.server.url("/hello")).resume()
            try await witness.ended(count)
        }

        #expect(witness.words.value.count { $0 == "challenge ServerTrust" } == 1)
        #expect(site.server.acceptedConnections == 1)
    }
}
