import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the article for those who come from add-ons of AFNetworking.
@Suite struct ComingFromAddOnsTests {
    private let site: Site

    init() throws {
        site = try Site()
    }

    @Test func `a token is asked for with a form`() async throws {
        let (session, server) = (site.session, site.url("/"))
        site.server.route("POST", "/oauth/token", .json(#"{"access_token": "a", "refresh_token": "r"}"#))

        struct Token: Decodable {
            let access_token: String
            let refresh_token: String?
        }

        func token(_ grant: [String: String]) async throws -> Token {
            var request = try HTTPRequestSerializer().request(
                withMethod: "POST",
                urlString: server.appending(path: "oauth/token").absoluteString,
                parameters: grant
            )
            request.skipsSessionInterceptors = true
            return try JSONDecoder().decode(Token.self, from: try await session.data(for: request).0)
        }

        let made = try await token(["grant_type": "refresh_token", "refresh_token": "old"])

        #expect(made.access_token == "a" && made.refresh_token == "r")
        let body = try #require(site.server.requests.last).body
        #expect(String(decoding: body, as: UTF8.self) == "grant_type=refresh_token&refresh_token=old")
    }

    struct Answer<Result: Decodable & Sendable>: Decodable, Sendable {
        struct Failure: Decodable, Error {
            let code: Int
            let message: String
        }
        let result: Result?
        let error: Failure?
    }

    @Test func `a procedure is called by JSON-RPC`() async throws {
        let manager = site.manager
        manager.requestSerializer = JSONRequestSerializer()
        site.server.route("POST", "/rpc") { request in
            let asked = String(decoding: request.body, as: UTF8.self)
            return asked.contains("\"add\"")
                ? .json(#"{"jsonrpc": "2.0", "id": 1, "result": 3}"#)
                : .json(#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "unknown"}}"#)
        }

        func call<Result: Decodable & Sendable>(_ method: String, _ parameters: [Any]) async throws -> Result? {
            let question: [String: Any] = ["jsonrpc": "2.0", "id": 1, "method": method, "params": parameters]
            let answer = try await manager.post("rpc", parameters: question, decode: Answer<Result>.self)
            if let failure = answer.error { throw failure }
            return answer.result
        }

        let sum: Int? = try await call("add", [1, 2])
        #expect(sum == 3)
        let failure = await #expect(throws: Answer<Int>.Failure.self) {
            let difference: Int? = try await call("sub", [1, 2])
            #expect(difference == nil)
        }
        #expect(failure?.code == -32601)
    }
}
