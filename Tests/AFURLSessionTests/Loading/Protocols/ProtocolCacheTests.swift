@testable import AFURLSession
@testable import AFURLTypes

@Suite("What classes of the program have stored")
struct ProtocolCacheTests {
    private let cache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0)

    private func session(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        StubSite.session(delegate: delegate) { $0.urlCache = cache }
    }

    private func site(
        _ policy: URLCache.StoragePolicy,
        _ fields: [String: String] = ["Cache-Control": "max-age=60"],
        status: Int = 200
    ) -> StubSite {
        StubSite { stub in
            stub.begin(stub.response(status, fields), policy)
            stub.load("stored")
            stub.finish()
        }
    }

    private func stored(_ site: StubSite) -> CachedURLResponse? {
        cache.cachedResponse(for: URLRequest(url: site.url()))
    }

    @Test func `T-CAC-28 what a class has answered reaches no session that asks the server itself`() async throws {
        let server = try TestServer()
        server.route("GET", "/page", .text("the server's"))
        let stub = site(.allowed)
        let url = stub.url("/page")
        #expect(try await session().outcome(of: url).text == "stored")
        try await eventually { cache.cachedResponse(for: URLRequest(url: url)) != nil }
        let place = try #require(HostOverride(host: stub.host, toHost: "127.0.0.1", toPort: Int(server.port)))

        let plain = URLSession.loopback {
            $0.urlCache = cache
            $0.hostOverrides = [place]
        }

        #expect(try await plain.outcome(of: url).text == "the server's")
        #expect(server.requests.count == 1)
    }

    @Test func `a response is stored if the class, the rules and the delegate allow it`() async throws {
        let allowed = site(.allowed)
        #expect(try await session().outcome(of: allowed.url()).text == "stored")
        try await eventually { stored(allowed)?.data == Data("stored".utf8) }

        let bare = site(.allowed, [:])
        #expect(try await session().outcome(of: bare.url()).text == "stored")
        try await eventually { stored(bare)?.data == Data("stored".utf8) }

        let refused = [
            site(.notAllowed), site(.allowed, ["Cache-Control": "no-store"]), site(.allowed, [:], status: 404),
            site(.allowed, ["Cache-Control": "no-cache"], status: 500),
            site(.allowed, ["Cache-Control": "max-age=60"], status: 401),
        ]
        let unasked = CacheAsked()
        for site in refused {
            #expect(try await session().outcome(of: site.url()).text == "stored")
            session(unasked).dataTask(with: site.url()).resume()
        }
        var silent = URLRequest(url: site(.allowed).url())
        silent.setValue("no-store", forHTTPHeaderField: "Cache-Control")
        session(unasked).dataTask(with: silent).resume()
        try await unasked.log.finished(refused.count + 1)
        #expect(unasked.proposals.value == [])

        let delegate = CacheAsked()
        let asked = site(.allowedInMemoryOnly)
        let asking = session(delegate)
        asking.dataTask(with: asked.url()).resume()
        try await delegate.log.finished()
        #expect(delegate.proposals.value.map(\.storagePolicy) == [.allowedInMemoryOnly])
        await asking.settled()
        #expect(stored(asked) == nil && refused.allSatisfy { stored($0) == nil })
    }

    @Test func `the class is given what is stored, and may answer with it`() async throws {
        let site = StubSite { stub in
            guard let cached = stub.cachedResponse else { return stub.fail(URLError(.resourceUnavailable)) }
            stub.client?.urlProtocol(stub, cachedResponseIsValid: cached)
            stub.answer("not this")
        }
        let response = try #require(
            HTTPURLResponse(url: site.url(), statusCode: 203, httpVersion: nil, headerFields: nil)
        )
        cache.storeCachedResponse(
            CachedURLResponse(response: response, data: Data("from before".utf8)),
            for: URLRequest(url: site.url())
        )
        let log = EventLog()
        let session = session(log)

        let outcome = try await session.outcome(of: site.url())
        #expect(outcome.text == "from before" && outcome.status == 203)
        session.dataTask(with: site.url()).resume()
        try await log.finished()
        #expect(log.metrics.withLock { $0 }?.transactionMetrics.map(\.resourceFetchType) == [.localCache])
        var fresh = URLRequest(url: site.url())
        fresh.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(try await session.outcome(of: fresh).error?.code == .resourceUnavailable)
    }
}

/// Has nothing stored.
private final class CacheAsked: URLSessionDataDelegate {
    let proposals = Watched<[CachedURLResponse]>([])
    let log = EventLog()

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        proposals.change { $0.append(proposedResponse) }
        completionHandler(nil)
        completionHandler(proposedResponse)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.urlSession(session, task: task, didCompleteWithError: error)
    }
}
