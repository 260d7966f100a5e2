/// What programs written for Apple's loader count on: bodies, redirects, credentials, caches, responses.
@Suite("As Apple's loader: requests and responses")
struct LoadingContractTests {
    private let server: TestServer
    private let session = URLSession.loopback()
    private let witness = Witness()

    init() throws {
        server = try TestServer()
        server.route("*", "/see") { .text("\($0.method) \($0.bodyText)") }
    }

    // MARK: - 15.4

    @Test func `15.4 a stream takes the place of a body and a body that of a stream`() {
        var request = URLRequest("POST", server.url("/see"), body: Data("x".utf8))
        request.httpBodyStream = InputStream(data: Data())
        #expect(request.httpBody == nil)
        request.httpBody = Data("y".utf8)
        #expect(request.httpBodyStream == nil)
    }

    @Test func `15.4 a stream is sent with the length that was set, and in chunks without one`() async throws {
        for length in ["4", nil] {
            var request = URLRequest("POST", server.url("/see"))
            request.httpBodyStream = InputStream(data: Data("body".utf8))
            request.setValue(length, forHTTPHeaderField: "Content-Length")
            #expect(try await session.outcome(of: request).text == "POST body")
            let last = try #require(server.requests.last)
            #expect(last.headers["Content-Length"] == length)
            #expect(last.headers["Transfer-Encoding"] == (length == nil ? "chunked" : nil))
        }
    }

    @Test func `15.4 a GET with a body is refused, and without a delegate a stream is exhausted`() async throws {
        let get = URLRequest("GET", server.url("/see"), body: Data("x".utf8))
        #expect(try await session.outcome(of: get).error?.code == .dataLengthExceedsMaximum)

        let streamed = URLSession.loopback(delegate: witness)
        streamed.uploadTask(withStreamedRequest: URLRequest("PUT", server.url("/see"))).resume()
        #expect(try await witness.ended() == ["stream", "metrics", "completed -1021"])
        #expect(server.acceptedConnections == 0)
    }

