@testable import AFURLSession

/// Interim responses (1xx), as the delegate hears of them.
struct InterimResponseTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
    }

    /// Notes what the session calls, in order.
    private final class Listener: URLSessionDataDelegate {
        let words = Watched<[String]>([])

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceiveInformationalResponse response: HTTPURLResponse
        ) {
            let links = response.links.map { "\($0.relations) \($0.url.path)" }
            words.change { $0.append("\(response.statusCode) \(links)") }
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse
        ) async -> URLSession.ResponseDisposition {
            words.change { $0.append("\((response as? HTTPURLResponse)?.statusCode ?? 0)") }
            return .allow
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            words.change { $0.append(error == nil ? "end" : "error") }
        }
    }

    /// Has none of the methods.
    private final class Deaf: URLSessionTaskDelegate {}

    private let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"

    @Test func `hints are there before the server has a response, and in front of it`() async throws {
        server.script(
            .expectHead,
            .send("HTTP/1.1 100 Continue\r\n\r\n" + hint),
            .pause(until: "hints"),
            .send(hint + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        )
        let listener = Listener()
        let session = URLSession(configuration: .ephemeral, delegate: listener, delegateQueue: nil)
        defer { session.invalidateAndCancel() }

        session.dataTask(with: server.url("/x")).resume()

        _ = try await listener.words.wait("the first hint") { $0.count == 2 }
        server.signal("hints")
        let words = try await listener.words.wait("the end") { $0.last == "end" }
        let heard = "103 [\"[\\\"preload\\\"] /a.css\"]"
        #expect(words == ["100 []", heard, heard, "200", "end"])
    }

    @Test func `the delegate of an awaited task hears of them before the call returns`() async throws {
        server.route("GET", "/x", ServerReply.text("ok").interim(103, ["Link": "</a.css>; rel=preload"]).interim(102))
        let (listener, session) = (Listener(), URLSession.loopback())

        let (_, response) = try await session.data(from: server.url("/x"), delegate: listener)

        #expect(listener.words.value == ["103 [\"[\\\"preload\\\"] /a.css\"]", "102 []"])
        #expect((response as? HTTPURLResponse)?.precedingResponses.map(\.statusCode) == [103, 102])
    }

    @Test func `the session's delegate hears where the task's own has no method, and a class without one once`()
        async throws
    {
        server.route("GET", "/x", ServerReply.text("ok").interim(103))
        let listener = Listener()
        let session = URLSession(configuration: .ephemeral, delegate: listener, delegateQueue: nil)
        let deaf = URLSession(configuration: .ephemeral, delegate: Deaf(), delegateQueue: nil)
        defer {
            session.invalidateAndCancel()
            deaf.invalidateAndCancel()
        }

        for _ in 0..<2 {
            #expect(String(decoding: try await deaf.data(from: server.url("/x")).0, as: UTF8.self) == "ok")
            _ = try await session.data(from: server.url("/x"), delegate: Deaf())
        }

        #expect(listener.words.value == ["103 []", "103 []"])
    }

    @Test func `a redirect has hints of its own`() async throws {
        server.route(
            "GET",
            "/x",
            ServerReply.status(302).header("Location", "/y").interim(103, ["Link": "</a>; rel=next"])
        )
        server.route("GET", "/y", ServerReply.text("ok").interim(103))
        let (listener, session) = (Listener(), URLSession.loopback())

        _ = try await session.data(from: server.url("/x"), delegate: listener)

        #expect(listener.words.value == ["103 [\"[\\\"next\\\"] /a\"]", "103 []"])
    }

    @Test func `T-ANS-11 a server that goes on with interim responses fails the task`() async throws {
        let flood = (0..<100).reduce(ServerReply.text("ok")) { reply, _ in reply.interim(103) }
        server.route("GET", "/x", flood)
        let (listener, session) = (Listener(), URLSession.loopback())

        await #expect(throws: URLError.self) { try await session.data(from: server.url("/x"), delegate: listener) }

        #expect(listener.words.value == Array(repeating: "103 []", count: 16))
    }
}
