@testable import AFURLSession
@testable import AFURLTypes

extension MonitoringTests {
    /// An entry for everything that was sent, with what is true of it.
    @Suite("Metrics of every attempt")
    struct Metrics {
        private let server: TestServer
        private let session = URLSession.loopback()

        init() throws {
            server = try TestServer()
            server.route("*", "/end") { request in .text("\(request.method) \(request.bodyText)") }
        }

        /// Loads, and returns the metrics that the task keeps.
        private func metrics(
            of request: URLRequest,
            in session: URLSession
        ) async throws -> URLSessionTaskMetrics {
            let outcomes = Outcomes()
            let task = session.dataTask(with: request, completionHandler: outcomes.handler)
            task.keepsMetrics = true
            #expect(task.metrics == nil)
            task.resume()
            _ = try await outcomes.first()
            return try #require(task.metrics)
        }

        private func checkOrder(_ metrics: URLSessionTaskMetrics) {
            for entry in metrics.transactionMetrics {
                #expect(entry.stamps == entry.stamps.sorted())
                #expect(entry.stamps.allSatisfy { metrics.taskInterval.contains($0) })
            }
            let starts = metrics.transactionMetrics.compactMap(\.fetchStartDate)
            #expect(starts == starts.sorted() && starts.count == metrics.transactionMetrics.count)
        }

        // MARK: - Who gets them

        @Test func `T-API-34 metrics are kept for those who ask`() async throws {
            let request = URLRequest(url: server.url("/end"))
            let plain = URLSession.loopback()
            let task = plain.dataTask(with: request) { _, _, _ in }
            #expect(!task.keepsMetrics)
            task.cancel()

            let keeping = URLSession.loopback { $0.keepsTaskMetrics = true }
            let outcomes = Outcomes()
            let kept = keeping.dataTask(with: request, completionHandler: outcomes.handler)
            kept.resume()
            _ = try await outcomes.first()
            #expect(kept.keepsMetrics && kept.metrics?.transactionMetrics.count == 1)

            let entry = try #require(try await metrics(of: request, in: plain).transactionMetrics.first)
            #expect(entry.countOfRequestBodyBytesBeforeEncoding == 0 && entry.domainResolutionProtocol == .unknown)
            #expect(!entry.isCellular && !entry.isExpensive && !entry.isConstrained && !entry.isMultipath)
            #expect(entry.localPort != nil && entry.localAddress == "127.0.0.1" && entry.serverProof == .absent)
        }

        @Test func `T-API-34 an awaiting caller has the metrics with the response, and with an error`() async throws {
            let collector = TaskMetricsCollector()
            _ = try await session.data(from: server.url("/end"), delegate: collector)
            #expect(collector.metrics?.transactionMetrics.first?.status == 200)

            let upload = TaskMetricsCollector()
            _ = try await session.upload(
                for: URLRequest("POST", server.url("/end")),
                from: Data("body".utf8),
                delegate: upload
            )
            #expect(upload.metrics?.transactionMetrics.first?.countOfRequestBodyBytesBeforeEncoding == 4)

            let gone = try TestServer()
            gone.stop()
            let failing = TaskMetricsCollector()
            await #expect(throws: URLError.self) { try await session.data(from: gone.url(), delegate: failing) }
            #expect(failing.metrics?.transactionMetrics.first?.resourceFetchType == .unknown)

            let streaming = TaskMetricsCollector()
            let (bytes, _) = try await session.bytes(from: server.url("/end"), delegate: streaming)
            for try await _ in bytes {}
            #expect(streaming.metrics?.transactionMetrics.count == 1 && !bytes.task.keepsMetrics)
        }

        // MARK: - Redirects and challenges

