import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

/// The ready-made routes, loaded with a `URLSession` of this package.
@Suite struct RouteSessionTests {
    private let server: TestServer
    private let session = URLSession(configuration: .ephemeral)

    init() throws {
        server = try TestServer()
        server.install(.everything)
    }

    private func load(_ path: String, method: String = "GET") async throws -> (Data, HTTPURLResponse) {
        var request = URLRequest(url: server.url(path))
        request.httpMethod = method
        let (data, response) = try await session.data(for: request)
        return (data, try #require(response as? HTTPURLResponse))
    }

    @Test func `a session gets the echo of its request`() async throws {
        let (data, response) = try await load("/anything/x?a=1", method: "DELETE")
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(response.statusCode == 200)
        #expect(json["method"] as? String == "DELETE")
        #expect(json["url"] as? String == server.url("/anything/x?a=1").absoluteString)
    }

    @Test func `a session gets streams, drips and ranges whole`() async throws {
        let bytes = try await load("/bytes/40000?seed=3").0
        #expect(bytes.count == 40_000)
        #expect(try await load("/stream-bytes/40000?seed=3&chunk_size=777").0 == bytes)
        #expect(try await load("/drip?numbytes=4&duration=0.01").0 == Data("****".utf8))
        #expect(try await load("/range/52").0 == Data("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz".utf8))
        #expect(try await load("/status/503").1.statusCode == 503)
    }

    @Test func `a held reply arrives after its signal`() async throws {
        async let reply = load("/held/now", method: "POST")
        try await server.waitForRequests(1)
        server.signal("now")
        #expect(try await reply.1.statusCode == 200)
    }
}
