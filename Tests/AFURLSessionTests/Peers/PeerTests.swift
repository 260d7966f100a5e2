import AFSecurity
import AFTLS

/// What was measured to go wrong with other clients on Linux (M1 to M22), tried with this one.
///
/// Not here: WebSockets (M6) and forms (M16, but for the streams that were behind it), which this target has not, and
/// the size of programs (M12).
@Suite("What went wrong with others")
struct PeerTests {
    private let server: TestServer
    private let other: TestServer
    private let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
        other = try TestServer()
    }

    @Test func `M1 a body that is posted arrives behind a 307`() async throws {
        server.route("POST", "/1", ServerReply.status(307).header("Location", "/2"))
        server.route("POST", "/2") { .text("\($0.body.count) \($0.bodyText)") }

        let outcome = try await session.outcome(of: URLRequest("POST", server.url("/1"), body: Data("hello".utf8)))

        #expect(outcome.text == "5 hello")
    }

    @Test func `M2 neither secrets set by hand nor cookies of the first host reach the second`() async throws {
        let away = other.url("/2", host: "localhost").absoluteString
        let reply = ServerReply.status(302).header("Location", away).header("Set-Cookie", "jar=canary; Path=/")
        server.route("GET", "/1", reply)
        other.route("GET", "/2", .text("there"))
        let secrets = ["Authorization": "canary", "Cookie": "own=canary", "X-Api-Key": "canary"]

        for fields in [secrets, [:]] {
            let request = URLRequest("GET", server.url("/1", host: "127.0.0.1"), fields: fields)
            #expect(try await session.outcome(of: request).text == "there")
        }

        #expect(other.requests.count == 2)
        for request in other.requests {
            #expect(!String(decoding: request.rawHead, as: UTF8.self).contains("canary"))
        }
    }

    @Test func `M3 the resource timeout ends a drip of ten seconds after two`() {
        let world = VirtualWorld()
        world.configure { $0.timeoutIntervalForResource = 2 }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
        let drip = String(repeating: "x", count: 100)
        world.script("a.test", .expectRequest, .reply(head), .dribble(drip, 10, every: .seconds(1)))
        let start = world.now

        let events = world.load("http://a.test/")

        #expect(events.error?.code == .timedOut)
        #expect(start.duration(to: world.now) < .seconds(3))
        #expect(world.finish() == [])
    }

    @Test func `M4 metrics arrive, with every phase that happened`() async throws {
        let log = EventLog()
        server.route("GET", "/1", .text("x"))
        URLSession.loopback(delegate: log).dataTask(with: server.url("/1")).resume()
        try await log.finished()

        let metrics = try #require(log.metrics.withLock { $0 }?.transactionMetrics.first)
        #expect(metrics.connectStartDate != nil && metrics.requestStartDate != nil && metrics.responseEndDate != nil)
        #expect(metrics.resourceFetchType == .networkLoad && metrics.remotePort == Int(server.port))
    }

    @Test func `M5 the proxy dictionary is obeyed, and so is the environment if there is none`() throws {
        let dictionary: [AnyHashable: Any] = [
            kCFNetworkProxiesHTTPEnable: 1, kCFNetworkProxiesHTTPProxy: "proxy.test", kCFNetworkProxiesHTTPPort: 3128,
        ]
        for isConfigured in [true, false] {
            let world = VirtualWorld()
            world.environment = { ["http_proxy": isConfigured ? "http://wrong.test:1" : "http://proxy.test:3128"] }
            world.configure { if isConfigured { $0.connectionProxyDictionary = dictionary } }
            world.respond("proxy.test", port: 3128) { request, moment, client in
                if moment == .complete { client.send(VirtualWorld.echo(request.target)) }
            }

            #expect(world.load("http://a.test/1").body == "http://a.test/1")
            #expect(world.network.connections.map(\.host) == ["proxy.test"])
            #expect(world.finish() == [])
        }
    }

    @Test func `M7 a task of an invalidated session fails, and nothing dies`() async throws {
        let session = URLSession.loopback()
        session.invalidateAndCancel()

        #expect(try await session.outcome(of: server.url("/1")).error != nil)
        await #expect(throws: URLError.self) { try await session.data(from: server.url("/1")) }
        session.downloadTask(with: server.url("/1")).resume()
        session.dataTask(with: server.url("/1")).cancel()
        await session.settled()
        #expect(server.acceptedConnections == 0)
    }

    @Test func `M8 an error about a certificate says so, with a code of its own and the store that was used`()
        async throws
    {
        let site = try SecuredSite()
        let untrusted = try await URLSession.loopback().outcome(of: site.server.url("/hello"))
        #expect(untrusted.code == -1203 && untrusted.reason == .trust)
        #expect(untrusted.error?.loadFailure?.message.isEmpty == false)
        let pinned = try await site.session { $0.evaluator = FixedEvaluator.refusing }.outcome(of: site.server.url())
        #expect(pinned.code == -1202 && pinned.reason == .trust)
    }

    @Test(arguments: ["MD5", "SHA-256", "SHA-512-256"])
    func `M9 a Digest challenge is answered`(algorithm: String) async throws {
        server.install(.authentication)
        let witness = Witness { $0.challenge = URLSession.AuthChallengeDisposition.password("me", "secret") }

        let url = server.url("/digest-auth/auth/me/secret/\(algorithm)")
        #expect(try await URLSession.loopback(delegate: witness).outcome(of: url).status == 200)
    }

    @Test func `M10 two hundred megabytes of zeros in two hundred kilobytes are stopped on their way`() async throws {
        let bomb = Coded.bomb(gibibytes: 1).prefix(300_000)
        server.route("GET", "/1", ServerReply.data(bomb).header("Content-Encoding", "gzip"))
        let log = EventLog()
        let task = URLSession.loopback(delegate: log).dataTask(with: server.url("/1"))
        task.resume()

        let events = try await log.finished()

        #expect(events.last == .completed(URLError.cannotDecodeRawData.rawValue))
        #expect(task.countOfBytesReceived <= 20 << 20)
    }

    @Test func `M14 what cannot heal fails at once`() async throws {
        let closed = try TestServer()
        let refused = closed.url("/1", host: "127.0.0.1")
        closed.stop()
        let site = try SecuredSite()
        // A client that tries again until its deadline would keep the test waiting for an hour.
        let patient = URLSession.loopback { $0.timeoutIntervalForRequest = 3600 }

        #expect(try await patient.outcome(of: refused).code == -1004)
        #expect(try await patient.outcome(of: site.server.url("/hello")).code == -1203)
    }

    @Test(arguments: TLSVersion.allCases)
    func `M15 a server whose pin is wrong never sees who we are`(version: TLSVersion) async throws {
        let site = try SecuredSite { tls, _ in tls.clientCertificates = .requested }
        let identity = try site.identity("me")
        let session = site.session {
            $0.identity = identity
            $0.evaluator = FixedEvaluator.refusing
            $0.speak(version)
        }

        #expect(try await session.outcome(of: site.server.url("/hello")).code == -1202)

        session.invalidateAndCancel()
        #expect(try await site.handshakes().allSatisfy { $0.clientCertificates.isEmpty })
        let trusting = site.session {
            $0.identity = identity
            $0.speak(version)
        }
        #expect(try await trusting.outcome(of: site.server.url("/hello")).text == "hello")
        trusting.invalidateAndCancel()
        #expect(try await site.handshakes().contains { !$0.clientCertificates.isEmpty })
    }

    @Test func `M18 a download that is cancelled leaves what is needed to go on`() async throws {
        let content = pattern(400_000)
        server.route("GET", "/1") { request in
            let reply = ServerReply.file(content, entityTag: "\"1\"", to: request)
            return request.headers["Range"] == nil ? reply.stalling(after: 200_000) : reply
        }
        let task = session.downloadTask(with: server.url("/1"))
        task.resume()
        try await eventually { task.countOfBytesReceived >= 200_000 }

        let data = try #require(await task.cancelByProducingResumeData())
        let (file, _) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: file) }

        #expect(try Data(contentsOf: file) == content)
        #expect(server.requests.last?.headers["Range"] != nil)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\u{0}b"])
    func `M21 a field that would break the head fails the request, and says which it is`(value: String) async throws {
        let outcome = try await session.outcome(of: URLRequest("GET", server.url("/1"), fields: ["X-Mine": value]))

        #expect(outcome.reason == .request && outcome.error?.loadFailure?.message.contains("X-Mine") == true)
        #expect(server.acceptedConnections == 0)
    }

    @Test func `M22 what can be decoded is asked for, and nothing else`() async throws {
        server.route("GET", "/1") { .text($0.headers["Accept-Encoding"] ?? "none") }

        let asked = try await session.outcome(of: server.url("/1")).text ?? ""
        let codings = Set(asked.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })

        #expect(codings.isSuperset(of: ["gzip", "deflate"]))
        #expect(codings.isSubset(of: ["gzip", "deflate", "br", "zstd"]))
    }

    @Test func `M13 the package needs no other`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let manifest = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)

        #expect(!manifest.contains(".package("))
    }
}
