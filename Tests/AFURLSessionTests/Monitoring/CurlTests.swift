import AFWire

@testable import AFURLSession
@testable import AFURLTypes

extension MonitoringTests {
    @Suite("Requests as commands")
    struct Curl {
        @Test func `fields and cookies of a head are found by their bytes`() throws {
            let frozen = try freeze("http://a.test/") { request in
                for (name, value) in [("X-Mark", "\u{301}a"), ("X-Blank", " \t "), ("X-Cut", "a: b\u{A0} ")] {
                    request.setValue(value, forHTTPHeaderField: name)
                }
            }
            let found = frozen.sentFields.fields
            #expect(found.map(\.name) == ["Host", "X-Mark", "X-Blank", "X-Cut", "User-Agent", "Accept"])
            let values = ["a.test", "\u{301}a", "", "a: b\u{A0}", "test/1", "*/*"]
            #expect(found.map { Array($0.value.utf8) } == values.map { Array($0.utf8) })

            let cookies = HARCookie.list("a=\u{301}1;\u{301}b = 2; c")
            #expect(cookies.map(\.name) == ["a", "\u{301}b", "c"] && cookies.map(\.value) == ["\u{301}1", "2", ""])
        }

        @Test func `a task's command has what the session adds`() async throws {
            let server = try TestServer()
            server.route("*", "/x") { _ in ServerReply.text("").header("Set-Cookie", "sid=canary") }
            let session = URLSession.loopback { configuration in
                configuration.httpAdditionalHeaders = ["X-Added": "yes", "Authorization": "Bearer canary"]
            }
            _ = try await session.outcome(of: server.url("/x"))

            let task = session.uploadTask(with: URLRequest("PUT", server.url("/x")), from: Data("body".utf8))
            let words = try Shell.parsed(task.curlCommand()).words

            #expect(words.contains("X-Added: yes") && words.contains("Authorization: Bearer ***"))
            #expect(words.contains("Cookie: sid=***") && words.contains("--compressed"))
            #expect(words.contains("body") && words.contains("PUT") && words.last == server.url("/x").absoluteString)
            #expect(!words.contains { $0.hasPrefix("Host:") || $0.hasPrefix("Content-Length") })
            #expect(try Shell.parsed(task.curlCommand(masksSecrets: false)).words.contains("Cookie: sid=canary"))

            let file = session.uploadTask(
                with: URLRequest("POST", server.url("/x")),
                fromFile: URL(fileURLWithPath: "/tmp/it's here")
            )
            #expect(try Shell.parsed(file.curlCommand()).words.contains("@/tmp/it's here"))
            session.invalidateAndCancel()
        }

        @Test func `a command has the body as it is, and no word of fields behind it`() throws {
            let session = URLSession.loopback { $0.bodyCoding = .gzip }
            var request = URLRequest("PUT", try #require(URL(string: "http://a.test/")), body: Data("body".utf8))
            request.trailers = RequestTrailers("X-Sum") { ["X-Sum": "9"] }

            let words = try Shell.parsed(session.dataTask(with: request).curlCommand()).words

            #expect(words.contains("body"))
            #expect(!words.contains { $0.hasPrefix("Trailer") || $0.contains("chunked") || $0.contains("Encoding") })
            session.invalidateAndCancel()
        }
    }
}
