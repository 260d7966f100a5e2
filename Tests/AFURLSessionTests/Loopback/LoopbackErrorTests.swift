import Glibc

extension LoopbackTests {
    /// Which error each cause becomes, and what it says.
    struct Errors {
        private let server: TestServer

        init() throws {
            server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
        }

        /// A port without a server: one that a server has just given back.
        private static func closedPort() throws -> UInt16 {
            let gone = try TestServer()
            return gone.port
        }

        @Test(arguments: [
            ("ftp://localhost/", -1002), ("http:///nohost", -1000),
            ("http://exa%0d%0aX/", -1000), ("http://h%00.evil.test/", -1000), ("http://h:99999/", -1000),
            ("http://h%2f10.0.0.1/", -1000), ("http://0x7f.1/", -1000), ("http://nobody.invalid/", -1003),
        ])
        func `T-RES-38 a request that cannot be sent fails before any connection`(url: String, code: Int) async throws {
            guard let url = URL(string: url) else { return }

            let outcome = try await URLSession.loopback().outcome(of: url)

            #expect(outcome.code == code, "\(outcome)")
            #expect(outcome.data == nil && outcome.response == nil)
        }

        @Test func `a refused connection is -1004 and names each address and its errno`() async throws {
            let url = try #require(URL(string: "http://127.0.0.1:\(Self.closedPort())/"))

            let outcome = try await URLSession.loopback().outcome(of: url)

            let failure = try #require(outcome.error?.loadFailure)
            #expect(outcome.code == -1004 && failure.reason == .resources && failure.phase == .connecting)
            #expect(failure.errno == ECONNREFUSED && failure.attempts.map(\.errno) == [ECONNREFUSED])
            #expect(failure.attempts.map(\.address) == ["127.0.0.1:\(url.port ?? 0)"])
        }

        @Test func `a name is tried at all its addresses`() async throws {
            // The server listens on 127.0.0.1 only; localhost may have ::1 first.
            let url = try #require(URL(string: "http://localhost:\(server.port)/hello"))

            #expect(try await URLSession.loopback().outcome(of: url).text == "hello")
        }

        @Test func `every error carries the URL, its text, a description and the cause`() async throws {
            let port = try Self.closedPort()
            server.route("GET", "/cut", .text("twelve bytes").closing(after: 6))
            server.enqueue(.raw("<html>"))
            let session = URLSession.loopback()
            let dead = try #require(URL(string: "http://127.0.0.1:\(port)/x"))

            for url in [dead, server.url("/cut"), server.url("/raw")] {
                let error = try #require(try await session.outcome(of: url).error)
                #expect(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == url)
                #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == url.absoluteString)
                #expect(error.userInfo[NSUnderlyingErrorKey] is LoadFailure)
                let text = try #require(error.userInfo[NSLocalizedDescriptionKey] as? String)
                #expect(text == error.loadFailure?.message && text.contains("127.0.0.1"))
            }
        }

        @Test func `no secret of a request stands in any text of its error`() async throws {
            let secrets = ["canary-user", "canary-password", "canary-header", "canary-body"]
            let port = try Self.closedPort()
            server.route("POST", "/cut", .text("twelve bytes").closing(after: 6))
            server.route("POST", "/bad", .raw("canary-peer\u{1B}[31m\r\n\r\n"))
            server.route("POST", "/slow", ServerReply.text("").held(until: "never"))
            let session = URLSession.loopback { $0.timeoutIntervalForRequest = 0.2 }
            let authority = "canary-user:canary-password@127.0.0.1"
            let urls = [
                "http://\(authority):\(port)/", "http://\(authority):\(server.port)/cut", "https://\(authority)/",
                "http://127.0.0.1:\(port)/", server.url("/cut").absoluteString, server.url("/bad").absoluteString,
                server.url("/slow").absoluteString,
            ]

            for text in urls {
                let url = try #require(URL(string: text))
                let fields = ["Authorization": "Bearer canary-header", "X-Key": "canary-header"]
                let outcome = try await session.outcome(
                    of: URLRequest("POST", url, body: Data("canary-body".utf8), fields: fields)
                )
                let error = try #require(outcome.error)
                let failure = try #require(error.loadFailure)
                let texts = [
                    error.localizedDescription, "\(error)", "\(error.userInfo)", failure.message, "\(failure)",
                    String(reflecting: failure), "\(error as NSError)",
                ]
                for text in texts {
                    #expect(!secrets.contains { text.contains($0) }, "\(text)")
                    #expect(!text.contains("\u{1B}"), "\(text)")
                }
            }
            server.signal("never")
        }

        @Test func `T-RES-08 a body longer than maximumBodyInMemory fails the task and ends the connection`()
            async throws
        {
            let session = URLSession.loopback { $0.maximumBodyInMemory = 100_000 }
            server.route("GET", "/endless") { _ in .stream(.generated { _ in [UInt8](repeating: 0, count: 65536) }) }

            let outcome = try await session.outcome(of: server.url("/endless"))

            #expect(outcome.code == -1103 && outcome.reason == .limit && outcome.status == 200)
            #expect(outcome.error?.loadFailure?.message.contains("maximumBodyInMemory") == true)
            try await server.waitForEnd(ofConnection: 1)
        }

        @Test(arguments: [
            "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
        ])
        func `T-RES-08 an endless head, chunk line or trailer ends at its limit`(start: String) async throws {
            let endless = [ScriptStep](repeating: .send(bytes: [UInt8](repeating: 0x61, count: 65536)), count: 64)
            server.script(on: .next, steps: [.expectRequest, .send(start)] + endless + [.stall])

            let outcome = try await URLSession.loopback().outcome(of: server.url())

            #expect(outcome.code == -1103 && outcome.reason == .limit, "\(outcome)")
            try await server.waitForEnd(ofConnection: 1)
        }

        // MARK: - Time

        @Test func `a request's own timeout goes before the session's`() async throws {
            server.route("GET", "/held", ServerReply.text("").held(until: "never"))
            let session = URLSession.loopback { $0.timeoutIntervalForRequest = 600 }

            let outcome = try await session.outcome(of: URLRequest(url: server.url("/held"), timeoutInterval: 0.2))

            #expect(outcome.code == -1001)
            server.signal("never")
        }
    }
}
