import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

extension NginxTests {
    /// What nginx makes of a resource: codings, parts, conditions, redirects, passwords.
    struct Features {
        let session = URLSession.fresh()

        private func load(_ path: String, field: String? = nil) async throws -> (Answer, MetricsKeeper) {
            let keeper = MetricsKeeper()
            var request = URLRequest(url: try Nginx.url(path))
            if let field { request.setValue(field, forHTTPHeaderField: "X-Probe") }
            return (try Answer(await session.data(for: request, delegate: keeper)), keeper)
        }

        // MARK: Codings and parts

        @Test func `a body coded as it is sent is decoded as it arrives`() async throws {
            let answer = try await session.get("/coded")

            #expect(answer.field("Content-Encoding") == "gzip" && answer.field("Transfer-Encoding") == "chunked")
            let isSame = try answer.body == Nginx.file("ssi.txt")
            #expect(isSame && answer.head.expectedContentLength == -1)
        }

        @Test(arguments: [
            ("bytes=0-9", 0..<10), ("bytes=1048000-", 1_048_000..<1_048_576), ("bytes=-5", 1_048_571..<1_048_576),
        ])
        func `a part of a file`(range: String, expected: Range<Int>) async throws {
            let answer = try await session.send("GET", "/1m", fields: ["Range": range])

            #expect(answer.status == 206)
            #expect(answer.field("Content-Range") == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/1048576")
            let isSame = try answer.body == Nginx.file("1m")[expected]
            #expect(isSame)
        }

        @Test func `several parts come in a body of their own kind`() async throws {
            let answer = try await session.send("GET", "/1m", fields: ["Range": "bytes=0-9,100-109"])

            #expect(answer.status == 206 && answer.head.mimeType == "multipart/byteranges")
            let file = try Nginx.file("1m")
            #expect(answer.body.range(of: file[0..<10]) != nil && answer.body.range(of: file[100..<110]) != nil)
        }

        @Test func `a part of what has changed meanwhile is the whole`() async throws {
            let fields = ["Range": "bytes=0-9", "If-Range": "\"another\""]

            let answer = try await session.send("GET", "/1m", fields: fields)

            #expect(answer.status == 200 && answer.body.count == 1 << 20)
        }

        // MARK: Conditions

        @Test func `a condition of one's own is answered with 304`() async throws {
            let tag = try #require(try await session.get("/1m").field("ETag"))

            let answer = try await session.send("GET", "/1m", fields: ["If-None-Match": tag])

            #expect(answer.status == 304 && answer.body.isEmpty)
        }

        @Test func `what is fresh comes from the cache`() async throws {
            let (first, _) = try await load("/fresh")
            let (second, metrics) = try await load("/fresh")

            #expect(first.text == second.text && metrics.source == .localCache)
        }

        @Test func `what must be asked about comes from the cache after a 304`() async throws {
            let (first, before) = try await load("/asked")
            let (second, after) = try await load("/asked")

            #expect(first.body == second.body && second.status == 200)
            #expect(before.statuses == [200] && after.statuses == [304, 200])
            #expect(after.source == .localCache)
        }

        @Test func `what depends on a field of the request is kept apart by it`() async throws {
            let (one, _) = try await load("/varied", field: "one")
            let (two, _) = try await load("/varied", field: "two")
            let (again, metrics) = try await load("/varied", field: "two")

            #expect(one.text != two.text && again.text == two.text && metrics.source == .localCache)
        }

        // MARK: Redirects

        @Test func `http leads to https, and not back`() async throws {
            let authority = try CertificateAuthority()
            let server = try await ServerProcess.nginx(
                try authority.issue(for: "127.0.0.1"),
                "location = /back { return 302 $arg_to; }"
            )
            var tls = TLSConfiguration()
            tls.anchors = .certificates([authority.certificate])
            let session = URLSession.fresh { $0.tls = tls }

            let answer = try await session.get("/go?to=\(server.url("/handshake").absoluteString)")
            #expect(answer.status == 200 && answer.text.hasPrefix("TLSv1."))

            let back = server.url("/back?to=\(try Nginx.url("/small").absoluteString)")
            let error = await #expect(throws: URLError.self) { _ = try await session.data(from: back) }
            #expect(error?.code == .unsupportedURL && error?.loadFailure?.reason == .redirect)
        }

        @Test func `an upload is sent again where the server wants it`() async throws {
            let target = try Nginx.url("/length").absoluteString

            let answer = try await session.send("PUT", "/go/307?to=\(target)", body: Data(count: 300_000))

            #expect(answer.text == "300000")
        }

        // MARK: Passwords

        private func locked(_ login: String) throws -> URL {
            let plain = try Nginx.url("/locked").absoluteString
            return try #require(URL(string: plain.replacing("http://", with: "http://\(login)@", maxReplacements: 1)))
        }

        @Test func `a password opens, another does not`() async throws {
            let without = try await session.get("/locked")
            let wrong = try Answer(await URLSession.fresh().data(from: locked("visitor:sesame")))
            let right = try Answer(await URLSession.fresh().data(from: locked("visitor:open%20sesame")))

            #expect(without.status == 401 && wrong.status == 401 && right.status == 200)
            #expect(without.field("WWW-Authenticate") == "Basic realm=\"the vault\"")
            let isSame = try right.body == Nginx.file("ssi.txt")
            #expect(isSame)
        }
    }
}
