import AFURLSession
import Foundation
import Testing

extension HttpbinTests {
    struct Authentication {
        private func url(_ path: String, _ login: String = "user:passwd") throws -> URL {
            let plain = try Server.httpbin.url(path).absoluteString
            return try #require(URL(string: plain.replacing("http://", with: "http://\(login)@", maxReplacements: 1)))
        }

        /// What a delegate answers is kept for the session, unlike what stands in a URL.
        private static let known = URLCredential(user: "user", password: "passwd", persistence: .forSession)

        private func load(
            _ url: URL,
            _ session: URLSession = .fresh(),
            as credential: URLCredential? = nil
        ) async throws -> (Answer, MetricsKeeper) {
            let keeper = MetricsKeeper(credential)
            return (try Answer(await session.data(from: url, delegate: keeper)), keeper)
        }

        @Test func `Basic, when asked`() async throws {
            let (answer, metrics) = try await load(url("/basic-auth/user/passwd"))

            #expect(try answer.status == 200 && answer.json["authenticated"] as? Bool == true)
            #expect(metrics.statuses == [401, 200])
        }

        @Test func `a wrong password is tried once`() async throws {
            let (answer, metrics) = try await load(url("/basic-auth/user/passwd", "user:guess"))

            #expect(answer.status == 401 && metrics.statuses == [401, 401])
        }

        @Test func `Basic, unasked once it is known`() async throws {
            let session = URLSession.fresh()
            let place = try Server.httpbin.url("/basic-auth/user/passwd")
            let first = try await load(place, session, as: Self.known).1

            let second = try await load(place, session).1

            #expect(first.statuses == [401, 200] && second.statuses == [200])
        }

        @Test(arguments: ["auth", "auth-int"], ["MD5", "SHA-256"])
        func `Digest of either quality`(quality: String, algorithm: String) async throws {
            let session = URLSession.fresh()
            let place = try Server.httpbin.url("/digest-auth/\(quality)/user/passwd/\(algorithm)")

            let (answer, metrics) = try await load(place, session, as: Self.known)
            let (_, later) = try await load(place, session)

            #expect(try answer.status == 200 && answer.json["authenticated"] as? Bool == true)
            #expect(metrics.statuses == [401, 200])
            // The nonce is counted on.
            #expect(later.statuses == [200])
        }

        @Test func `Digest with a wrong password`() async throws {
            let (answer, _) = try await load(url("/digest-auth/auth/user/passwd/SHA-256", "user:guess"))

            #expect(answer.status == 401)
        }

        @Test func `a stale nonce is replaced, and the delegate is not asked`() async throws {
            let session = URLSession.fresh()
            // Good for one request; the server keeps count in cookies.
            let place = try Server.httpbin.url("/digest-auth/auth/user/passwd/MD5/1")

            let first = try await load(place, session, as: Self.known).1
            let second = try await load(place, session).1

            #expect(first.statuses == [401, 200] && second.statuses == [401, 200])
            let challenge = second.transactions.first?.response as? HTTPURLResponse
            #expect(
                challenge?.value(forHTTPHeaderField: "WWW-Authenticate")?.lowercased().contains("stale=true") == true
            )
        }

        @Test func `a token`() async throws {
            let session = URLSession.fresh()

            let without = try await session.get("/bearer", from: .httpbin)
            let with = try await session.get("/bearer", from: .httpbin) {
                $0.setValue("Bearer token-of-mine", forHTTPHeaderField: "Authorization")
            }

            #expect(without.status == 401)
            #expect(try with.json["token"] as? String == "token-of-mine")
        }

        @Test func `a token that is stored is sent from the beginning`() async throws {
            let url = try Server.httpbin.url("/bearer")
            let storage = URLCredentialStorage()
            let space = URLProtectionSpace(
                host: try #require(url.host),
                port: try #require(url.port),
                protocol: NSURLProtectionSpaceHTTP,
                realm: nil,
                authenticationMethod: NSURLAuthenticationMethodHTTPBearer
            )
            storage.setDefaultCredential(URLCredential(bearerToken: "kept"), for: space)

            let (answer, metrics) = try await load(url, .fresh { $0.urlCredentialStorage = storage })

            #expect(try answer.json["token"] as? String == "kept")
            #expect(metrics.statuses == [200])
        }
    }
}
