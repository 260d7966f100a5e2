import Foundation

/// The fields behind the body of a request.
@Suite struct TrailerTests {
    private let server: TestServer
    private let calls = Lock(0)

    init() throws {
        server = try TestServer()
        server.route("*", "/", .text("taken"))
        server.route("*", "/again", .status(307).header("Location", "/"))
        server.route("*", "/other", .status(303).header("Location", "/"))
    }

    private func request(
        _ path: String = "/",
        names: [String] = ["X-Sum", "X-Count"],
        _ values: [String: String] = ["X-Sum": "9"],
        configure: (inout AFURLSession.URLRequest) -> Void
    ) -> AFURLSession.URLRequest {
        var request = URLRequest("PUT", server.url(path))
        request.trailers = RequestTrailers(names) { [calls] in
            calls.withLock { $0 += 1 }
            return values
        }
        configure(&request)
        return request
    }

    private func trailers(_ place: Int = 0) throws -> [String] {
        let received = try #require(server.requests.dropFirst(place).first)
        return received.trailers.fields.map { "\($0.name): \($0.value)" }
    }

    @Test(arguments: [0, 1, 70_000], ["stream", "memory", "file"])
    func `each kind of body goes in chunks, and its trailer fields follow`(size: Int, kind: String) async throws {
        let content = pattern(size)
        let folder = try ScratchFolder()
        let file = folder.url.appendingPathComponent("body")
        try content.write(to: file)
        let session = URLSession.loopback()
        let outcomes = Outcomes()

        let request = request {
            if kind == "stream" { $0.httpBodyStream = TestStream(content, pieces: 1000) }
            if kind == "memory" { $0.httpBody = content }
        }
        if kind == "file" {
            session.uploadTask(with: request, fromFile: file, completionHandler: outcomes.handler).resume()
        } else {
            session.dataTask(with: request, completionHandler: outcomes.handler).resume()
        }

        let outcome = try await outcomes.first()
        guard size > 0 || kind == "stream" else {
            #expect(outcome.reason == .request && server.requests.isEmpty && calls.withLock { $0 } == 0)
            return #expect(outcome.error?.loadFailure?.message.contains("trailer fields need one") == true)
        }
        #expect(outcome.text == "taken", "\(outcome)")
        let received = try #require(server.requests.first)
        #expect(received.body == content && received.headers.values(of: "Trailer") == ["X-Sum, X-Count"])
        #expect(received.headers.values(of: "Transfer-Encoding") == ["chunked"])
        #expect(received.headers.values(of: "Content-Length").isEmpty)
        #expect(try trailers() == ["X-Sum: 9"] && calls.withLock { $0 } == 1)
        #expect(try await session.outcome(of: URLRequest("GET", server.url("/"))).text == "taken")
        #expect(server.acceptedConnections == 1)
    }

    @Test func `the values are asked for when the stream has been read`() async throws {
        let stream = TestStream(pattern(200_000), pieces: 5000)
        var request = URLRequest("PUT", server.url("/"))
        request.httpBodyStream = stream
        request.trailers = RequestTrailers("X-Length") { [doings = stream.doings] in
            ["X-Length": "\(doings.value.given)"]
        }

        #expect(try await URLSession.loopback().outcome(of: request).text == "taken")
        #expect(try trailers() == ["X-Length: 200000"])
    }

    @Test func `a request that is redirected with its body has them again, without its body it has none`() async throws
    {
        let again = request("/again") { $0.httpBody = Data("abc".utf8) }
        let without = request("/other") { $0.httpBody = Data("abc".utf8) }

        #expect(try await URLSession.loopback().outcome(of: again).text == "taken")
        #expect(try trailers(0) == ["X-Sum: 9"] && trailers(1) == ["X-Sum: 9"])
        #expect(try await URLSession.loopback().outcome(of: without).text == "taken")
        #expect(try trailers(3) == [] && server.requests[3].method == "GET")
        #expect(server.requests[3].headers.values(of: "Trailer").isEmpty && calls.withLock { $0 } == 3)
    }