        @Test func `T-API-34 each answer to a challenge is an entry, and says what the server proved, T-AUT-19`()
            async throws
        {
            server.install(.authentication)
            server.route("GET", "/on", ServerReply.text("").status(302).header("Location", "/end"))
            var components = URLComponents(
                url: server.url("/digest-auth/auth/user/secret"),
                resolvingAgainstBaseURL: true
            )
            components?.user = "user"
            components?.password = "secret"
            let url = try #require(components?.url)

            let found = try await metrics(of: URLRequest(url: url), in: session)

            #expect(found.transactionMetrics.map(\.status) == [401, 200] && found.redirectCount == 0)
            #expect(found.transactionMetrics.map(\.serverProof) == [.absent, .right])
            #expect(found.transactionMetrics.map(\.isReusedConnection) == [false, true])
            checkOrder(found)
        }

        @Test func `T-AUT-19 a server that cannot prove itself is found out in the metrics`() async throws {
            server.route("GET", "/liar") { request in
                guard request.headers["Authorization"] != nil else {
                    return .status(401).header("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
                }
                return ServerReply.text("mine").header("Authentication-Info", "rspauth=\"0\"")
            }
            var components = URLComponents(url: server.url("/liar"), resolvingAgainstBaseURL: true)
            components?.user = "user"
            components?.password = "secret"
            let url = try #require(components?.url)

            let found = try await metrics(of: URLRequest(url: url), in: URLSession.loopback())

            #expect(found.transactionMetrics.map(\.status) == [401, 200])
            #expect(found.transactionMetrics.last?.serverProof == .wrong)
        }

        @Test func `T-RED-22 T-API-34 hops have entries in order, each with its own dates`() async throws {
            server.route("GET", "/1", ServerReply.text("one").status(302).header("Location", "/2"))
            server.route("GET", "/2", ServerReply.text("two").status(307).header("Location", "/end"))

            let found = try await metrics(of: URLRequest(url: server.url("/1")), in: URLSession.loopback())

            #expect(found.redirectCount == 2 && found.transactionMetrics.map(\.status) == [302, 307, 200])
            #expect(found.transactionMetrics.map { $0.request.url?.path } == ["/1", "/2", "/end"])
            #expect(found.transactionMetrics.allSatisfy { $0.resourceFetchType == .networkLoad })
            checkOrder(found)
        }

        // MARK: - The cache

        @Test func `T-API-34 a response of the cache is an entry of its own, and so is its validation`() async throws {
            server.install(.caching)
            let fresh = URLRequest(url: server.url("/cache/100"))
            _ = try await session.outcome(of: fresh)
            let hit = try await metrics(of: fresh, in: session)

            let entry = try #require(hit.transactionMetrics.first)
            #expect(hit.transactionMetrics.count == 1 && entry.resourceFetchType == .localCache)
            #expect(entry.networkProtocolName == nil && entry.remoteAddress == nil && !entry.isReusedConnection)
            #expect(entry.countOfResponseBodyBytesReceived == 0 && entry.countOfResponseBodyBytesAfterDecoding > 0)
            #expect(entry.requestStartDate != nil && entry.responseEndDate != nil && entry.connectStartDate == nil)
            checkOrder(hit)

            let stale = URLRequest(url: server.url("/etag/one"), cachePolicy: .reloadRevalidatingCacheData)
            _ = try await session.outcome(of: URLRequest(url: server.url("/etag/one")))
            let validated = try await metrics(of: stale, in: session)

            #expect(validated.transactionMetrics.map(\.resourceFetchType) == [.networkLoad, .localCache])
            #expect(validated.transactionMetrics.map(\.status) == [304, 200])
            checkOrder(validated)
        }

        // MARK: - Bodies

        @Test func `T-API-34 an answer that comes before the whole request does not turn back the dates`() async throws
        {
            server.script(
                .receive(1000),
                .send("HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"),
                .close
            )
            var request = URLRequest("POST", server.url("/"))
            request.httpBody = Data(count: 8 << 20)

            let found = try await metrics(of: request, in: URLSession.loopback())

            checkOrder(found)
        }

        @Test func `T-API-34 a coded body has two lengths`() async throws {
            server.install(.compression)
            let found = try await metrics(of: URLRequest(url: server.url("/gzip")), in: URLSession.loopback())
            let entry = try #require(found.transactionMetrics.first)
            #expect(entry.countOfResponseBodyBytesReceived > 0)
            #expect(entry.countOfResponseBodyBytesAfterDecoding != entry.countOfResponseBodyBytesReceived)
            checkOrder(found)
        }
    }

