import AFURLSession
import Foundation
import Testing

/// Against httpbin on gunicorn.
@Suite(.enabled(if: Server.httpbin.isServing), .timeLimit(.minutes(1)))
enum HttpbinTests {}

extension HttpbinTests {
    struct Redirects {
        let session = URLSession.fresh()

        @Test(arguments: ["/redirect/5", "/relative-redirect/3", "/absolute-redirect/4", "/redirect/20"])
        func `redirects of each kind are followed to their end`(path: String) async throws {
            let answer = try await session.get(path, from: .httpbin)

            #expect(answer.status == 200 && answer.head.url?.path == "/get")
        }

        @Test func `the twenty-first redirect is one too many`() async throws {
            let error = await #expect(throws: URLError.self) {
                _ = try await session.get("/redirect/21", from: .httpbin)
            }

            #expect(error?.code == .httpTooManyRedirects)
        }

        @Test(arguments: [(301, "/get"), (302, "/get"), (303, "/get"), (307, "/post"), (308, "/post")])
        func `a POST becomes a GET, or keeps its body`(status: Int, end: String) async throws {
            let answer = try await session.get("/redirect-to?url=\(end)&status_code=\(status)", from: .httpbin) {
                $0.httpMethod = "POST"
                $0.httpBody = Data("body".utf8)
                $0.setValue("text/plain", forHTTPHeaderField: "Content-Type")
            }

            #expect(answer.status == 200 && answer.head.url?.path == end)
            if end == "/post" { #expect(try answer.echoed == Data("body".utf8)) }
        }

        @Test func `secrets stay with the host they were meant for`() async throws {
            let port = try #require(try Server.httpbin.url("/").port)
            let target = "http://localhost:\(port)/headers"
            let answer = try await session.get("/redirect-to?url=\(target)", from: .httpbin) {
                $0.setValue("Bearer canary", forHTTPHeaderField: "Authorization")
                $0.setValue("kept", forHTTPHeaderField: "X-Other")
            }

            let fields = try answer.sentFields
            #expect(fields["Authorization"] == nil && fields["X-Other"] == "kept")
            #expect(fields["Host"] == "localhost:\(port)")
        }
    }

    struct Cookies {
        private func cookies(_ answer: Answer) throws -> [String: String] {
            try #require(answer.json["cookies"] as? [String: String])
        }

        @Test func `cookies are sent on the way they were set, and later`() async throws {
            let session = URLSession.fresh()

            let set = try await session.get("/cookies/set?one=1&two=2", from: .httpbin)
            let later = try await session.get("/cookies", from: .httpbin)
            let deleted = try await session.get("/cookies/delete?one", from: .httpbin)

            #expect(try cookies(set) == ["one": "1", "two": "2"] && cookies(later) == cookies(set))
            #expect(try cookies(deleted) == ["two": "2"])
        }

        @Test func `another session, and one that wants none, has none`() async throws {
            let session = URLSession.fresh { $0.httpShouldSetCookies = false }

            #expect(try await cookies(session.get("/cookies/set?one=1", from: .httpbin)).isEmpty)
            #expect(try await cookies(URLSession.fresh().get("/cookies", from: .httpbin)).isEmpty)
        }
    }

    struct Statuses {
        @Test(arguments: [
            200, 201, 202, 203, 204, 205, 300, 400, 402, 403, 404, 405, 410, 418, 429, 500, 502, 503, 504,
        ])
        func `a status is an answer`(status: Int) async throws {
            let session = URLSession.fresh()

            #expect(try await session.get("/status/\(status)", from: .httpbin).status == status)
            #expect(try await session.get("/get", from: .httpbin).status == 200)
        }

        @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"])
        func `the server sees the method, the query and the fields`(method: String) async throws {
            let answer = try await URLSession.fresh().get("/anything/a%20b?x=1&x=2&y=%C3%A9", from: .httpbin) {
                $0.httpMethod = method
                $0.setValue("two words", forHTTPHeaderField: "X-Mine")
            }

            #expect(try answer.json["method"] as? String == method)
            let arguments = try #require(try answer.json["args"] as? [String: Any])
            #expect(arguments["x"] as? [String] == ["1", "2"] && arguments["y"] as? String == "é")
            #expect(try answer.sentFields["X-Mine"] == "two words")
        }
    }
}
