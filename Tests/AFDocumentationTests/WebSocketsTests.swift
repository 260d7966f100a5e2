import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

private let shown = Heard<String>()
private func show(_ text: String) { shown.add(text) }
private func show(_ message: URLSessionWebSocketTask.Message) {
    switch message {
    case .string(let text): show(text)
    case .data(let data): show("\(data.count) bytes")
    }
}
private func report(_ problem: Any) { shown.add("report \(problem)") }
private func finish(_ error: (any Error)?) { shown.add(error == nil ? "end" : "failed") }
private func logIn() { shown.add("log in") }

/// The snippets of the article on WebSockets.
@Suite(.serialized) struct WebSocketsTests {
    final class Prices: ReconnectingWebSocketDelegate {
        func webSocket(_ webSocket: ReconnectingWebSocket, didOpen task: URLSessionWebSocketTask) {
            task.send(.string("prices, please")) { error in
                if let error { report(error) }
            }
        }

        func webSocket(_ webSocket: ReconnectingWebSocket, didReceive message: URLSessionWebSocketTask.Message) {
            show(message)
        }

        func webSocket(_ webSocket: ReconnectingWebSocket, didEndWith error: (any Error)?) {
            finish(error)
        }
    }

    private let site: Site
    /// How much was shown before.
    private let start = shown.all.count

    init() throws {
        site = try Site()
    }

    private var new: [String] { Array(shown.all.dropFirst(start)) }

    private func new(_ count: Int) async throws -> [String] {
        try await shown.wait(for: start + count)
        return new
    }

    /// Sends the first message back, and closes.
    private func serve(_ path: String = "/chat", closing code: UInt16 = 1000) -> URL {
        site.server.route("GET", path) { _ in
            .webSocket(.init(subprotocols: ["chat.v1"])) { socket in
                if let message = try socket.receive() { try socket.send(message) }
                try socket.close(code)
            }
        }
        return site.url(path)
    }

    @Test func `messages go and come`() async throws {
        let (session, url) = (site.session, serve())

        let task = session.webSocketTask(with: url)
        task.resume()
        try await task.send(.string("hello"))
        for try await message in task.messages {
            switch message {
            case .string(let text): show(text)
            case .data(let data): show("\(data.count) bytes")
            }
        }

        #expect(new == ["hello"] && task.closeCode == .normalClosure)
    }

    @Test func `closures get messages, too`() async throws {
        let (task, data) = (site.session.webSocketTask(with: serve()), Data("hello".utf8))
        task.resume()

        task.send(.data(data)) { error in
            if let error { report(error) }
        }

        @Sendable func receiveNext() {
            task.receive { result in
                switch result {
                case .success(let message):
                    show(message)
                    receiveNext()
                case .failure(let error):
                    finish(error)
                }
            }
        }
        receiveNext()

        #expect(try await new(2) == ["5 bytes", "failed"])
    }

    @Test func `options say how a WebSocket is opened and kept`() async throws {
        let (session, request) = (site.session, URLRequest(url: serve()))

        var options = WebSocketOptions(protocols: ["chat.v2", "chat.v1"])
        let task = session.webSocketTask(with: request, options: options)
        let chosen = try await task.open()

        #expect(chosen == "chat.v1" && task.subprotocol == chosen)

        options.compression = nil

        options.maximumMessageSize = 16 << 20
        options.receiveBufferSize = 256 << 10

        options.pingInterval = .seconds(30)
        options.pongTimeout = .seconds(10)

        task.sendPing { error in
            if let error { report(error) } else { show("the server is there") }
        }

        task.cancel(with: .normalClosure, reason: Data("done".utf8))

        for try await message in task.messages { show(message) }
        #expect(try await new(1) == ["the server is there"])
        #expect(site.server.connections.first?.frames.last?.opcode == .close)
        #expect(options.maximumMessageSize == 16 << 20 && options.compression == nil)
    }

