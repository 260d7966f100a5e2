import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Scenario {
    /// Requests without TLS, in each style of the library.
    static let plain: [Scenario] = [
        // With completion handlers: `load` waits for exactly one, and compares the bytes.
        Scenario(.plain, "keep-alive") { stage in
            let server = try stage.server { $0.route("GET", "/hello", .text("hello")) }
            let session = stage.session(again: server.url("/again"))
            for _ in 1...3 { await stage.load(server.url("/hello"), in: session, expecting: "hello") }
        },
        // With a delegate: the book looks that each event comes in its turn.
        Scenario(.plain, "events") { stage in
            let server = try stage.server { $0.route("GET", "/chunks", ServerReply.text("a body").chunked(1, 2, 3)) }
            let book = stage.eventBook()
            let session = stage.session(again: server.url("/again"), delegate: book)
            for _ in 1...2 {
                await stage.step("chunks") {
                    let data = try await book.outcome(of: session.dataTask(with: server.url("/chunks")), on: stage)
                    stage.demand(data == Data("a body".utf8), "\(data.count) bytes that are not the body")
                }
            }
        },
        // With async functions: what is thrown goes into the books of the step.
        Scenario(.plain, "async") { stage in
            let server = try stage.server { $0.route("POST", "/echo") { .data($0.body) } }
            let session = stage.session(again: server.url("/again"))
            await stage.step("echo") {
                var request = URLRequest(url: server.url("/echo"))
                request.httpMethod = "POST"
                let body = Data(repeating: 0x61, count: 3000)
                let (data, _) = try await session.upload(for: request, from: body)
                stage.demand(data == body, "\(data.count) bytes that are not those sent")
            }
        },
        // With a manager: its session is not one of the stage, which therefore has to adopt it.
        Scenario(.plain, "manager") { stage in
            let server = try stage.server { $0.route("GET", "/user", .json(#"{"id": 7}"#)) }
            let manager = HTTPSessionManager(baseURL: server.url("/"))
            stage.adopt(manager.session, again: server.url("/again"))
            await stage.step("user") {
                let user = try await manager.get("user", decode: User.self)
                stage.demand(user.id == 7, "another user: \(user)")
            }
        },
    ]
}

private struct User: Decodable, Sendable {
    let id: Int
}
