import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

@Suite("Ported code: async and await")
struct AsyncAPITests {
    private let server: TestServer
    private let api: AsyncAPI

    init() throws {
        server = try TestServer()
        api = AsyncAPI(baseURL: server.url("/"), session: URLSession(configuration: .ephemeral))
    }

    @Test func `values are loaded and sent`() async throws {
        server.route("GET", "/one", .json(#"{"id": 1, "title": "One", "tags": []}"#))
        server.route("POST", "/echo") { .data($0.body) }

        #expect(try await api.get("one", as: Article.self).title == "One")
        #expect(try await api.post([1, 2], to: "echo") == Data("[1,2]".utf8))
        await #expect(throws: HTTPError.unexpected(404)) { try await api.get("none", as: Article.self) }
    }

    @Test func `many are loaded at once`() async throws {
        for size in 1...20 { server.route("GET", "/\(size)", .data(Data(count: size))) }

        let sizes = try await api.all((1...20).map(String.init))

        #expect(sizes.count == 20 && sizes.allSatisfy { $0.key == String($0.value) })
    }

    @Test func `a download belongs to its caller`() async throws {
        server.route("GET", "/file", .text("content"))
        let target = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

        let response = try await api.file("file", to: target)

        #expect(try String(contentsOf: target, encoding: .utf8) == "content")
        #expect(response.expectedContentLength == 7)
        try FileManager.default.removeItem(at: target)
    }

    @Test func `events are read as they come, and given up`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        server.script(.expectRequest, .send("\(head)data: one\n\nid: 4\ndata:two\n\n"), .stall)

        var seen: [String] = []
        for try await event in api.events("events") {
            seen.append(event)
            if seen.count == 2 { break }
        }

        #expect(seen == ["one", "two"])
        // The connection of a sequence that is no longer read is closed.
        try await server.waitForEnd(ofConnection: 1)
    }

    @Test func `bytes are read one by one`() async throws {
        server.route("GET", "/bytes", .text("abcdef"))
        #expect(try await api.firstBytes(3, of: "bytes") == Array("abc".utf8))
    }

    @Test func `a lost connection is tried again`() async throws {
        let lost = ServerReply.text("x").closing(after: 0, of: .message)
        server.enqueue(lost, lost, .text("third"))
        let session = api.session
        let url = server.url("/flaky")

        let text = try await api.withRetry(3) { String(decoding: try await session.data(from: url).0, as: UTF8.self) }

        #expect(text == "third")
    }

    @Test func `a cancelled task cancels its request`() async throws {
        server.script(.expectRequest, .stall)
        let session = api.session
        let url = server.url("/never")
        let task = Task { try await session.data(from: url) }
        _ = try await server.waitForRequests(1)

        task.cancel()

        let error = await task.result.failure as? URLError
        #expect(error?.code == .cancelled)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