    @Test func `a code of the program's own says why`() async throws {
        let task = site.session.webSocketTask(with: serve(closing: 4001))
        try await task.open()
        try await task.send(.string("hello"))

        let loggedOut = URLSessionWebSocketTask.CloseCode(rawValue: 4001)
        do {
            for try await message in task.messages { show(message) }
        } catch {
            if task.closeCode == loggedOut { logIn() } else { report(error) }
        }

        #expect(new == ["hello", "log in"])
    }

    @Test func `a server that opens no WebSocket is an error`() async throws {
        let task = site.session.webSocketTask(with: site.url("/status/403"))

        do {
            try await task.open()
        } catch let error as URLError where error.loadFailure?.detail == .upgrade {
            report((task.response as? HTTPURLResponse)?.statusCode ?? 0)
        }

        #expect(new == ["report 403"])
    }

    @Test func `a delegate names the subprotocols for another origin`() async throws {
        let other = try TestServer()
        other.install(.webSockets)
        let target = "http://localhost:\(other.port)/ws/echo?protocol=chat.v1"
        site.server.route("GET", "/moved", ServerReply.status(307).header("Location", target))
        let session = URLSession(configuration: site.configuration, delegate: Naming(), delegateQueue: nil)

        let task = session.webSocketTask(with: site.url("/moved"), protocols: ["chat.v1", "token.secret"])

        #expect(try await task.open() == "chat.v1")
        #expect(other.requests.first?.headers["Sec-WebSocket-Protocol"] == "chat.v1")
    }

    @Test func `a WebSocket is opened again`() async throws {
        site.server.route("GET", "/prices") { request in
            .webSocket { socket in
                if try socket.receive() != nil { try socket.send(text: "price \(request.connection)") }
                try socket.close(request.connection == 1 ? 1012 : 1000)
            }
        }
        let (session, request) = (site.session, URLRequest(url: site.url("/prices")))

        var options = WebSocketOptions()
        options.pingInterval = .seconds(30)
        var reconnection = ReconnectionOptions()
        reconnection.initialDelay = .milliseconds(100)
        reconnection.maximumAttempts = 10

        let socket = ReconnectingWebSocket(
            request,
            session: session,
            options: options,
            reconnection: reconnection,
            delegate: Prices()
        )
        socket.resume()

        #expect(try await new(3) == ["price 1", "price 2", "end"])
    }

    @Test func `messages of all connections are a sequence`() async throws {
        let session = site.session
        site.server.route(
            "GET",
            "/prices",
            .webSocket { socket in
                try socket.send(text: "price 1")
                try socket.close()
            }
        )
        let request = URLRequest(url: site.url("/prices"))

        let socket = ReconnectingWebSocket(request, session: session)
        for try await message in socket.messages {
            show(message)
        }

        #expect(new == ["price 1"])
    }

    @Test func `a manager opens WebSockets, too`() async throws {
        let manager = site.manager
        _ = serve()

        let task = try manager.webSocket("chat", parameters: ["room": 7])
        task.resume()

        try await task.send(.string("hello"))
        for try await message in task.messages { show(message) }
        #expect(new == ["hello"] && site.server.requests.last?.target == "/chat?room=7")
    }

    @Test func `a server of the tests speaks WebSocket`() async throws {
        let (server, session) = (site.server, site.session)

        server.route("GET", "/greeting") { _ in
            .webSocket { socket in
                try socket.send(text: "hello")
                while let message = try socket.receive() { try socket.send(message) }
            }
        }

        let greeted = session.webSocketTask(with: server.url("/greeting"))
        greeted.resume()
        #expect(try await greeted.receive() == .string("hello"))

        server.install(.webSockets)

        let task = session.webSocketTask(with: server.url("/ws/bad/close-without-close"))
        task.resume()
        let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
        #expect(error?.loadFailure?.detail == .truncated && task.closeCode == .abnormalClosure)
    }
}

/// The delegate of the section about redirects.
private final class Naming: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        var request = request
        request.setValue("chat.v1", forHTTPHeaderField: "Sec-WebSocket-Protocol")
        return request
    }
}
