import AFBase
import AFLoop
import AFNetworkingTesting
import AFTLS
import AFTestFixtures
import AFTestSupport
import AFVirtualWorld
import Foundation
import Testing

@testable import AFURLSession
@testable import AFURLTypes

/// What goes wrong with caches elsewhere, tried over the whole stack.
@Suite("Caches, threatened")
struct CacheThreatTests {
    private let server: TestServer
    private let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
    }

    private func fresh(_ reply: ServerReply) -> ServerReply { reply.header("Cache-Control", "max-age=100") }

    @Test func `T-CAC-05 a cookie that was stored with its response is not set again`() async throws {
        server.route("GET", "/1", fresh(.text("x")).header("Set-Cookie", "a=1; Path=/"))
        _ = try await session.outcome(of: server.url("/1"))
        await session.settled()
        let jar = try #require(session.configuration.httpCookieStorage)
        for cookie in jar.cookies ?? [] { jar.deleteCookie(cookie) }

        #expect(try await session.outcome(of: server.url("/1")).text == "x")

        #expect(server.requests.count == 1 && jar.cookies == [])
    }

    @Test func `T-CAC-09 a 304 that means another version is asked again, once, and then believed`() async throws {
        let isStubborn = Lock(false)
        server.route("GET", "/1") { request in
            guard request.headers["If-None-Match"] != nil || isStubborn.withLock({ $0 }) else {
                return .text("body").header("ETag", "\"1\"").header("Cache-Control", "max-age=0")
            }
            return ServerReply.status(304).header("ETag", "\"2\"")
        }
        #expect(try await session.outcome(of: server.url("/1")).text == "body")
        await session.settled()

        #expect(try await session.outcome(of: server.url("/1")).text == "body")
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\"", nil])

        await session.settled()
        isStubborn.withLock { $0 = true }
        let outcome = try await session.outcome(of: server.url("/1"))
        #expect(outcome.status == 304 && server.requests.count == 5)
    }

    @Test func `T-CAC-09 a 304 without a condition in the request is the answer, and stored nowhere`() async throws {
        server.enqueue(fresh(.status(304)).header("ETag", "\"1\""), .text("body"))

        #expect(try await session.outcome(of: server.url("/1")).status == 304)
        await session.settled()
        #expect(try await session.outcome(of: server.url("/1")).text == "body")
    }

    @Test func `T-CAC-11 a response that may not be stored removes the one that it replaces`() async throws {
        let replies = [
            ServerReply.text("old").header("ETag", "\"1\"").header("Cache-Control", "max-age=0, stale-if-error=1000"),
            ServerReply.text("new").header("Cache-Control", "no-store"),
        ]
        server.enqueue(replies[0], replies[1], .status(500))
        for expected in ["old", "new"] {
            #expect(try await session.outcome(of: server.url("/1")).text == expected)
            await session.settled()
        }

        #expect(try await session.outcome(of: server.url("/1")).status == 500)
        var request = URLRequest(url: server.url("/1"))
        request.cachePolicy = .returnCacheDataDontLoad
        #expect(try await session.outcome(of: request).error?.code == .resourceUnavailable)
    }

    @Test func `a 304 and an answer to HEAD announce bodies that do not come, so their connection stays`() {
        let world = VirtualWorld()
        let length = "Content-Length: 100000\r\n"
        let body = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nCache-Control: max-age=0\r\nContent-Length: 4\r\n\r\nbody"
        let redirect = "HTTP/1.1 302 Found\r\nLocation: /\r\n\(length)\r\n"
        let same = "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\(length)\r\n"
        world.script(
            "a.test",
            .expectRequest,
            .reply(body),
            .expectRequest,
            .reply(same),
            .expectRequest,
            .reply(redirect),
            .expectRequest,
            .reply("HTTP/1.1 200 OK\r\n\(length)\r\n"),
            .stall
        )

        for _ in 1...2 { #expect(world.load("http://a.test/").body == "body") }
        let head = world.send("HEAD", "http://a.test/2")
        world.run { head.isComplete }

        #expect(head.all == [.response(200), .finished])
        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test(arguments: ["Content-Length: 900000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n35a4e900\r\n"])
    func `T-CAC-21 an answer for the cache that is too long for it is not read to its end`(framing: String) {
        let world = VirtualWorld()
        world.configure {
            $0.urlCache = URLCache(memoryCapacity: 40_000, diskCapacity: 0)
            $0.httpMaximumConnectionsPerHost = 1
        }
        let stale = "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, stale-while-revalidate=1000\r\nETag: \"1\"\r\n"
        world.scripts(
            "a.test",
            [
                [
                    .expectRequest, .reply(stale + "Content-Length: 4\r\n\r\nbody"),
                    .expectRequest, .reply(stale + framing), .fill(5_000_000), .stall,
                ],
                [.expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .again],
            ]
        )
        for _ in 1...2 { #expect(world.load("http://a.test/").body == "body") }
        world.run(limit: .seconds(10))

        let other = world.get("http://a.test/2")
        world.run(limit: .seconds(10)) { other.isComplete }

        #expect(other.body == "ok")
        #expect(world.network.connections.count == 2)
        #expect(world.network.connections.first?.isOver == true)
        #expect((world.network.connections.first?.sentCount ?? .max) < 2_000_000)
        #expect(world.finish() == [])
    }

    @Test func `T-CAC-14 a redirect after POST outdates what was kept, as any other success does`() async throws {
        server.route("GET", "/1", fresh(.text("old")))
        server.route("POST", "/1", ServerReply.status(303).header("Location", "/2"))
        server.route("GET", "/2", .text("done"))
        func visits() async throws -> Int {
            _ = try await session.outcome(of: server.url("/1"))
            await session.settled()
            return server.requests.count { $0.method == "GET" && $0.path == "/1" }
        }
        #expect(try await visits() == 1)
        #expect(try await visits() == 1)

        let post = URLRequest("POST", server.url("/1"), body: Data("x".utf8))
        #expect(try await session.outcome(of: post).text == "done")

        #expect(try await visits() == 2)
    }

    @Test(arguments: [false, true])
    func `T-CAC-12 a body that was cut off at any byte, or cancelled there, is not stored`(cancels: Bool) {
        let body = "complete"
        for count in 0..<body.utf8.count {
            let world = VirtualWorld()
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 8\r\n\r\n"
            world.scripts(
                "a.test",
                [
                    [.expectRequest, .reply(head + body.prefix(count)), cancels ? .stall : .close],
                    [.expectRequest, .reply(head + body), .again],
                ]
            )
            let cut = world.get("http://a.test/")
            world.run(limit: .seconds(5)) { cut.isComplete }
            cut.task.cancel()
            world.run { cut.isComplete }
            #expect(cut.error != nil)

            #expect(world.load("http://a.test/").body == body)
            #expect(world.network.connections.count == 2)
            #expect(world.load("http://a.test/").body == body)
            #expect(world.network.connections.count == 2)
            #expect(world.finish() == [])
        }
    }

    @Test func `T-CAC-12 a body that could not be decoded, or is a part, is not stored`() async throws {
        let gzip = Coded.gzip(Data("complete".utf8))
        server.enqueue(
            fresh(.data(gzip.dropLast(4))).header("Content-Encoding", "gzip"),
            fresh(.data(gzip)).header("Content-Encoding", "gzip")
        )
        #expect(try await session.outcome(of: server.url("/1")).error?.code == .cannotDecodeRawData)
        await session.settled()
        #expect(try await session.outcome(of: server.url("/1")).text == "complete")

        server.enqueue(fresh(.text("part").status(206)).header("Content-Range", "bytes 0-3/8"), .text("whole"))
        let range = URLRequest("GET", server.url("/2"), fields: ["Range": "bytes=0-3"])
        #expect(try await session.outcome(of: range).text == "part")
        await session.settled()
        #expect(try await session.outcome(of: server.url("/2")).text == "whole")
    }

    @Test func `T-CAC-28 a response that a lax session stored does not answer a strict one`() async throws {
        let site = try SecuredSite()
        site.server.route("GET", "/1", fresh(.text("lax")))
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        func session(_ evaluator: any ServerEvaluator) -> URLSession {
            var tls = site.tls
            tls.evaluator = evaluator
            return .loopback { [tls] in
                $0.tls = tls
                $0.urlCache = cache
            }
        }
        let url = site.server.url("/1")
        let lax = session(FixedEvaluator.accepting)
        #expect(try await lax.outcome(of: url).text == "lax")
        await lax.settled()
        #expect(try await lax.outcome(of: url).text == "lax" && site.server.requests.count == 1)

        for policy in [
            URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
        ] {
            var request = URLRequest(url: url)
            request.cachePolicy = policy
            let outcome = try await session(FixedEvaluator.refusing).outcome(of: request)
            #expect(outcome.data == nil && outcome.error != nil, "\(policy): \(outcome)")
        }
    }

    @Test(arguments: [0, 5, 3000, 200_000])
    func `T-CAC-29 a coded response is the same from the cache as from the network`(size: Int) async throws {
        let content = Coded.text(size)
        server.route(
            "GET",
            "/1",
            fresh(.data(Coded.gzip(content), type: "text/plain")).header("Content-Encoding", "gzip")
        )
        var outcomes: [Outcome] = []
        for _ in 1...3 {
            outcomes.append(try await session.outcome(of: server.url("/1")))
            await session.settled()
        }

        #expect(server.requests.count == 1)
        for outcome in outcomes {
            #expect(outcome.data == content && outcome.response?.expectedContentLength == -1)
            #expect(outcome.response?.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
            let names = outcome.response?.headerFields.map(\.name)
            #expect(names?.filter { $0 != "Age" } == outcomes[0].response?.headerFields.map(\.name))
        }
    }

    @Test func `T-CAC-31 a request for the cache only never uses the network`() async throws {
        server.route("GET", "/on", fresh(.status(301)).header("Location", "/end"))
        server.route("GET", "/end", ServerReply.text("end").header("Cache-Control", "no-store"))
        var request = URLRequest(url: server.url("/1"))
        request.cachePolicy = .returnCacheDataDontLoad
        let configured = URLSession.loopback { $0.requestCachePolicy = .returnCacheDataDontLoad }
        let bare = URLSession.loopback { $0.urlCache = nil }
        let asking = URLRequest("GET", server.url("/1"), fields: ["Cache-Control": "only-if-cached"])
        let posting = URLRequest("POST", server.url("/1"), body: Data("x".utf8))

        for outcome in [
            try await session.outcome(of: request), try await bare.outcome(of: request),
            try await configured.outcome(of: server.url("/1")), try await session.outcome(of: asking),
            try await bare.outcome(of: asking), try await configured.outcome(of: posting),
        ] {
            #expect(outcome.error?.code == .resourceUnavailable && outcome.reason == .cache, "\(outcome)")
        }
        #expect(server.acceptedConnections == 0)

        // Also behind a redirect that is there.
        #expect(try await session.outcome(of: server.url("/on")).text == "end")
        await session.settled()
        request.url = server.url("/on")
        #expect(try await session.outcome(of: request).error?.code == .resourceUnavailable)
        #expect(server.requests.count == 2)
    }
}