    @Test func `T-DUP-04 those with the name of a secret stay in their origin`() async throws {
        let elsewhere = try TestServer()
        elsewhere.route("*", "/", .text("taken"))
        server.route("*", "/away", .status(307).header("Location", elsewhere.url("/").absoluteString))
        let request = request("/away", names: ["X-Sum", "X-Api-Key"], ["X-Sum": "9", "X-Api-Key": "secret"]) {
            $0.httpBody = Data("abc".utf8)
            $0.redirectPolicy = RedirectPolicy()
            $0.redirectPolicy?.sendsBodyToOtherOrigins = true
        }

        #expect(try await URLSession.loopback().outcome(of: request).text == "taken")

        #expect(try trailers() == ["X-Sum: 9", "X-Api-Key: secret"])
        let received = try #require(elsewhere.requests.first)
        #expect(received.trailers.fields.map { "\($0.name): \($0.value)" } == ["X-Sum: 9"])
        #expect(received.headers.values(of: "Trailer") == ["X-Sum"] && received.body == Data("abc".utf8))
    }

    @Test(arguments: [["X-Other": "1"], ["X-Sum": "a\r\nHost: evil"]])
    func `T-DUP-03 values that cannot be sent end the task, and the server gets no end of the body`(
        values: [String: String]
    ) async throws {
        let outcome = try await URLSession.loopback().outcome(
            of: request(names: ["X-Sum"], values) { $0.httpBody = Data("abc".utf8) }
        )

        #expect(outcome.reason == .request && outcome.error?.loadFailure?.phase == .sending, "\(outcome)")
        #expect(outcome.error?.loadFailure?.advice?.contains("trailers") == true)
        try await server.waitForEnd(ofConnection: 1)
        #expect(server.requests.allSatisfy { !$0.isComplete })
    }

    @Test func `T-DUP-02 a request with a forbidden name, or with a length of its own, is not sent`() async throws {
        let named = request(names: ["Content-Length"]) { $0.httpBody = Data("abc".utf8) }
        let measured = request {
            $0.httpBodyStream = InputStream(data: Data("abc".utf8))
            $0.setValue("3", forHTTPHeaderField: "Content-Length")
        }
        let old = request {
            $0.httpBody = Data("abc".utf8)
            $0.usesHTTP10 = true
        }

        for request in [named, measured, old] {
            #expect(try await URLSession.loopback().outcome(of: request).reason == .request)
        }
        #expect(server.acceptedConnections == 0)
    }

    @Test func `a proxy passes them on`() async throws {
        let proxy = try TestProxy()
        let proxies = ProxyConfiguration(try ProxyServer(proxy.url.absoluteString))
        let session = URLSession.loopback { $0.proxies = proxies }

        let outcome = try await session.outcome(of: request { $0.httpBody = Data("abc".utf8) })

        #expect(outcome.text == "taken", "\(outcome)")
        #expect(try trailers() == ["X-Sum: 9"])
    }

    @Test func `they wait for a server that wants to be asked first`() async throws {
        let outcome = try await URLSession.loopback().outcome(
            of: request {
                $0.httpBody = Data("abc".utf8)
                $0.setValue("100-continue", forHTTPHeaderField: "Expect")
            }
        )

        #expect(outcome.text == "taken", "\(outcome)")
        #expect(try trailers() == ["X-Sum: 9"])
    }

    @Test func `what the closure holds is released with the task`() async throws {
        let session = URLSession.loopback()
        final class Digest: Sendable {
            let field = "9"
        }
        weak var held: Digest?
        do {
            let digest = Digest()
            held = digest
            var request = URLRequest("PUT", server.url("/"))
            request.httpBody = Data("abc".utf8)
            request.trailers = RequestTrailers("X-Sum") { ["X-Sum": digest.field] }
            #expect(try await session.outcome(of: request).text == "taken")
        }
        try await eventually("the closure to be released") { held == nil }
    }

    @Test func `requests with different closures differ`() {
        let (one, other) = (request { _ in }, request { _ in })
        var changed = one
        changed.trailers = nil

        #expect(one == one && one != other && one != changed)
        #expect(one.trailers?.names == ["X-Sum", "X-Count"])
    }
}
