import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

private let shown = Heard<String>()
private func show(_ name: String, _ data: String) { shown.add(data) }

final class Status: NSObject, EventStreamDelegate {
    func eventStream(_ stream: EventStream, didOpen response: URLResponse) {
        show("stream", "open")
    }

    func eventStream(
        _ stream: EventStream,
        willReconnectAfter wait: Duration,
        attempt: Int,
        because error: (any Error)?
    ) {
        show("attempt \(attempt) in \(wait)", error?.localizedDescription ?? "the server has ended it")
    }

    func eventStream(_ stream: EventStream, didEndWith error: (any Error)?) {
        show("stream", "over")
    }
}

/// The snippets of the article on streams of events.
@Suite(.serialized) struct EventsTests {
    private struct Delta: Decodable { let text: String }
    private struct Item: Decodable { let id: Int }

    @Test func `a stream is read, and asked for with a body`() async throws {
        let site = try Site()
        let session = site.session
        site.server.route("POST", "/chat", .events(#"data: {"text": "hel"}"#, #"data: {"text": "lo"}"#, "data: [DONE]"))
        var url = site.url("/events/2")
        let before = shown.all.count

        for try await event in session.events(from: url) {
            show(event.name, event.data)
        }

        #expect(shown.all.count == before + 2)
        url = site.url("/chat")
        var text = ""
        func append(_ part: String) { text += part }

        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"prompt": "hello", "stream": true}"#.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")

        for try await event in session.events(for: request) {
            if event.data == "[DONE]" { break }
            append(try event.decode(Delta.self).text)
        }

        #expect(text == "hello")
    }

    @Test func `a refused stream says why`() async throws {
        struct Problem: Decodable { let message: String }
        let site = try Site()
        let session = site.session
        let reply = ServerReply.json(#"{"message": "slowly"}"#).status(429).header("Retry-After", "5")
        site.server.route("GET", "/chat", reply)
        let request = URLRequest(url: site.url("/chat"))
        let before = shown.all.count

        do {
            for try await event in session.events(for: request) { show(event.name, event.data) }
        } catch let error as URLError {
            guard let refused = error.refusedResponse else { throw error }
            let wait = refused.response.value(forHTTPHeaderField: "Retry-After") ?? "0"
            show("status \(refused.response.statusCode), again in \(wait) s", try refused.decode(Problem.self).message)
        }

        #expect(shown.all.dropFirst(before) == ["slowly"])
    }

    @Test func `a response is looked at, and then read as events`() async throws {
        let site = try Site()
        let session = site.session
        let request = URLRequest(url: site.url("/events/1"))
        let before = shown.all.count

        let (bytes, response) = try await session.bytes(for: request)
        show("status", "\((response as? HTTPURLResponse)?.statusCode ?? 0)")
        for try await event in bytes.events {
            show(event.name, event.data)
        }

        #expect(shown.all.count == before + 2 && shown.all[before] == "200")
    }

    @Test func `a delegate hears how the stream fares`() async throws {
        let site = try Site()
        let session = site.session
        site.server.route("GET", "/once", .status(204))
        let request = URLRequest(url: site.url("/events/1"))
        let before = shown.all.count

        let stream = session.events(for: request, delegate: Status())
        for try await _ in stream { break }
        #expect(shown.all.dropFirst(before) == ["open"])
        for try await _ in session.events(for: URLRequest(url: site.url("/once")), delegate: Status()) {}
        #expect(shown.all.dropFirst(before) == ["open", "over"])
    }

    @Test func `a stream goes on where it was`() async throws {
        let site = try Site()
        let session = site.session
        let request = URLRequest(url: site.url("/events/5"))
        let saved = "3"

        var options = EventStreamOptions()
        options.maximumAttempts = 10
        options.reconnectingStatusCodes = [502, 503]
        options.lastEventID = saved
        let stream = session.events(for: request, options: options)

        var ids: [String] = []
        for try await event in stream {
            ids.append(event.id)
            if event.id == "5" { break }
        }
        #expect(ids == ["4", "5"])
    }

    @Test func `closures are called, and a manager has its base and policy`() async throws {
        let site = try Site()
        let session = site.session
        let ends = Heard<Bool>()
        @Sendable func finish(_ error: (any Error)?) { ends.add(error == nil) }
        site.server.route("GET", "/once", .status(204))
        let request = URLRequest(url: site.url("/once"))

        let source = EventStreamReader(request, session: session) { event in
            show(event.name, event.data)
        } completion: { error in
            finish(error)
        }
        source.resume()

        #expect(try await ends.wait() == [true])
        let manager = site.manager
        site.server.enqueue(.events("retry: 0\ndata: news"))
        site.server.enqueue(.status(204))
        let before = shown.all.count

        for try await event in try manager.events("news", parameters: ["topic": "swift"]) {
            show(event.name, event.data)
        }

        #expect(shown.all.count == before + 1 && site.server.requests.last?.target == "/news?topic=swift")
    }

    @Test func `lines of JSON are values`() async throws {
        let site = try Site()
        let session = site.session
        let request = URLRequest(url: site.url("/stream/3"))
        var items: [Int] = []
        func add(_ item: Item) { items.append(item.id) }

        for try await item in session.jsonLines(of: Item.self, for: request) {
            add(item)
        }

        #expect(items == [0, 1, 2])
        let server = site.server
        server.route("GET", "/news", .events("id: 1\ndata: one", "id: 2\ndata: two"))
        var news = session.events(from: site.url("/news")).makeAsyncIterator()
        #expect(try await news.next()?.data == "one")
        #expect(try await news.next() == ServerSentEvent(data: "two", id: "2"))
    }
}
