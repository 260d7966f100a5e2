import AFState

@testable import AFTransport
@testable import AFURLSession
@testable import AFURLTypes

/// A call of `connect(to:count:)` in a virtual world, where no test can wait.
struct Connecting {
    private let answer = AwaitedResult<Int>()
    private let world: World
    private let call: LoopBound<WarmUpCall>

    init(_ url: URL, count: Int, in session: URLSession) {
        let answer = answer
        world = session.world
        call = session.core.joined { WarmUpCall(url, count: count, of: session, in: $0, answer: answer) }
    }

    func begin() { world.enqueue { [call] in call.value.begin() } }
    func cancel() { world.enqueue { [call] in call.value.cancel() } }

    /// How many are idle; nil if it failed, or has not ended.
    var idle: Int? { try? answer.taken() }

    var error: URLError? {
        do {
            _ = try answer.taken()
            return nil
        } catch let error as URLError where error.code != .unknown {
            return error
        } catch {
            return nil
        }
    }
}

@Suite("Connecting before requests")
final class ConnectingTests: WorldSuite {
    private func connect(_ url: String, count: Int = 1) throws -> Connecting {
        let call = Connecting(try #require(URL(string: url)), count: count, in: world.session)
        call.begin()
        world.advance(by: .seconds(1))
        return call
    }

    @Test func `T-WRM-01 requests find the connections, and no monitor or task counts them`() throws {
        let tape = EventTape()
        world.configure { $0.eventMonitors = [tape] }
        world.serveEcho("api.test")
        let call = try connect("http://api.test/some/where?at=all#there", count: 2)

        #expect(call.idle == 2 && world.network.connections.map(\.receivedCount) == [0, 0])
        #expect(tape.all.allSatisfy { $0.task == nil } && world.session.madeTasks.isEmpty)
        let loads = ["/1", "/2"].map { world.get("http://api.test\($0)") }
        world.run { loads.allSatisfy(\.isComplete) }
        #expect(loads.map(\.body) == ["/1", "/2"] && world.network.connections.count == 2)
        #expect(loads.map(\.task.taskIdentifier) == [1, 2])
    }

    @Test func `a redirect finds it, too`() throws {
        world.script(
            "first.test",
            .expectRequest,
            .reply("HTTP/1.1 302 Found\r\nLocation: http://api.test/end\r\nContent-Length: 0\r\n\r\n"),
            .again
        )
        world.serveEcho("api.test")
        let call = try connect("http://api.test")

        #expect(call.idle == 1 && world.load("http://first.test/").body == "/end")
        #expect(world.network.connections.map(\.host) == ["api.test", "first.test"])
    }

    enum Trouble: CaseIterable { case refused, unknown, filtered, pinned, scheme, name, proxy, noProxy }

    private struct Pinning: ServerEvaluator {
        func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
        func forbidsPlainText(to host: String) -> Bool { true }
    }

    @Test(arguments: Trouble.allCases)
    func `T-WRM-05 what would fail a request fails it with the same error`(trouble: Trouble) throws {
        let proxy = try ProxyServer("http://proxy.test:3128")
        world.configure { configuration in
            switch trouble {
            case .filtered: configuration.addressFilter = AddressFilter { _ in false }
            case .pinned: configuration.tls.evaluator = Pinning()
            case .proxy:
                configuration.proxies = ProxyConfiguration(proxy)
                configuration.proxies?.tunnelsPlainHTTP = true
            case .noProxy:
                configuration.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "a b", "HTTPPort": 1]
            default: break
            }
        }
        if trouble != .unknown { world.host("api.test", "192.0.2.1") }
        if trouble == .refused { world.set(.refuses(), for: "192.0.2.1") }
        world.serve("proxy.test", port: 3128) { LayeredServer([.head("HTTP/1.1 403 No\r\n\r\n"), .close], .init()) }
        let urls: [Trouble: String] = [.scheme: "gopher://api.test/", .name: "http://a_%20b/"]
        let url = urls[trouble] ?? "http://api.test/"
        let error = try connect(url).error
        let other = world.load(url).error

        #expect(error != nil && error?.code == other?.code)
        #expect(error?.loadFailure?.message == other?.loadFailure?.message)
        #expect(error?.failingURL == other?.failingURL)
        if [.filtered, .pinned, .scheme, .noProxy].contains(trouble) { #expect(world.network.connections.isEmpty) }
    }

    @Test func `T-WRM-05 a host that wants TLS is connected to with TLS`() throws {
        let store = HSTSStore()
        store.insert(try #require(.init(host: "api.test", includesSubdomains: false, expires: .distantFuture)))
        world.configure { $0.strictTransportSecurity = store }
        world.serveEcho("api.test")
        world.serve("api.test", port: 443) { LayeredServer([.bytes(99_999, [])], .init()) }
        let call = try connect("http://api.test/")

        #expect(world.network.connections.map(\.address.port) == [443])
        call.cancel()
        world.settle()
        #expect(call.error?.code == .cancelled && world.network.openConnections.isEmpty)
    }

    @Test func `T-WRM-06 it takes no longer than a request may wait`() throws {
        world.host("api.test", "192.0.2.1")
        world.set(.neverAnswers, for: "192.0.2.1")
        let call = try connect("http://api.test/")
        world.advance(by: .seconds(58))
        #expect(call.error == nil)
        world.advance(by: .seconds(2))

        #expect(call.error?.code == .timedOut && world.network.openConnections.isEmpty)
    }

    @Test(arguments: [true, false])
    func `T-WRM-06 the end of the session is its end`(before: Bool) throws {
        world.host("api.test", "192.0.2.1")
        world.set(.neverAnswers, for: "192.0.2.1")
        if before { world.session.invalidateAndCancel() }
        let call = try connect("http://api.test/")
        if !before { world.session.finishTasksAndInvalidate() }
        world.settle()

        let expected = LoadError.sessionInvalidated.urlError(for: nil).loadFailure?.message
        #expect(call.error?.loadFailure?.message == expected && expected != nil)
        #expect(world.network.openConnections.isEmpty)
    }

    @Test func `one that is cancelled before it begins does nothing`() throws {
        world.serveEcho("api.test")
        let call = Connecting(try #require(URL(string: "http://api.test/")), count: 1, in: world.session)
        call.cancel()
        call.begin()
        world.settle()

        #expect(call.error?.code == .cancelled && world.network.connections.isEmpty)
    }

    @Test(arguments: [0, -1])
    func `none are asked for, and none made`(count: Int) throws {
        #expect(try connect("http://api.test/", count: count).idle == 0 && world.network.connections.isEmpty)
    }

    // MARK: - A minimum

    private func keep(_ count: Int, _ configure: (URLSessionConfiguration) -> Void = { _ in }) throws {
        let url = try #require(URL(string: "http://api.test/"))
        world.configure {
            $0.minimumIdleConnections = [url: count]
            configure($0)
        }
        _ = world.session
        world.advance(by: .milliseconds(10))
    }

    private var open: Int { world.network.openConnections.count }

    @Test func `the session keeps as many idle, and makes another when a request takes one`() throws {
        world.serveEcho("api.test", after: .seconds(5))
        try keep(2)
        #expect(open == 2)
        let load = world.get("http://api.test/")
        world.advance(by: .seconds(1))
        #expect(open == 3 && !load.isComplete)
        world.run { load.isComplete }
        _ = world.get("http://api.test/")
        world.advance(by: .seconds(1))

        #expect(open == 3)
    }

    @Test func `what is too old is replaced`() throws {
        world.serveEcho("api.test")
        try keep(1) { $0.idleConnectionTimeout = 20 }
        for _ in 1...10 {
            world.advance(by: .seconds(23))
            #expect(open == 1)
        }
        #expect(world.network.connections.count > 9)
    }

    @Test(arguments: [0, 1])
    func `T-WRM-12 a server that closes at once is asked once a minute`(kind: Int) throws {
        if kind == 0 { world.script("api.test", .close) } else { world.host("api.test", "192.0.2.1") }
        if kind == 1 { world.set(.refuses(), for: "192.0.2.1") }
        try keep(1)
        world.advance(by: .seconds(60))
        #expect((4...7).contains(world.network.connections.count))
        world.advance(by: .seconds(3600))

        #expect((45...70).contains(world.network.connections.count))
    }

    @Test func `T-WRM-12 the limits allow no more, and it asks again later`() throws {
        world.serveEcho("api.test")
        world.serveEcho("other.test", after: .seconds(50))
        try keep(2) { $0.maximumConnections = 1 }
        #expect(open == 1)
        let load = world.get("http://other.test/")
        world.advance(by: .seconds(30))
        #expect(open == 1 && world.network.connections.map(\.host) == ["api.test", "other.test"])
        world.run { load.isComplete }
        world.advance(by: .seconds(300))

        #expect(load.body == "/" && world.network.connections.map(\.host).last == "api.test")
    }

    @Test func `T-WRM-06 it ends with the session`() throws {
        world.serveEcho("api.test")
        world.serveEcho("slow.test", after: .seconds(50))
        try keep(1) { $0.idleConnectionTimeout = 10 }
        let load = world.get("http://slow.test/")
        world.session.finishTasksAndInvalidate()
        world.advance(by: .seconds(45))

        // The one that was there has grown old, and none has come after it.
        #expect(!load.isComplete && world.network.connections.map(\.host).sorted() == ["api.test", "slow.test"])
        world.run { load.isComplete }
    }

    @Test func `T-WRM-06 a session that the program has released keeps nothing`() throws {
        let world = VirtualWorld()
        world.serveEcho("api.test")
        let url = try #require(URL(string: "http://api.test/"))
        _ = world.makeSession { $0.minimumIdleConnections = [url: 3] }
        world.advance(by: .seconds(1))
        #expect(world.network.openConnections.count == 3)

        #expect(world.finish(expectsRelease: true) == [])
        #expect(world.network.openConnections.isEmpty)
    }

    @Test func `a URL of no server has no effect`() throws {
        world.configure { $0.minimumIdleConnections = [URL(fileURLWithPath: "/tmp"): 1] }
        _ = world.session
        world.advance(by: .seconds(60))

        #expect(world.network.connections.isEmpty)
    }

    @Test func `T-WRM-06 a session that is reset has its minimum again, of new connections`() throws {
        world.serveEcho("api.test")
        try keep(1)
        world.session.reset {}
        world.settle()
        #expect(open == 0)
        world.advance(by: .seconds(5))

        #expect(open == 1 && world.network.connections.count == 2)
    }

    // MARK: - The program's resolver

    @Test func `T-WRM-10 what one resolver's place has answered is not another session's`() throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20)
        let asked = Lock<[String]>([])
        var resolver = NameResolver { question in
            asked.withLock { $0.append(question.host) }
            return NameResolver.Answer(["192.0.2.7"])
        }
        resolver.executor = LoopTaskExecutor(world.loop)
        world.host("false.test", "192.0.2.7")
        world.respond("false.test") { _, moment, client in
            if moment == .complete { client.send(VirtualSystem.echo("false", fields: "Cache-Control: max-age=99\r\n")) }
        }
        world.serveEcho("api.test", fields: "Cache-Control: max-age=99\r\n")
        world.configure { [resolver] in ($0.urlCache, $0.nameResolver) = (cache, resolver) }
        #expect(world.load("http://api.test/").body == "false" && world.load("http://api.test/").body == "false")
        #expect(asked.withLock { $0 } == ["api.test"])
        let (other, _) = world.makeSession { $0.urlCache = cache }
        let body = Lock("")
        let url = try #require(URL(string: "http://api.test/"))
        other.dataTask(with: url) { data, _, _ in body.withLock { $0 = String(decoding: data ?? Data(), as: UTF8.self) }
        }
        .resume()
        world.run { body.withLock { $0 != "" } }

        #expect(body.withLock { $0 } == "/")
        let scopes = SessionScopes(world.session.settings)
        let named = try Endpoint(scheme: .https, host: "api.test", port: 443)
        let literal = try Endpoint(scheme: .https, host: "192.0.2.1", port: 443)
        #expect(!scopes.scope(of: named, under: nil, word: .none, isProven: true).isLasting)
        let here = SessionScopes(SessionSettings())
        #expect(
            scopes.scope(of: literal, under: nil, word: .none, isProven: true).isLasting
                == here.scope(of: literal, under: nil, word: .none, isProven: true).isLasting
        )
    }

