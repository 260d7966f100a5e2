import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

private struct Told: Sendable {
    let notes = Heard<String>()

    func show(_ text: String) { notes.add(text) }
    func report(_ error: any Error) { notes.add("report") }
}

private final class Listener: ReconnectingWebSocketDelegate {
    private let told: Told

    init(_ told: Told) {
        self.told = told
    }

    func webSocket(_ webSocket: ReconnectingWebSocket, didReceive message: URLSessionWebSocketTask.Message) {
        if case .string(let text) = message { told.show(text) }
    }

    func webSocket(_ webSocket: ReconnectingWebSocket, didEndWith error: (any Error)?) {
        told.show(error == nil ? "end" : "failed")
    }
}

/// The snippets of the article for those who come from Starscream.
@Suite struct ComingFromStarscreamTests {
    private let site: Site
    private let told = Told()

    init() throws {
        site = try Site()
    }

    private func show(_ text: String) { told.show(text) }
    private func report(_ error: any Error) { told.report(error) }

    @Test func `a task is a WebSocket, and its messages are a sequence`() async throws {
        let (session, url) = (site.session, site.url("/ws/count/2"))

        var request = URLRequest(url: url)
        request.timeoutInterval = 5
        let socket = session.webSocketTask(with: request)
        socket.resume()

        do {
            try await socket.open()
            show("open")
            for try await message in socket.messages {
                switch message {
                case .string(let text): show(text)
                case .data(let data): show("\(data.count) bytes")
                }
            }
            show("closed with \(socket.closeCode.rawValue)")
        } catch {
            report(error)
        }

        #expect(told.notes.all == ["open", "1", "2", "closed with 1000"])
    }

    @Test func `messages and pings are sent, and a Close frame`() async throws {
        let (socket, data, told) = (site.session.webSocketTask(with: site.url("/ws/echo")), Data("hi".utf8), told)
        @Sendable func report(_ error: any Error) { told.report(error) }
        socket.resume()

        try await socket.send(.string("hello"))
        socket.send(.data(data)) { error in if let error { report(error) } }
        socket.sendPing { error in if let error { report(error) } }
        socket.cancel(with: .goingAway, reason: nil)

        for try await _ in socket.messages {}
        #expect(socket.closeCode == .goingAway)
        let opcodes = site.server.connections.first?.frames.map(\.opcode)
        #expect(opcodes?.first == .text && opcodes?.last == .close)
    }

    @Test func `a WebSocket is opened again`() async throws {
        let (session, listener, request) = (site.session, Listener(told), URLRequest(url: site.url("/ws/count/1")))

        let socket = ReconnectingWebSocket(request, session: session, delegate: listener)
        socket.resume()

        #expect(try await told.notes.wait(for: 2) == ["1", "end"])
    }

    @Test func `an authority and pins are trusted`() async throws {
        let secure = try Site(tls: true)
        let folder = try ScratchFolder()
        let authority = try folder.write("root.pem", Data(#require(secure.authority).pem.utf8)).path
        let (configuration, policy) = (URLSessionConfiguration.ephemeral, SecurityPolicy())

        configuration.tls.anchors = try .file(authority)
        configuration.tls.evaluator = policy
        let session = URLSession(configuration: configuration)

        try await secure.owned(session).webSocketTask(with: secure.url("/ws/echo")).open()
    }
}

/// What other articles say about events and WebSockets.
@Suite struct StreamsElsewhereTests {
    @Test func `a manager has events and WebSockets`() async throws {
        let site = try Site()
        site.server.enqueue(.events("retry: 0\ndata: news"), .status(204))
        site.server.route("GET", "/chat") { _ in
            .webSocket { socket in
                try socket.send(text: "hello")
                try socket.close()
            }
        }
        let (api, told) = (site.manager, Told())
        func show(_ text: String) { told.show(text) }

        for try await event in try api.events("news") { show(event.data) }
        let socket = try api.webSocket("chat")
        socket.resume()
        for try await message in socket.messages { show("\(message)") }

        #expect(told.notes.all == ["news", #"string("hello")"#])
    }
}
