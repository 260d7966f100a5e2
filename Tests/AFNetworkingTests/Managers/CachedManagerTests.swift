/// Managers whose session has a cache. The session collects the body that the completion handler gets, and the cache
/// stores the same bytes; with a block or a subclass that hears of pieces the cache gathers a copy of its own.
@Suite("Managers whose session has a cache")
struct CachedManagerTests {
    /// Who hears of bodies beside the completion handler.
    enum Hearing: CaseIterable, Sendable {
        case nobody
        case block
        case subclass
    }

    /// Hears of each piece in a method of its own.
    private final class Listening: HTTPSessionManager, @unchecked Sendable {
        let pieces = Heard<Data>()

        override func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            pieces.add(data)
            super.urlSession(session, dataTask: dataTask, didReceive: data)
        }
    }

    private let site: ManagerSite
    private let cache = URLCache(memoryCapacity: 20 << 20, diskCapacity: 0)
    private let heard = Heard<Answer>()

    init() throws {
        site = try ManagerSite()
    }

    /// A manager, and what is heard of pieces.
    private func manager(
        _ hearing: Hearing,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> (manager: HTTPSessionManager, pieces: Heard<Data>) {
        let configuration = site.configuration
        configuration.urlCache = cache
        configure(configuration)
        let base = site.server.url("/")
        let manager: HTTPSessionManager
        var pieces = Heard<Data>()
        if hearing == .subclass {
            let listening = Listening(baseURL: base, sessionConfiguration: configuration)
            (manager, pieces) = (listening, listening.pieces)
        } else {
            manager = HTTPSessionManager(baseURL: base, sessionConfiguration: configuration)
        }
        if hearing == .block { manager.setDataTaskDidReceiveDataBlock { [pieces] _, _, data in pieces.add(data) } }
        manager.responseSerializer = HTTPResponseSerializer()
        return (site.owned(manager), pieces)
    }

    /// Serves a response that the cache may answer with.
    private func serve(_ reply: ServerReply) {
        site.server.route("GET", "/1", reply.header("Cache-Control", "max-age=100"))
    }

    /// Loads it once more.
    private func load(by manager: HTTPSessionManager) async throws -> Answer {
        let count = heard.all.count
        manager.dataTask(with: site.request("/1"), completionHandler: heard.completion).resume()
        return try await heard.wait(for: count + 1)[count]
    }

    private var stored: Data? { cache.cachedResponse(for: site.request("/1"))?.data }

    /// - Parameter count: How long the body is.
    @Test(arguments: Hearing.allCases, [0, 1, 40, 5_000, 65_536, 300_000, 900_000])
    func `in pieces of any size a body is the same for the handler, for the cache and from the cache`(
        hearing: Hearing,
        count: Int
    ) async throws {
        let body = Coded.text(count)
        for reply in [
            ServerReply.data(body), .data(body).chunked(max(1, count / 100)), .data(body).chunked(1, 4_000, 7, 70_000),
            .data(body).dribbling(max(1, count / 5), every: .milliseconds(1)),
        ] {
            let (manager, pieces) = manager(hearing)
            let served = site.server.requests.count
            cache.removeAllCachedResponses()
            serve(reply)

            let first = try await load(by: manager)
            #expect(first.object as? Data == body && first.error == nil)
            #expect(stored == body)
            let second = try await load(by: manager)
            #expect(second.object as? Data == body && second.error == nil)

            #expect(site.server.requests.count == served + 1)
            if hearing != .nobody { #expect(Data(pieces.all.joined()) == body + body) }
        }
    }

    @Test(arguments: Hearing.allCases)
    func `a coded body is stored as the handler gets it`(hearing: Hearing) async throws {
        let text = Coded.text(300_000)
        for reply in [ServerReply.data(Coded.gzip(text)), .data(Coded.gzip(text)).chunked(1_000)] {
            let (manager, pieces) = manager(hearing)
            let served = site.server.requests.count
            cache.removeAllCachedResponses()
            serve(reply.header("Content-Encoding", "gzip"))

            for _ in 1...2 { #expect(try await load(by: manager).object as? Data == text) }

            #expect(stored == text && site.server.requests.count == served + 1)
            if hearing != .nobody { #expect(Data(pieces.all.joined()) == text + text) }
        }
    }

    @Test(arguments: Hearing.allCases, [false, true])
    func `a body that breaks off is an error and not stored, and the next request loads it whole`(
        hearing: Hearing,
        isCoded: Bool
    ) async throws {
        let body = Coded.text(90_000)
        let whole = isCoded ? ServerReply.data(Coded.gzip(body)).header("Content-Encoding", "gzip") : .data(body)
        let (manager, pieces) = manager(hearing)
        serve(whole.chunked(500).closing(after: 3_000))

        let broken = try await load(by: manager)
        #expect(broken.error?.code == NSURLErrorNetworkConnectionLost && broken.object == nil)
        #expect(stored == nil)
        let part = Data(pieces.all.joined())
        #expect(body.starts(with: part) && part.count < body.count)

        pieces.removeAll()
        serve(whole.chunked(500))
        for _ in 1...2 { #expect(try await load(by: manager).object as? Data == body) }
        #expect(stored == body && site.server.requests.count == 2)
        if hearing != .nobody { #expect(Data(pieces.all.joined()) == body + body) }
    }

    @Test(arguments: Hearing.allCases, [false, true])
    func `a body that is longer than the cache takes reaches the handler, and outdates what was stored`(
        hearing: Hearing,
        tellsLength: Bool
    ) async throws {
        let (manager, pieces) = manager(hearing)
        serve(.text("short"))
        #expect(try await load(by: manager).object as? Data == Data("short".utf8))
        #expect(stored == Data("short".utf8))

        let body = Coded.text(3 << 20)
        serve(tellsLength ? .data(body) : .data(body).chunked(50_000))
        var request = site.request("/1")
        request.cachePolicy = .reloadIgnoringLocalCacheData
        pieces.removeAll()
        manager.dataTask(with: request, completionHandler: heard.completion).resume()
        #expect(try await heard.wait(for: 2)[1].object as? Data == body)

        #expect(stored == nil)
        #expect(try await load(by: manager).object as? Data == body)
        #expect(site.server.requests.count == 3)
        if hearing != .nobody { #expect(Data(pieces.all.joined()) == body + body) }
    }

    @Test(arguments: Hearing.allCases)
    func `a body that is longer than one may be in memory is an error, and is stored only if a program took its pieces`(
        hearing: Hearing
    )
        async throws
    {
        let (manager, _) = manager(hearing) { $0.maximumBodyInMemory = 100_000 }
        serve(.data(Coded.text(100_001)).chunked(9_000))
        let refused = try await load(by: manager)
        #expect(refused.error != nil && refused.object == nil)
        // A program that hears of pieces needs no memory for the whole: the manager refuses the body, not the session.
        #expect(stored == nil || hearing != .nobody)

        cache.removeAllCachedResponses()
        serve(.data(Coded.text(100_000)).chunked(9_000))
        #expect(try await load(by: manager).object as? Data == Coded.text(100_000))
        #expect(stored == Coded.text(100_000))
    }

    @Test(arguments: Hearing.allCases)
    func `a block for the cache sees the whole body, and may change what is stored`(hearing: Hearing) async throws {
        let body = Coded.text(200_000)
        let (manager, pieces) = manager(hearing)
        let proposed = Heard<Data>()
        manager.setDataTaskWillCacheResponseBlock { _, _, proposal in
            proposed.add(proposal.data)
            return CachedURLResponse(response: proposal.response, data: Data("changed".utf8))
        }
        serve(.data(body).chunked(3_000))

        #expect(try await load(by: manager).object as? Data == body)
        #expect(proposed.all == [body])
        #expect(try await load(by: manager).object as? Data == Data("changed".utf8))
        #expect(site.server.requests.count == 1 && proposed.all.count == 1)
        if hearing != .nobody { #expect(Data(pieces.all.joined()) == body + Data("changed".utf8)) }
    }

    @Test(arguments: [false, true])
    func `a block that comes or goes in the middle of a body loses no byte of it`(goes: Bool) async throws {
        let body = Coded.text(40_000)
        let text = String(decoding: body, as: UTF8.self)
        let cut = text.index(text.startIndex, offsetBy: 15_000)
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 40000\r\n\r\n"
        site.server.script(
            .expectRequest,
            .send(head + text[..<cut]),
            .pause(until: "the change"),
            .send(String(text[cut...]))
        )
        let (manager, pieces) = manager(goes ? .block : .nobody)
        let task = manager.dataTask(with: site.request("/1"), completionHandler: heard.completion)
        task.resume()
        try await eventually("a part of the body") { task.countOfBytesReceived >= 15_000 }
        let block: URLSessionManager.DataTaskDidReceiveData = { [pieces] _, _, data in pieces.add(data) }
        manager.setDataTaskDidReceiveDataBlock(goes ? nil : block)
        site.server.signal("the change")

        #expect(try await heard.first.object as? Data == body)
        #expect(stored == body)
        #expect(body.starts(with: Data(pieces.all.joined())))
    }

    @Test func `a body that a rule loads again is stored once, and as it came at last`() async throws {
        let body = Coded.text(50_000)
        var rules = RetryRules()
        rules.baseDelay = .zero
        let (manager, _) = manager(.nobody) { $0.requestInterceptors = [rules] }
        let reply = ServerReply.data(body).chunked(900).header("Cache-Control", "max-age=100")
        site.server.enqueue(reply.closing(after: 20_000), reply.closing(after: 45_000), reply)

        #expect(try await load(by: manager).object as? Data == body)
        #expect(stored == body)
        #expect(try await load(by: manager).object as? Data == body)
        #expect(site.server.requests.count == 3)
    }

    @Test func `verbs and awaited verbs get the very bytes, from the server and from the cache`() async throws {
        let body = Coded.text(123_456)
        let (manager, _) = manager(.nobody)
        serve(.data(body).chunked(10_000))

        #expect(try await manager.get("1").object as? Data == body)
        manager.get("1", parameters: nil, success: heard.success, failure: heard.failure)
        #expect(try await heard.first.object as? Data == body)
        #expect(try await manager.get("1").object as? Data == body)
        #expect(site.server.requests.count == 1)
    }
}