    @Test func `T-WRM-08 an error names the resolver`() throws {
        struct Lost: Error {}
        var resolver = NameResolver { _ in throw Lost() }
        resolver.executor = LoopTaskExecutor(world.loop)
        world.configure { [resolver] in $0.nameResolver = resolver }
        let error = world.load("http://api.test/").error

        #expect(error?.code == .dnsLookupFailed && error?.loadFailure?.message.contains("nameResolver") == true)
        #expect(error?.loadFailure?.advice == "Check the nameResolver of the session.")
    }
}

extension SecuredTests {
    /// Connections that are made and judged before requests.
    struct Connecting {
        private let site: SecuredSite

        init() throws {
            site = try SecuredSite()
        }

        private var url: URL { site.server.url("/hello") }

        @Test(arguments: TLSVersion.allCases)
        func `T-WRM-01 the handshake is made before the request`(version: TLSVersion) async throws {
            let session = site.session { $0.speak(version) }
            #expect(try await session.connect(to: url) == 1)
            #expect(site.server.requests.isEmpty && site.server.connections.map { $0.tls?.isFresh } == [true])

            #expect(try await session.outcome(of: url).text == "hello" && site.server.acceptedConnections == 1)
        }

        @Test func `T-WRM-05 a server that the pins refuse is refused, with the error of a request`() async throws {
            let session = site.session { $0.evaluator = FixedEvaluator.refusing }
            let error = await #expect(throws: URLError.self) { try await session.connect(to: url) }
            let outcome = try await session.outcome(of: url)

            #expect(error?.code.rawValue == outcome.code && error?.code == .serverCertificateUntrusted)
            #expect(error?.loadFailure?.security?.host == "127.0.0.1" || error?.loadFailure?.security != nil)
        }