    /// What takes another connection, or time.
    @Suite("Metrics of every attempt, in a virtual world")
    final class VirtualMetrics: WorldSuite {
        private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

        private func stamps(_ events: TaskEvents) throws -> [URLSessionTaskTransactionMetrics] {
            let metrics = try #require(events.record.metrics)
            for entry in metrics.transactionMetrics { #expect(entry.stamps == entry.stamps.sorted()) }
            return metrics.transactionMetrics
        }

        @Test func `T-API-34 a request that is sent again on a fresh connection has two entries`() throws {
            world.scripts(
                "api.test",
                [
                    [.expectRequest, .reply(Self.plain), .expectRequest, .close],
                    [.expectRequest, .reply(Self.plain), .again],
                ]
            )
            world.load("http://api.test/1")
            let events = world.load("http://api.test/2")

            let entries = try stamps(events)
            #expect(entries.map(\.isReusedConnection) == [true, false])
            #expect(entries.map(\.status) == [nil, 200])
            #expect(entries[0].requestEndDate != nil && entries[0].responseStartDate == nil)
            #expect(entries[1].connectStartDate != nil && entries[1].fetchStartDate != nil)
        }

        @Test func `T-API-34 an interim response is not the beginning of the response`() throws {
            world.configure { $0.expectsContinueAbove = 0 }
            world.respond("api.test") { _, moment, client in
                if moment == .head { return client.send("HTTP/1.1 100 Continue\r\n\r\n") }
                client.after(.milliseconds(50)) { $0.send(Self.plain) }
            }
            let events = world.send("PUT", "http://api.test/", body: Data("body".utf8))
            world.run { events.isComplete }

            let entry = try #require(try stamps(events).first)
            #expect(entry.status == 200 && entry.countOfRequestBodyBytesSent == 4)
            let sent = try #require(entry.requestEndDate)
            let answered = try #require(entry.responseStartDate)
            #expect(answered.timeIntervalSince(sent) >= 0.049)
        }

        @Test func `T-API-34 a request that gives up while connecting is told how far the connection came`() throws {
            world.host("api.test", "192.0.2.1")
            world.set(.neverAnswers, for: "192.0.2.1")
            let events = world.get("http://api.test/", idleTimeout: .seconds(5))
            world.run { events.isComplete }

            let entry = try #require(try stamps(events).first)
            #expect(entry.domainLookupEndDate != nil && entry.connectStartDate != nil && entry.connectEndDate == nil)
            #expect(entry.resourceFetchType == .unknown)
        }

        @Test func `T-API-34 a proxy that wants to know who asks has entries of its own`() throws {
            let space = URLProtectionSpace(
                proxyHost: "proxy.test",
                port: 3128,
                type: NSURLProtectionSpaceHTTPProxy,
                realm: "x",
                authenticationMethod: NSURLAuthenticationMethodHTTPDigest
            )
            let storage = URLCredentialStorage()
            storage.setDefaultCredential(
                URLCredential(user: "me", password: "secret", persistence: .forSession),
                for: space
            )
            let bench = ProxyBench { configuration in
                var proxies = ProxyConfiguration()
                proxies.all = try? ProxyServer("http://proxy.test:3128")
                proxies.tunnelsPlainHTTP = true
                configuration.proxies = proxies
                configuration.urlCredentialStorage = storage
            }
            let no = "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Digest realm=\"x\", nonce=\"n\", qop=\"auth\"\r\n"
            bench.proxy(scripts: [
                [.head(no + "Content-Length: 0\r\n\r\n")], [.head(ProxyBench.granted), .echo],
            ])

            let events = bench.send("http://api.test/x")

            let entries = try stamps(events)
            #expect(entries.map(\.status) == [407, 200] && entries.allSatisfy(\.isProxyConnection))
            #expect(entries[0].requestStartDate == nil && entries[0].connectStartDate != nil)
            #expect(bench.finish() == [])
        }
    }
}
