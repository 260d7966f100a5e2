import AFNetworkingTesting
import AFTorture
import AFURLSession
import Foundation

extension Scenario {
    /// Events of a server, and WebSockets.
    static let streams: [Scenario] = [
        Scenario(.streams, "events") { stage in
            let server = try stage.server { $0.route("GET", "/news", .events("data: one", "data: two", "data: three")) }
            let session = stage.session(again: server.url("/again"))
            await stage.step("events") {
                var texts: [String] = []
                let options = EventStreamOptions(reconnection: .never)
                for try await event in session.events(from: server.url("/news"), options: options) {
                    texts.append(event.data)
                }
                stage.demand(texts == ["one", "two", "three"], "other events: \(texts)")
            }
        },
        Scenario(.streams, "websocket") { stage in
            let server = try stage.server { $0.install(.webSockets) }
            let session = stage.session(again: server.url("/again"))
            await echo(stage, session.webSocketTask(with: server.url("/ws/echo")), "hello")
        },
        Scenario(.streams, "websocket-compressed") { stage in
            let server = try stage.server { $0.install(.webSockets) }
            let session = stage.session(again: server.url("/again"))
            let text = String(repeating: "hello ", count: 20_000)
            await echo(stage, session.webSocketTask(with: server.url("/ws/echo?deflate=1")), text)
        },
        Scenario(.streams, "websocket-closed") { stage in
            let server = try stage.server { $0.install(.webSockets) }
            let session = stage.session(again: server.url("/again"))
            await stage.step("count") {
                let task = session.webSocketTask(with: server.url("/ws/count/5"))
                task.resume()
                var count = 0
                for try await message in task.messages {
                    count += 1
                    stage.demand(message == .string("\(count)"), "another message: \(message)")
                }
                stage.demand(count == 5, "\(count) messages, and the sequence has ended")
            }
        },
        Scenario(.streams, "websocket-refused") { stage in
            let server = try stage.server { $0.install(.webSockets) }
            let session = stage.session(again: server.url("/again"))
            await stage.refusal("a wrong accept", codes: [URLError.Code.badServerResponse.rawValue]) {
                try await session.webSocketTask(with: server.url("/ws/bad/accept")).open()
            }
        },
    ]

    private static func echo(_ stage: Stage, _ task: URLSessionWebSocketTask, _ text: String) async {
        await stage.step("echo") {
            task.resume()
            // Whatever fails, nothing is left.
            defer { task.cancel() }
            try await task.send(.string(text))
            let message = try await task.receive()
            stage.demand(message == .string(text), "another message than the one of \(text.utf8.count) bytes")
            task.cancel(with: .normalClosure, reason: nil)
            for try await message in task.messages { stage.find("one more message: \(message)") }
        }
    }
}