        @Test func `T-WRM-04 pins that tighten while it rests close it`() async throws {
            let session = site.session()
            try await session.connect(to: url, count: 2)
            session.tls.evaluator = FixedEvaluator.refusing
            let ends = [try await site.ended(1), try await site.ended(2)]

            #expect(ends.allSatisfy { $0.requestCount == 0 })
            #expect(try await session.outcome(of: url).code == -1202)
        }

        @Test func `T-WRM-04 pins that tighten during the handshake decide about it`() async throws {
            let session = site.session()
            site.server.script(on: .connection(1), .pause(until: "go"), .handshake, .serve)
            let call = Task { try await session.connect(to: url) }
            try await site.server.waitForConnections(1)
            session.tls.evaluator = FixedEvaluator.refusing
            site.server.signal("go")

            await #expect(throws: URLError.self) { try await call.value }
            #expect(try await site.ended(1).requestCount == 0)
        }

        @Test func `T-WRM-05 the session's delegate judges the server once`() async throws {
            let delegate = TrustDelegate { TrustDelegate.trusting($0) }
            let session = site.session(delegate: delegate) { $0.anchors = .certificates([]) }
            try await session.connect(to: url)
            #expect(delegate.methods.value.count == 1)

            #expect(try await session.outcome(of: url).text == "hello" && delegate.methods.value.count == 1)
            #expect(site.server.acceptedConnections == 1)
        }

        @Test(arguments: [true, false])
        func `T-WRM-05 a delegate that judges for tasks is asked with one that never runs`(accepts: Bool) async throws {
            let delegate = TaskTrustDelegate { challenge in
                guard accepts, let answer = TrustDelegate.trusting(challenge) else {
                    return (.rejectProtectionSpace, nil)
                }
                return answer
            }
            let session = site.session(delegate: delegate)
            let count = try? await session.connect(to: url)

            #expect(count == (accepts ? 1 : nil) && delegate.count == 1)
            #expect(site.server.requests.isEmpty)
        }

        @Test func `cancelling the Swift task ends the call`() async throws {
            let session = site.session()
            site.server.script(on: .connection(1), .pause(until: "never"), .handshake, .serve)
            let task = Task { try await session.connect(to: url) }
            try await site.server.waitForConnections(1)
            task.cancel()

            let error = await #expect(throws: URLError.self) { try await task.value }
            site.server.signal("never")
            #expect(error?.code == .cancelled)
            #expect(try await site.ended(1).requestCount == 0)
        }
    }
}
