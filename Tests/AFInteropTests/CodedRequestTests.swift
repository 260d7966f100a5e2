import AFNetworkingTesting
import AFTestSupport
import AFURLSession
import Foundation
import Testing

/// Bodies of requests that are coded on their way, against servers that undo that.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct CodedRequestTests {
    private static let sizes = [1000, 100_000, 3_000_000]

    private func request(_ url: URL, _ content: Data, isStreamed: Bool) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        if isStreamed { request.httpBodyStream = InputStream(data: content) } else { request.httpBody = content }
        return request
    }

    @Test(.enabled(if: Server.aiohttp.isServing || Server.areAllRequired), arguments: sizes, [true, false])
    func `aiohttp gets the content`(size: Int, isStreamed: Bool) async throws {
        let url = try Server.aiohttp.url("/echo").absoluteString.replacingOccurrences(of: "ws:", with: "http:")
        let content = Coded.text(size)
        for coding in [BodyCoding.gzip, .deflate] {
            var request = request(try #require(URL(string: url)), content, isStreamed: isStreamed)
            request.bodyCoding = coding
            let (data, _) = try await URLSession.fresh().data(for: request)
            #expect(data == Data(String(decoding: content, as: UTF8.self).uppercased().utf8), "\(coding)")
        }
    }

    @Test(.enabled(if: ServerProcess.has("apache2")))
    func `Apache passes the content on`() async throws {
        let server = try TestServer()
        server.route("POST", "/", .text("taken"))
        let apache = try await ServerProcess.apache(to: server.url("/"))
        defer { apache.stop() }
        let url = try #require(URL(string: "http://127.0.0.1:\(apache.port)/"))
        let session = URLSession.fresh { $0.bodyCoding = .gzip }
        for (size, isStreamed) in Self.sizes.flatMap({ [($0, true), ($0, false)] }) {
            let content = Coded.text(size)
            let (data, _) = try await session.data(for: request(url, content, isStreamed: isStreamed))
            #expect(data == Data("taken".utf8))
            // It takes away the coding, and leaves the field.
            #expect(server.requests.last?.body == content)
        }
        #expect(server.requests.count == 6)
    }
}
