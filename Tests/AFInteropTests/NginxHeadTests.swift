import AFURLSession
import Foundation
import Testing

extension NginxTests {
    struct Heads {
        let session = URLSession.fresh()

        @Test func `method, target and fields arrive as given`() async throws {
            let answer = try await session.send("GET", "/echo?q=%C3%A9&r=a%20b", fields: ["X-Probe": "one two"])

            let words = answer.text.split(separator: "|", omittingEmptySubsequences: false)
            #expect(words.first == "GET /echo?q=%C3%A9&r=a%20b")
            #expect(words.dropFirst(3).first == "one two")
        }

        @Test func `the Host field names the port`() async throws {
            let port = try #require(try Nginx.url("/echo").port)

            let answer = try await session.get("/echo")

            #expect(answer.text.split(separator: "|").dropFirst().first == "127.0.0.1:\(port)")
        }

        @Test(arguments: ["PATCH", "OPTIONS", "DELETE", "BREW"])
        func `any method is sent`(method: String) async throws {
            let answer = try await session.send(method, "/echo")

            #expect(answer.text.hasPrefix(method + " /echo|"))
        }

        @Test func `a fragment stays at home`() async throws {
            let answer = try await session.get("/echo?a=b#part")

            #expect(answer.text.hasPrefix("GET /echo?a=b|"))
        }

        @Test(arguments: [404, 500])
        func `an error status is an answer`(status: Int) async throws {
            let answer = try await session.get("/status/\(status)")

            #expect(answer.status == status)
            #expect(!answer.body.isEmpty)
        }

        @Test func `a redirect names its target`() async throws {
            let refusal = RedirectRefusal()

            let answer = try Answer(await session.data(from: Nginx.url("/redirect"), delegate: refusal))

            #expect(answer.status == 302)
            #expect(try answer.field("Location") == Nginx.url("/small").absoluteString)
        }

        @Test func `a redirect is followed`() async throws {
            #expect(try await session.get("/redirect").body.count == 40)
        }

        @Test func `a large head arrives whole`() async throws {
            let answer = try await session.get("/large-head")

            let joined = [String](repeating: String(repeating: "x", count: 1000), count: 24).joined(separator: ", ")
            #expect(answer.field("X-Pad") == joined)
            #expect(answer.text == "large")
        }

        @Test func `a head too large for the server is answered with 400`() async throws {
            let field = String(repeating: "x", count: 10_000)

            let answer = try await session.send("GET", "/small", fields: ["X-Probe": field])

            #expect(answer.status == 400)
            #expect(try await session.get("/small").status == 200)
        }
    }
}
