@testable import AFURLSession
@testable import AFURLTypes

@Suite("Redirects")
struct RedirectTests {
    private let server: TestServer
    private let other: TestServer
    private let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
        other = try TestServer()
        for server in [server, other] {
            server.route("*", "/end") { request in .text("\(request.method) \(request.bodyText)") }
        }
    }

    private func redirect(_ path: String, to location: String, status: Int = 302, body: String = "") {
        server.route("*", path, ServerReply.text(body).status(status).header("Location", location))
    }

    private func away(_ path: String = "/end") -> String { other.url(path).absoluteString }

    // MARK: - Following

    @Test func `T-RED-22 a task has one response, that of the last hop`() async throws {
        redirect("/1", to: "/2", body: "first")
        redirect("/2", to: away(), status: 307, body: "second")
        let delegate = EventLog()
        let session = URLSession.loopback(delegate: delegate)

        let task = session.dataTask(with: server.url("/1#there"))
        task.resume()
        let events = try await delegate.finished()

        #expect(events == [.response(200), .data("GET "), .metrics, .completed(nil)])
        #expect(task.response?.url?.absoluteString == away("/end#there"))
        #expect(task.currentRequest?.url?.absoluteString == away("/end#there"))
        #expect(task.originalRequest?.url == server.url("/1#there"))
        #expect(task.countOfBytesReceived == 4 && task.progress.fractionCompleted == 1)
    }

    @Test(arguments: ["/end", "http://a b/", "ftp://there/"])
    func `where redirects are not followed, each is the answer, whatever it says`(location: String) async throws {
        redirect("/1", to: location, body: "first")
        let session = URLSession.loopback { $0.redirectPolicy.followsRedirects = false }

        let outcome = try await session.outcome(of: server.url("/1"))

        #expect(outcome.response?.statusCode == 302 && outcome.text == "first")
        #expect(server.requests.count == 1)
    }

    @Test func `T-RED-22 each hop has an entry in the metrics`() async throws {
        redirect("/1", to: "/2", body: "first")
        redirect("/2", to: "/end", body: "second")
        let delegate = EventLog()
        let session = URLSession.loopback(delegate: delegate)

        session.dataTask(with: server.url("/1")).resume()
        try await delegate.finished()

        let metrics = try #require(delegate.metrics.withLock { $0 })
        let hops = metrics.transactionMetrics
        #expect(metrics.redirectCount == 2)
        #expect(hops.map { $0.request.url?.path } == ["/1", "/2", "/end"])
        #expect(hops.map { ($0.response as? HTTPURLResponse)?.statusCode } == [302, 302, 200])
        #expect(hops.map(\.isReusedConnection) == [false, true, true])
        #expect(hops.map(\.countOfResponseBodyBytesReceived) == [5, 6, 4])
        #expect(hops.allSatisfy { $0.responseEndDate != nil })
        #expect(server.acceptedConnections == 1)
    }

    @Test(arguments: [301, 302, 303])
    func `T-RED-12 T-RED-13 a posted form becomes a GET without a body`(status: Int) async throws {
        redirect("/1", to: "/end", status: status)
        let request = URLRequest(
            "POST",
            server.url("/1"),
            body: Data("form".utf8),
            fields: ["Content-Type": "application/x-www-form-urlencoded", "X-Mine": "stays"]
        )

        let outcome = try await session.outcome(of: request)

        #expect(outcome.text == "GET ")
        let last = try #require(server.requests.last)
        #expect(last.headers["Content-Type"] == nil && last.headers["Content-Length"] == nil)
        #expect(last.headers["X-Mine"] == "stays")
    }

    @Test(arguments: [307, 308])
    func `T-RED-12 a body is sent again as it was`(status: Int) async throws {
        redirect("/1", to: "/end", status: status)
        let content = String(repeating: "0123456789", count: 20_000)
        let folder = try ScratchFolder()
        let file = try folder.file(Data(content.utf8))
        let put = URLRequest("PUT", server.url("/1"))
        var inMemory = put
        inMemory.httpBody = Data(content.utf8)
        let outcomes = Outcomes()

        session.dataTask(with: inMemory, completionHandler: outcomes.handler).resume()
        session.uploadTask(with: put, from: Data(content.utf8), completionHandler: outcomes.handler).resume()
        session.uploadTask(with: put, fromFile: file, completionHandler: outcomes.handler).resume()

        for outcome in try await outcomes.wait(for: 3) { #expect(outcome.text == "PUT \(content)") }
    }

    @Test func `T-RED-14 a stream that was read is asked for again`() async throws {
        redirect("/1", to: "/end", status: 307)
        let source = StreamSource { _ in InputStream(data: Data("streamed".utf8)) }
        let session = URLSession.loopback(delegate: source)

        var request = URLRequest("PUT", server.url("/1"))
        request.httpBodyStream = InputStream(data: Data("streamed".utf8))
        #expect(try await session.outcome(of: request).text == "PUT streamed")
        #expect(server.requests.map(\.bodyText) == ["streamed", "streamed"])
        #expect(source.questions.value == 1)
    }

    @Test func `T-RED-14 a stream that the caller cannot bring again ends at the redirect`() async throws {
        redirect("/1", to: "/end", status: 307)
        var request = URLRequest("PUT", server.url("/1"))
        request.httpBodyStream = InputStream(data: Data("streamed".utf8))

        let outcome = try await session.outcome(of: request)

        #expect(outcome.error?.code == .requestBodyStreamExhausted && outcome.status == 307)
        #expect(outcome.error?.loadFailure?.reason == .redirect)
        #expect(server.requests.count == 1)
    }

    @Test func `T-RED-13 a stream is let go when its redirect drops it`() async throws {
        redirect("/1", to: "/end", status: 303)
        var request = URLRequest("POST", server.url("/1"))
        request.httpBodyStream = InputStream(data: Data("streamed".utf8))

        #expect(try await session.outcome(of: request).text == "GET ")
    }

    // MARK: - Secrets

    @Test func `T-RED-01 T-RED-04 secrets are not sent to another origin`() async throws {
        redirect("/1", to: away("/2"))
        other.route("GET", "/2", ServerReply.status(302).header("Location", "/end"))
        let fields = ["AUTHORIZATION": "canary", "Cookie": "canary", "x-api-key": "canary", "X-Plain": "1"]
        let session = URLSession.loopback {
            $0.httpAdditionalHeaders = ["authorization": "canary", "X-Auth-Token": "canary", "X-Fine": "2"]
        }

        let outcome = try await session.outcome(of: URLRequest("GET", server.url("/1"), fields: fields))

        #expect(outcome.status == 200)
        #expect(server.requests.allSatisfy { String(decoding: $0.rawHead, as: UTF8.self).contains("canary") })
        let heads = other.requests.map { String(decoding: $0.rawHead, as: UTF8.self) }
        #expect(heads.count == 2)
        for head in heads {
            #expect(!head.contains("canary") && head.contains("X-Plain: 1") && head.contains("X-Fine: 2"))
        }
    }

    @Test func `T-RED-06 secrets do not return with the way back`() async throws {
        redirect("/1", to: away("/2"))
        other.route("GET", "/2", ServerReply.status(302).header("Location", server.url("/end").absoluteString))
        let session = URLSession.loopback { $0.httpAdditionalHeaders = ["X-Api-Key": "canary"] }

        _ = try await session.outcome(
            of: URLRequest("GET", server.url("/1"), fields: ["Authorization": "canary"])
        )

        let last = try #require(server.requests.last)
        #expect(last.path == "/end" && !String(decoding: last.rawHead, as: UTF8.self).contains("canary"))
    }

    @Test func `T-RED-08 a field that a request marks as a secret stays as well`() async throws {
        redirect("/1", to: away())
        var request = URLRequest("GET", server.url("/1"), fields: ["X-Mine": "canary"])
        var policy = RedirectPolicy()
        policy.sensitiveFields = ["x-mine"]
        request.redirectPolicy = policy

        _ = try await session.outcome(of: request)

        #expect(server.requests.last?.headers["X-Mine"] == "canary")
        #expect(other.requests.count == 1 && other.requests.last?.headers["X-Mine"] == nil)
    }

    @Test func `T-RED-15 a body does not go to another origin by itself`() async throws {
        redirect("/1", to: away(), status: 307)
        let request = URLRequest("PUT", server.url("/1"), body: Data("canary".utf8))

        let outcome = try await session.outcome(of: request)
        #expect(outcome.error?.loadFailure?.detail == .body && outcome.status == 307)
        #expect(other.acceptedConnections == 0)

        let delegate = RedirectDelegate()
        let asked = try await URLSession.loopback(delegate: delegate).outcome(of: request)
        #expect(asked.text == "PUT canary" && delegate.questions.withLock { $0.count } == 1)

        var allowed = request
        var policy = RedirectPolicy()
        policy.sendsBodyToOtherOrigins = true
        allowed.redirectPolicy = policy
        #expect(try await session.outcome(of: allowed).text == "PUT canary")
    }

    // MARK: - Where it ends

    @Test func `T-RED-11 loops end after 20 redirects, or as many as were set`() async throws {
        redirect("/self", to: "/self")
        redirect("/a", to: "/b")
        redirect("/b", to: "/a")
        server.route("GET", "/grow") { request in
            ServerReply.status(302).header("Location", "/grow?n=\((request.query ?? "").count)")
        }
        for path in ["/self", "/a", "/grow"] {
            server.forgetRequests()
            let outcome = try await session.outcome(of: server.url(path))
            #expect(outcome.error?.code == .httpTooManyRedirects && outcome.status == 302)
            #expect(server.requests.count == 21)
        }

        server.forgetRequests()
        let strict = URLSession.loopback { $0.redirectPolicy.maximumCount = 3 }
        #expect(try await strict.outcome(of: server.url("/self")).error?.code == .httpTooManyRedirects)
        #expect(server.requests.count == 4)

        server.forgetRequests()
        var request = URLRequest(url: server.url("/self"))
        request.redirectPolicy = RedirectPolicy()
        request.redirectPolicy?.maximumCount = 1
        #expect(try await session.outcome(of: request).error?.code == .httpTooManyRedirects)
        #expect(server.requests.count == 2)

        server.forgetRequests()
        request.redirectPolicy?.maximumCount = 0
        #expect(try await session.outcome(of: request).error?.code == .httpTooManyRedirects)
        #expect(server.requests.count == 1)
    }

    @Test func `T-RED-10 a foreign scheme ends with the response and an error that names the scheme`() async throws {
        redirect("/1", to: "myapp://callback?code=1", body: "see there")

        for delegate in [nil, RedirectDelegate { _, request, completion in completion(request) }] {
            let session = URLSession.loopback(delegate: delegate)
            let outcome = try await session.outcome(of: server.url("/1"))

            #expect(outcome.status == 302 && outcome.error?.code == .unsupportedURL)
            #expect(outcome.response?.value(forHTTPHeaderField: "Location") == "myapp://callback?code=1")
            #expect(outcome.reason == .redirect && outcome.error?.loadFailure?.detail == .scheme)
            #expect(outcome.error?.localizedDescription.contains("\"myapp\"") == true)
        }
    }

    @Test func `T-RED-10 a delegate may take the response of a foreign scheme, or lead elsewhere`() async throws {
        redirect("/1", to: "myapp://callback?code=1", body: "see there")
        let proposed = Lock<[String?]>([])
        let taking = RedirectDelegate { _, request, completion in
            proposed.withLock { $0.append(request.url?.absoluteString) }
            completion(nil)
        }
        let end = server.url("/end")
        let leading = RedirectDelegate { _, _, completion in completion(URLRequest(url: end)) }

        let taken = try await URLSession.loopback(delegate: taking).outcome(of: server.url("/1"))
        let led = try await URLSession.loopback(delegate: leading).outcome(of: server.url("/1"))
        let off = try await URLSession.loopback { $0.redirectPolicy.followsRedirects = false }.outcome(
            of: server.url("/1")
        )

        #expect(taken.status == 302 && taken.text == "see there" && taken.error == nil)
        #expect(proposed.withLock { $0 } == ["myapp://callback?code=1"])
        #expect(led.status == 200 && led.text == "GET ")
        #expect(off.status == 302 && off.text == "see there" && off.error == nil)
    }

    @Test func `T-RED-19 an empty location is no redirect`() async throws {
        redirect("/1", to: "", body: "nowhere")

        let outcome = try await session.outcome(of: server.url("/1"))

        #expect(outcome.status == 302 && outcome.text == "nowhere" && outcome.error == nil)
        #expect(server.requests.count == 1)
    }

    @Test func `T-RED-16 T-RED-19 a location that cannot be used fails the task and closes the connection`()
        async throws
    {
        redirect("/1", to: "http://a b@c@d/", body: "body")
        server.route("GET", "/2", ServerReply.status(302).headers(["Location": "/end", "Location": "/other"]))

        for path in ["/1", "/2"] {
            let outcome = try await session.outcome(of: server.url(path))
            #expect(outcome.error?.code == .redirectToNonExistentLocation && outcome.status == 302, "\(path)")
        }
        try await server.waitUntilIdle()
        #expect(server.openConnections == 0)
    }

    @Test func `T-RED-19 without a location it is an answer like any other`() async throws {
        server.route("GET", "/1", ServerReply.text("nowhere").status(302))

        #expect(try await session.outcome(of: server.url("/1")).text == "nowhere")
    }

    @Test func `T-RED-21 a long body of a redirect is not waited for`() async throws {
        server.route(
            "GET",
            "/long",
            ServerReply.data([UInt8](repeating: 0, count: 200_000)).status(302).header("Location", "/end")
        )
        server.route(
            "GET",
            "/coded",
            ServerReply.text("no gzip").status(302).header("Location", "/end")
                .header("Content-Encoding", "gzip")
        )

        #expect(try await session.outcome(of: server.url("/long")).text == "GET ")
        #expect(server.acceptedConnections == 2)
        #expect(try await session.outcome(of: server.url("/coded")).text == "GET ")
    }

    // MARK: - The delegate

    @Test func `the delegate is shown each hop and may change it`() async throws {
        redirect("/1", to: "/2", status: 301)
        redirect("/2", to: "/end", status: 302)
        let delegate = RedirectDelegate { _, request, completion in
            var request = request
            request.setValue("added", forHTTPHeaderField: "X-Added")
            completion(request)
        }

        let outcome = try await URLSession.loopback(delegate: delegate).outcome(of: server.url("/1"))

        #expect(outcome.text == "GET ")
        #expect(delegate.questions.withLock { $0.map(\.status) } == [301, 302])
        #expect(delegate.questions.withLock { $0.last?.request.value(forHTTPHeaderField: "X-Added") } == "added")
        #expect(server.requests.map { $0.headers["X-Added"] } == [nil, "added", "added"])
    }

    @Test func `a redirect does not wait for the queue of a delegate without the method`() async throws {
        redirect("/1", to: "/end")
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession.loopback(delegate: EventLog(), queue: queue)
        // The session finds out that the delegate does not have the method.
        _ = try await session.outcome(of: server.url("/1"))
        server.forgetRequests()
        queue.isSuspended = true
        session.dataTask(with: server.url("/1")).resume()

        try await eventually { server.requests.map(\.path) == ["/1", "/end"] }
        session.invalidateAndCancel()
        queue.isSuspended = false
    }

    @Test func `a delegate that answers nil gets the redirect itself`() async throws {
        redirect("/1", to: "/end", body: String(repeating: "r", count: 300_000))
        let delegate = RedirectDelegate { _, _, completion in completion(nil) }
        let session = URLSession.loopback(delegate: delegate)

        let outcome = try await session.outcome(of: server.url("/1"))
        #expect(outcome.status == 302 && outcome.data?.count == 300_000)
        session.dataTask(with: server.url("/1")).resume()
        try await delegate.log.finished()

        #expect(delegate.log.bodies.withLock { $0.count } == 300_000)
        #expect(server.requests.allSatisfy { $0.path == "/1" })
    }

    @Test func `T-RED-24 only the first answer counts`() async throws {
        redirect("/1", to: "/end")
        let delegate = RedirectDelegate { _, request, completion in
            completion(request)
            completion(nil)
            completion(URLRequest(url: URL(fileURLWithPath: "/")))
        }

        let outcome = try await URLSession.loopback(delegate: delegate).outcome(of: server.url("/1"))

        #expect(outcome.text == "GET " && server.requests.count == 2)
    }

    @Test func `T-RED-24 cancelling while the delegate is asked ends the task once`() async throws {
        redirect("/1", to: "/end")
        let delegate = RedirectDelegate { task, request, completion in
            task.cancel()
            completion(request)
        }
        let session = URLSession.loopback(delegate: delegate)

        #expect(try await session.outcome(of: server.url("/1")).error?.code == .cancelled)
        await session.settled()
        #expect(server.requests.count == 1)
    }

    @Test func `T-RED-24 a request of the delegate's is checked like any other`() async throws {
        redirect("/1", to: "/end")
        for (address, code) in [("file:///etc/passwd", URLError.unsupportedURL), ("http://a b/", .badURL)] {
            let url = try #require(URL(string: address) ?? URL(string: "http://a%20b/"))
            let delegate = RedirectDelegate { _, _, completion in completion(URLRequest(url: url)) }
            let outcome = try await URLSession.loopback(delegate: delegate).outcome(of: server.url("/1"))
            #expect(outcome.error?.code == code && outcome.status == 302)
        }
    }

    private func elsewhere(_ url: URL, body: String? = nil) -> RedirectDelegate {
        RedirectDelegate { _, request, completion in
            var request = request
            request.url = url
            if let body { request.httpBody = Data(body.utf8) }
            completion(request)
        }
    }

    @Test func `T-RED-24 secrets go where a delegate leads within the origin, and not beyond it`() async throws {
        redirect("/1", to: "/2")
        for server in [server, other] { server.route("GET", "/3", .text("third")) }
        let secret = ["Authorization": "canary", "X-Mine": "stays"]
        for target in [server, other] {
            let session = URLSession.loopback(delegate: elsewhere(target.url("/3")))
            #expect(try await session.outcome(of: URLRequest("GET", server.url("/1"), fields: secret)).text == "third")
        }

        #expect(server.requests.map(\.path) == ["/1", "/3", "/1"])
        #expect(server.requests[1].headers["Authorization"] == "canary")
        #expect(other.requests.map { $0.headers["Authorization"] } == [nil])
        #expect(other.requests.map { $0.headers["X-Mine"] } == ["stays"])
    }

    @Test func `T-RED-01 fields that a session adds to every request stay within the origin`() async throws {
        redirect("/1", to: "/2")
        redirect("/2", to: away())
        let session = URLSession.loopback {
            $0.httpAdditionalHeaders = ["Authorization": "canary", "X-Mine": "stays"]
        }

        #expect(try await session.outcome(of: server.url("/1")).text == "GET ")

        #expect(server.requests.map { $0.headers["Authorization"] } == ["canary", "canary"])
        #expect(other.requests.map { $0.headers["Authorization"] } == [nil])
        #expect(other.requests.map { $0.headers["X-Mine"] } == ["stays"])
    }

    @Test func `T-RED-24 another body of the delegate's goes in place of the first`() async throws {
        redirect("/1", to: "/end", status: 307)
        let delegate = elsewhere(server.url("/end"), body: "another")
        let session = URLSession.loopback(delegate: delegate)
        let put = URLRequest("PUT", server.url("/1"), body: Data("first".utf8))
        let outcomes = Outcomes()

        #expect(try await session.outcome(of: put).text == "PUT another")
        session.uploadTask(with: put, from: Data("uploaded".utf8), completionHandler: outcomes.handler).resume()
        #expect(try await outcomes.first().text == "PUT another")

        #expect(server.requests.map(\.bodyText) == ["first", "another", "uploaded", "another"])
    }

    @Test func `the heads of all redirects together are at most 1 MiB`() async throws {
        for number in 1...20 {
            var reply = ServerReply.status(302).header("Location", "/\(number + 1)")
            for field in 1...60 { reply = reply.header("X-\(field)", String(repeating: "x", count: 980)) }
            server.route("GET", "/\(number)", reply)
        }
        server.route("GET", "/21", .text("at last"))

        // 17 times 60 KB, and 18 times.
        #expect(try await session.outcome(of: server.url("/4")).text == "at last")
        let outcome = try await session.outcome(of: server.url("/3"))

        #expect(outcome.error?.loadFailure?.reason == .limit && outcome.text != "at last", "\(outcome)")
    }

    // MARK: - TLS

    @Test func `T-RED-24 T-RED-09 a delegate may lead on over TLS, and into the open only where that is allowed`()
        async throws
    {
        let site = try SecuredSite()
        site.server.route("GET", "/1", ServerReply.status(302).header("Location", "/2"))
        var request = URLRequest(url: site.server.url("/1", host: "localhost"))

        let within = site.session(delegate: elsewhere(site.server.url("/hello", host: "localhost")))
        #expect(try await within.outcome(of: request).text == "hello")
        let plain = site.session(delegate: elsewhere(other.url("/end")))
        #expect(try await plain.outcome(of: request).error?.code == .unsupportedURL && other.acceptedConnections == 0)
        request.redirectPolicy = RedirectPolicy()
        request.redirectPolicy?.allowsPlainText = true
        #expect(try await plain.outcome(of: request).text == "GET ")
    }

    @Test func `T-RED-09 from https to http the request does not go`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/1", ServerReply.status(302).header("Location", away()))

        let outcome = try await site.session().outcome(of: site.server.url("/1", host: "localhost"))
        #expect(outcome.error?.code == .unsupportedURL && outcome.status == 302)
        #expect(outcome.error?.loadFailure?.detail == .scheme && other.acceptedConnections == 0)

        let delegate = RedirectDelegate()
        let asked = try await site.session(delegate: delegate).outcome(of: site.server.url("/1", host: "localhost"))
        #expect(asked.error?.code == .unsupportedURL && delegate.questions.withLock { $0.isEmpty })

        var request = URLRequest(url: site.server.url("/1", host: "localhost"))
        request.redirectPolicy = RedirectPolicy()
        request.redirectPolicy?.allowsPlainText = true
        #expect(try await site.session().outcome(of: request).text == "GET ")
    }

    @Test func `T-RED-25 a certificate for two names does not make their connections one`() async throws {
        let site = try SecuredSite()
        let target = site.server.url("/hello", host: "127.0.0.1").absoluteString
        site.server.route("GET", "/1", ServerReply.status(302).header("Location", target))

        let outcome = try await site.session().outcome(of: site.server.url("/1", host: "localhost"))

        #expect(outcome.text == "hello" && site.server.acceptedConnections == 2)
    }

    @Test func `a redirect to a pinned host over plain http is refused`() async throws {
        redirect("/1", to: other.url("/end", host: "localhost").absoluteString)
        let session = URLSession.loopback { $0.tls.evaluator = LocalhostPins() }

        let outcome = try await session.outcome(of: server.url("/1", host: "127.0.0.1"))

        #expect(outcome.error?.code == .unsupportedURL && other.acceptedConnections == 0)
    }

    // MARK: - Downloads

    @Test func `a download is redirected to its file`() async throws {
        redirect("/1", to: away("/file"))
        other.route("GET", "/file", .data([UInt8](repeating: 7, count: 300_000)))

        let (file, response) = try await session.download(from: server.url("/1"))
        defer { try? FileManager.default.removeItem(at: file) }

        #expect(try Data(contentsOf: file).count == 300_000)
        #expect(response.url?.absoluteString == away("/file"))
    }
}

private struct LocalhostPins: ServerEvaluator {
    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
    func forbidsPlainText(to host: String) -> Bool { host == "localhost" }
}
