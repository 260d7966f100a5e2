extension LoopbackTests {
    /// Tasks with delegates of their own, in sessions that have one too.
    struct DelegatePairs {
        private let server: TestServer

        init() throws {
            server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            server.route("GET", "/go", ServerReply.status(302).header("Location", "/hello"))
        }

        private func load(_ path: String, _ own: any URLSessionTaskDelegate, in session: URLSession) {
            let task = session.dataTask(with: server.url(path))
            task.delegate = own
            task.resume()
        }

        @Test func `a delegate without methods leaves everything to the session's`() async throws {
            let log = EventLog()
            let session = URLSession.loopback(delegate: log)
            let expected: [EventLog.Event] = [.response(200), .data("hello"), .metrics, .completed(nil)]

            load("/hello", SilentDelegate(), in: session)
            #expect(try await log.finished(1) == expected)
            // What its class lacks is known now.
            load("/hello", SilentDelegate(), in: session)
            #expect(try await log.finished(2) == expected + expected)
        }

        @Test func `a delegate with a method hears it in place of the session's, each time`() async throws {
            let (log, own) = (EventLog(), Metering())
            let session = URLSession.loopback(delegate: log)

            for count in 1...3 {
                load("/hello", own, in: session)
                try await log.finished(count)
            }

            #expect(own.heard.value == ["metrics", "metrics", "metrics"])
            #expect(log.events.value.count { $0 == .metrics } == 0)
            #expect(log.events.value.count { $0 == .data("hello") } == 3)
        }

        @Test func `questions go to the one that has the method`() async throws {
            let all = RedirectAnswer()
            let session = URLSession.loopback(delegate: all)

            for own in [SilentDelegate(), SilentDelegate()] as [any URLSessionTaskDelegate] {
                #expect(try await outcome("/go", own, in: session).status == 302)
            }
            let own = RedirectAnswer { $2($1) }
            #expect(try await outcome("/go", own, in: session).status == 200)

            #expect(all.asked.value == 2 && own.asked.value == 1)
        }

        @Test func `where neither has the method the session does what it does by itself`() async throws {
            let session = URLSession.loopback(delegate: Metering())

            for _ in 1...2 { #expect(try await outcome("/go", SilentDelegate(), in: session).status == 200) }
        }

        @Test func `an ignored method of the session's delegate is not called for the task's either`() async throws {
            let all = RedirectAnswer()
            let session = URLSession.loopback(delegate: all)
            session.ignoredDelegateMethods = .taskWillPerformHTTPRedirection

            for _ in 1...2 { #expect(try await outcome("/go", SilentDelegate(), in: session).status == 200) }

            #expect(all.asked.value == 0)
        }

        @Test func `a task with the session's own delegate is told once`() async throws {
            let log = EventLog()
            let session = URLSession.loopback(delegate: log)

            load("/hello", log, in: session)

            #expect(try await log.finished() == [.response(200), .data("hello"), .metrics, .completed(nil)])
        }

        @Test func `T-TLS-84 a delegate without a method for challenges leaves them to the session's, and shares`()
            async throws
        {
            let site = try SecuredSite()
            let all = TaskTrustDelegate()
            let session = site.session(delegate: all) { $0.anchors = .certificates([]) }

            for own in [nil, SilentDelegate(), SilentDelegate(), nil] as [(any URLSessionTaskDelegate)?] {
                let outcomes = Outcomes()
                let task = session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler)
                task.delegate = own
                task.resume()
                #expect(try await outcomes.first().text == "hello")
            }

            #expect(site.server.requests.map(\.connection) == [1, 2, 1, 1])
            #expect(all.count == 2)
        }

        @Test func `T-TLS-84 the session's delegate refuses for tasks whose own delegate has no method for challenges`()
            async throws
        {
            let site = try SecuredSite()
            let session = site.session(delegate: TaskTrustDelegate { _ in (.cancelAuthenticationChallenge, nil) })

            for own in [SilentDelegate(), SilentDelegate(), Metering()] as [any URLSessionTaskDelegate] {
                let outcomes = Outcomes()
                let task = session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler)
                task.delegate = own
                task.resume()
                #expect(try await outcomes.first().code == -999)
            }

            #expect(site.server.requests.isEmpty)
        }

        @Test func `a handler takes response, body and completion from both`() async throws {
            let (log, own) = (EventLog(), Metering())
            let session = URLSession.loopback(delegate: log)

            #expect(try await outcome("/hello", own, in: session).text == "hello")

            #expect(log.events.value.isEmpty && own.heard.value == ["metrics"])
        }

        @Test func `a collector takes the metrics, and leaves all other decisions to the session's delegate`()
            async throws
        {
            let (log, all) = (EventLog(), RedirectAnswer())
            let metered = URLSession.loopback(delegate: log)
            let redirected = URLSession.loopback(delegate: all)
            let collector = TaskMetricsCollector()

            _ = try await metered.data(from: server.url("/hello"), delegate: collector)
            #expect(collector.metrics?.transactionMetrics.count == 1 && log.events.value.isEmpty)
            let (_, response) = try await redirected.data(from: server.url("/go"), delegate: collector)
            #expect((response as? HTTPURLResponse)?.statusCode == 302 && all.asked.value == 1)
        }

        @Test func `T-API-34 a call returns after the session's method for metrics where the task's delegate has none`()
            async throws
        {
            let log = EventLog()
            let session = URLSession.loopback(delegate: log)

            for count in 1...3 {
                _ = try await session.data(from: server.url("/hello"), delegate: SilentDelegate())
                #expect(log.events.value.count { $0 == .metrics } == count)
            }
        }

        @Test func `a download is shown to the session's delegate where the task's is for other things`() async throws {
            let log = DownloadLog()
            let session = URLSession.loopback(delegate: log)
            let task = session.downloadTask(with: server.url("/hello"))
            let own = Metering()
            task.delegate = own
            task.resume()

            #expect(try await log.finished().last == .completed(nil))
            #expect(log.contents.withLock { $0 } == Data("hello".utf8) && own.heard.value == ["metrics"])
        }

        @Test func `a task waits for what its own delegate says about the cache`() async throws {
            server.route("GET", "/kept", .text("kept").header("Cache-Control", "max-age=60"))
            let (log, own) = (EventLog(), Hesitating())
            let session = URLSession.loopback(delegate: log)
            load("/kept", own, in: session)
            let answer = try #require(try await own.answer.wait("the question") { $0 != nil })
            await session.settled()
            #expect(!log.events.value.contains(.completed(nil)))

            answer()

            try await log.finished()
            #expect(
                session.configuration.urlCache?.cachedResponse(for: URLRequest(url: server.url("/kept"))) != nil
            )
        }

        @Test func `nothing keeps the delegate of a task that has ended`() async throws {
            let log = EventLog()
            let session = URLSession.loopback(delegate: log)
            weak var gone: Metering?
            do {
                let own = Metering()
                gone = own
                load("/hello", own, in: session)
            }
            try await log.finished()

            try await eventually { gone == nil }
        }

        private func outcome(
            _ path: String,
            _ own: any URLSessionTaskDelegate,
            in session: URLSession
        ) async throws -> Outcome {
            let outcomes = Outcomes()
            let task = session.dataTask(with: server.url(path), completionHandler: outcomes.handler)
            task.delegate = own
            task.resume()
            return try await outcomes.first()
        }
    }
}

private final class Metering: URLSessionTaskDelegate {
    let heard = Watched<[String]>([])

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        heard.change { $0.append("metrics") }
    }
}

/// Lets a response be stored when the test says so.
private final class Hesitating: URLSessionDataDelegate {
    let answer = Watched<(@Sendable () -> Void)?>(nil)

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        answer.change { $0 = { completionHandler(proposedResponse) } }
    }
}