    @Test func `a GET with a body that is asked for is sent, and the cache has no part in it`() async throws {
        server.route("GET", "/find") { request in
            ServerReply.text(request.bodyText).header("Cache-Control", "max-age=60")
        }
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let session = URLSession.loopback { $0.urlCache = cache }
        let plain = URLRequest(url: server.url("/find"))
        var asking = URLRequest("GET", server.url("/find"), body: Data("query".utf8))
        asking.sendsBodyWithAnyMethod = true

        for _ in 1...2 { #expect(try await session.outcome(of: asking).text == "query") }
        #expect(cache.cachedResponse(for: plain) == nil)
        #expect(try await session.outcome(of: plain).text == "")
        try await eventually { cache.cachedResponse(for: plain) != nil }
        #expect(try await session.outcome(of: asking).text == "query")
        asking.cachePolicy = .returnCacheDataDontLoad
        #expect(try await session.outcome(of: asking).error != nil)
        #expect(server.requests.map(\.bodyText) == ["query", "query", "", "query"])
        #expect(asking.curlCommand().contains("--request GET"), "\(asking.curlCommand())")
    }

    @Test func `15.4 an answer that comes before the end of the upload is the answer`() async throws {
        server.route("PUT", "/413", ServerReply.text("enough").status(413).withoutReadingBody())
        let big = URLRequest("PUT", server.url("/413"), body: Data(count: 8 << 20))

        let outcome = try await session.outcome(of: big)
        #expect(outcome.status == 413 && outcome.text == "enough", "\(outcome)")

        var asking = URLRequest("PUT", server.url("/see"), body: Data("body".utf8))
        asking.setValue("100-continue", forHTTPHeaderField: "Expect")
        #expect(try await session.outcome(of: asking).text == "PUT body")
    }

    // MARK: - 15.6

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "DELETE"], [301, 302, 303, 307, 308])
    func `15.6 method and body after each status are those of the table`(method: String, status: Int) async throws {
        server.route("*", "/1", ServerReply.status(status).header("Location", "/see"))
        let hasBody = method == "POST" || method == "PUT"

        _ = try await session.outcome(of: URLRequest(method, server.url("/1"), body: hasBody ? Data("b".utf8) : nil))

        let dropsBody = status == 303 || (status < 303 && method == "POST")
        let last = try #require(server.requests.last)
        #expect(last.path == "/see")
        #expect(last.method == (dropsBody && method != "HEAD" ? "GET" : method))
        #expect(last.bodyText == (hasBody && !dropsBody ? "b" : ""))
    }

    @Test func `15.6 a location is relative to where it comes from, and inherits the fragment`() async throws {
        server.route("GET", "/a/b", ServerReply.status(302).header("Location", "../see?x"))
        let outcome = try await session.outcome(of: server.url("/a/b#part"))

        #expect(outcome.response?.url == server.url("/see?x#part"))
    }

    @Test func `15.6 secrets come back if the delegate sets them itself`() async throws {
        let other = try TestServer()
        other.route("GET", "/end") { .text($0.headers["Authorization"] ?? "none") }
        server.route("GET", "/1", ServerReply.status(302).header("Location", "\(other.url("/end"))"))
        let fields = ["Authorization": "first"]
        let request = URLRequest("GET", server.url("/1"), fields: fields)
        #expect(try await session.outcome(of: request).text == "none")

        let witness = Witness { answers in
            answers.redirect = { _, request, done in
                #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
                var request = request
                request.setValue("own", forHTTPHeaderField: "Authorization")
                done(request)
            }
        }
        #expect(try await URLSession.loopback(delegate: witness).outcome(of: request).text == "own")
    }

    // MARK: - 15.7

    @Test func `15.7 a session-level method is not asked about passwords`() async throws {
        server.install(.authentication)
        let levels = Lock<[String]>([])
        final class Both: URLSessionTaskDelegate {
            let levels: @Sendable (String) -> Void
            init(_ levels: @escaping @Sendable (String) -> Void) { self.levels = levels }
            func urlSession(
                _ session: URLSession,
                didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                levels("session \(challenge.protectionSpace.authenticationMethod)")
                completionHandler(.performDefaultHandling, nil)
            }
            func urlSession(
                _ session: URLSession,
                task: URLSessionTask,
                didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                levels("task \(challenge.protectionSpace.authenticationMethod)")
                completionHandler(.useCredential, URLCredential(user: "me", password: "secret", persistence: .none))
            }
        }
        let session = URLSession.loopback(delegate: Both { word in levels.withLock { $0.append(word) } })

        #expect(try await session.outcome(of: server.url("/basic-auth/me/secret")).status == 200)

        #expect(levels.withLock { $0 } == ["task \(NSURLAuthenticationMethodHTTPBasic)"])
    }

    @Test func `15.7 a credential that worked is used unasked, one that did not is counted`() async throws {
        server.install(.authentication)
        let witness = Witness { answers in
            answers.challenge = { _, challenge, done in
                let password = challenge.previousFailureCount < 1 ? "wrong" : "secret"
                done(.useCredential, URLCredential(user: "me", password: password, persistence: .forSession))
            }
        }
        let session = URLSession.loopback(delegate: witness)

        for _ in 1...3 { #expect(try await session.outcome(of: server.url("/basic-auth/me/secret")).status == 200) }

        #expect(witness.challenges.withLock { $0.map(\.previousFailureCount) } == [0, 1])
        #expect(server.requests.count == 5)
    }

    // MARK: - 15.8

    private func load(_ policy: URLRequest.CachePolicy) async throws -> Outcome {
        var request = URLRequest(url: server.url("/kept"))
        request.cachePolicy = policy
        defer { server.forgetRequests() }
        let outcome = try await session.outcome(of: request)
        await session.settled()
        return outcome
    }

    @Test func `15.8 each cache policy does what Apple's does`() async throws {
        let visits = Watched(0)
        server.route("GET", "/kept") { request in
            if request.headers["If-None-Match"] == "\"1\"" { return .status(304) }
            let visit = visits.change { visits in
                visits += 1
                return visits
            }
            return .text("\(visit)").header("ETag", "\"1\"").header("Cache-Control", "max-age=0")
        }
        #expect(try await load(.returnCacheDataDontLoad).error?.code == .resourceUnavailable)
        #expect(try await load(.useProtocolCachePolicy).text == "1")
        let revalidated = try await load(.useProtocolCachePolicy)
        #expect(revalidated.text == "1" && revalidated.status == 200)
        #expect(try await load(.returnCacheDataElseLoad).text == "1")
        #expect(try await load(.returnCacheDataDontLoad).text == "1")
        #expect(try await load(.reloadRevalidatingCacheData).text == "1")
        #expect(try await load(.reloadIgnoringLocalCacheData).text == "2")
        var request = URLRequest(url: server.url("/kept"))
        request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        #expect(try await session.outcome(of: request).text == "3")
        #expect(server.requests.last?.headers["Cache-Control"] == "no-cache")
        #expect(server.requests.last?.headers["Pragma"] == "no-cache")
    }

    @Test func `15.8 validation asks past all caches, unless the request names an age`()
        async throws
    {
        server.route("GET", "/tag") { request in
            (request.headers["If-None-Match"] == "\"1\"" ? ServerReply.status(304) : .text("tagged"))
                .header("ETag", "\"1\"").header("Cache-Control", "max-age=100")
        }
        let configured = URLSession.loopback { $0.requestCachePolicy = .reloadRevalidatingCacheData }
        let uncached = URLSession.loopback { $0.urlCache = nil }
        var request = URLRequest(url: server.url("/tag"))
        request.cachePolicy = .reloadRevalidatingCacheData
        for session in [session, uncached] {
            for _ in 1...2 {
                #expect(try await session.outcome(of: request).text == "tagged")
                await session.settled()
            }
        }
        request.setValue("max-age=5", forHTTPHeaderField: "Cache-Control")
        #expect(try await session.outcome(of: request).text == "tagged")
        #expect(try await configured.outcome(of: server.url("/tag")).text == "tagged")

        let asked = server.requests.map { [$0.headers["If-None-Match"], $0.headers["Cache-Control"]] }
        let all: [String?] = [nil, "max-age=0"]
        #expect(asked == [all, ["\"1\"", "max-age=0"], all, all, ["\"1\"", "max-age=5"], all])
        #expect(server.requests.allSatisfy { $0.headers["Pragma"] == nil })
    }

    @Test func `15.8 a delegate may keep nothing, or something else`() async throws {
        server.route("GET", "/kept", ServerReply.text("network").header("Cache-Control", "max-age=100"))
        for (isKept, expected) in [(true, "own"), (false, "network")] {
            let witness = Witness { answers in
                answers.caching = { proposal in
                    isKept ? CachedURLResponse(response: proposal.response, data: Data("own".utf8)) : nil
                }
            }
            let session = URLSession.loopback(delegate: witness)
            for count in 1...2 {
                session.dataTask(with: server.url("/kept")).resume()
                try await witness.ended(count)
                await session.settled()
            }
            #expect(witness.body.withLock { $0 } == Data("network\(expected)".utf8))
        }
    }

    @Test func `15.8 a response without words about caches is stored for requests that accept any age`() async throws {
        let visits = Watched(0)
        server.route("GET", "/kept") { _ in
            .text("\(visits.change { visits in visits += 1; return visits })")
        }
        #expect(try await load(.useProtocolCachePolicy).text == "1")
        #expect(try await load(.returnCacheDataDontLoad).text == "1")
        #expect(try await load(.returnCacheDataElseLoad).text == "1")
        #expect(try await load(.useProtocolCachePolicy).text == "2")
        #expect(try await load(.returnCacheDataDontLoad).text == "2")
        #expect(try await load(.reloadRevalidatingCacheData).text == "3")
        #expect(try await load(.reloadIgnoringLocalCacheData).text == "4")
        #expect(try await load(.returnCacheDataElseLoad).text == "4")

        // It stands in for an error only if the request says so.
        server.route("GET", "/kept", .status(503))
        #expect(try await load(.useProtocolCachePolicy).status == 503)
        server.stop()
        #expect(try await load(.useProtocolCachePolicy).error != nil)
        var tolerant = URLRequest(url: server.url("/kept"))
        tolerant.setValue("stale-if-error=1000", forHTTPHeaderField: "Cache-Control")
        #expect(try await session.outcome(of: tolerant).text == "4")
        #expect(try await load(.returnCacheDataDontLoad).text == "4")
    }

    @Test func `15.8 a delegate may say how long a response is good that says nothing about it`() async throws {
        server.route("GET", "/kept", .text("network"))
        let witness = Witness { answers in
            answers.caching = { proposal in
                guard let response = proposal.response as? HTTPURLResponse, let url = response.url,
                    let lasting = HTTPURLResponse(
                        url: url,
                        statusCode: response.statusCode,
                        httpVersion: response.httpVersion,
                        headerFields: ["Cache-Control": "max-age=100"]
                    )
                else { return nil }
                return CachedURLResponse(response: lasting, data: proposal.data)
            }
        }
        let session = URLSession.loopback(delegate: witness)
        for count in 1...2 {
            session.dataTask(with: server.url("/kept")).resume()
            try await witness.ended(count)
            await session.settled()
        }

        #expect(witness.words.value.count { $0 == "caching" } == 1)
        #expect(witness.body.withLock { $0 } == Data("networknetwork".utf8))
        #expect(server.requests.count == 1)
    }

    @Test func `15.8 a delegate is not asked about what is not to be stored`() async throws {
        server.route("*", "/plain", .text("plain"))
        server.route("GET", "/missing", ServerReply.text("missing").status(404))
        server.route("GET", "/secret", ServerReply.text("secret").header("Cache-Control", "no-store"))
        server.route("GET", "/any", ServerReply.text("any").header("Vary", "*"))
        server.route("GET", "/part", ServerReply.text("part").status(206).header("Content-Range", "bytes 0-3/8"))
        let requests = [
            URLRequest("POST", server.url("/plain"), body: Data("x".utf8)), URLRequest("HEAD", server.url("/plain")),
            URLRequest("OPTIONS", server.url("/plain")), URLRequest("GET", server.url("/missing")),
            URLRequest("GET", server.url("/secret")), URLRequest("GET", server.url("/any")),
            URLRequest("GET", server.url("/part"), fields: ["Range": "bytes=0-3"]),
            URLRequest("GET", server.url("/plain"), fields: ["Cache-Control": "no-store"]),
        ]
        let session = URLSession.loopback(delegate: witness)
        for (number, request) in requests.enumerated() {
            session.dataTask(with: request).resume()
            try await witness.ended(number + 1)
        }

        #expect(!witness.words.value.contains("caching"))
        #expect(session.configuration.urlCache?.currentMemoryUsage == 0)
    }

    @Test func `15.8 a body longer than a twentieth of the cache is not stored`() async throws {
        server.route("GET", "/long", ServerReply.data([UInt8](repeating: 1, count: 60_000)).header("ETag", "\"1\""))
        let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0)
        let session = URLSession.loopback { $0.urlCache = cache }

        _ = try await session.outcome(of: server.url("/long"))
        await session.settled()

        #expect(cache.currentMemoryUsage == 0)
    }

    // MARK: - 15.9

    @Test func `15.9 what is decoded is asked for unless the request says something else, and progress ends at 1`()
        async throws
    {
        let content = Coded.text(300_000)
        server.route("GET", "/coded", ServerReply.data(Coded.gzip(content)).header("Content-Encoding", "gzip"))
        let task = URLSession.loopback(delegate: witness).dataTask(with: server.url("/coded"))
        let progress = task.progress
        task.resume()
        try await witness.ended()
        #expect(witness.body.withLock { $0 } == content && task.countOfBytesReceived == 300_000)
        #expect(progress.fractionCompleted <= 1 && server.requests.last?.headers["Accept-Encoding"] != nil)

        let own = URLRequest("GET", server.url("/see"), fields: ["Accept-Encoding": "identity"])
        _ = try await session.outcome(of: own)
        #expect(server.requests.last?.headers["Accept-Encoding"] == "identity")
    }

    // MARK: - 15.10

    @Test func `15.10 a response has Apple's properties`() async throws {
        let typed = ServerReply.data("x".utf8, type: "Text/HTML; Charset=\"UTF-8\"")
        server.route("GET", "/dir/page.html", typed)
        server.route("GET", "/", ServerReply.data("x".utf8, type: nil))
        let named = typed.header("Content-Disposition", "attachment; filename=\"report.pdf\"")
        server.route("GET", "/named", named)

        let page = try #require(try await session.outcome(of: server.url("/dir/page.html?q")).response)
        #expect(page.mimeType == "text/html" && page.textEncodingName == "utf-8" && page.expectedContentLength == 1)
        #expect(page.suggestedFilename == "page.html" && page.url == server.url("/dir/page.html?q"))
        #expect(page.value(forHTTPHeaderField: "content-TYPE") == "Text/HTML; Charset=\"UTF-8\"")
        let bare = try #require(try await session.outcome(of: server.url("/")).response)
        #expect(bare.mimeType == nil && bare.textEncodingName == nil && bare.suggestedFilename == "Unknown")
        #expect(try await session.outcome(of: server.url("/named")).response?.suggestedFilename == "report.pdf")
        #expect(HTTPURLResponse.localizedString(forStatusCode: 404) == "not found")
    }

    @Test func `15.10 fields are replaced or joined, whatever their case, and a task keeps its request`() async throws {
        var request = URLRequest(url: server.url("/see"))
        request.setValue("1", forHTTPHeaderField: "X-A")
        request.addValue("2", forHTTPHeaderField: "x-a")
        #expect(request.value(forHTTPHeaderField: "X-a") == "1,2")
        let outcomes = Outcomes()
        let task = session.dataTask(with: request, completionHandler: outcomes.handler)
        request.setValue("changed", forHTTPHeaderField: "X-A")
        task.resume()
        _ = try await outcomes.first()

        #expect(server.requests.last?.headers["X-A"] == "1,2")
    }
}
