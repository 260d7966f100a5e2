import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Scenario {
    /// Requests without TLS, in each style of the library.
    static let plain = plainStyles + plainCourses

    private static let plainStyles: [Scenario] = [
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
        Scenario(.plain, "manager-form") { stage in
            let server = try stage.server { $0.route("POST", "/form") { .json("[\"\($0.bodyByteCount)\"]") } }
            let manager = HTTPSessionManager(baseURL: server.url("/"))
            stage.adopt(manager.session, again: server.url("/again"))
            await stage.step("form") {
                let response = try await manager.post("form", parameters: ["name": "Ann", "age": 40])
                stage.demand(response.object as? [String] == ["15"], "another form: \(response.object ?? "")")
            }
        },
        Scenario(.plain, "operation") { stage in
            let server = try stage.server { $0.route("GET", "/hello", .text("hello")) }
            let url = server.url("/hello")
            await stage.step("operation") {
                let completion = stage.completion(of: "the operation", as: Result<Data, any Error>.self)
                let operation = HTTPRequestOperation(request: URLRequest(url: url))
                operation.setCompletionBlock { operation, _ in
                    completion.call(.success(operation.responseData ?? Data()))
                } failure: { _, error in
                    completion.call(.failure(error))
                }
                operation.start()
                let data = try await completion.value().get()
                stage.demand(data == Data("hello".utf8), "\(data.count) bytes that are not hello")
            }
        },
    ]

    private static let plainCourses: [Scenario] = [
        Scenario(.plain, "parallel") { stage in
            let server = try stage.server { server in
                server.route("GET", "/number/:n") { .text("number \($0.parameters["n"] ?? "")") }
            }
            let session = stage.session(again: server.url("/again")) { $0.httpMaximumConnectionsPerHost = 2 }
            await withTaskGroup(of: Void.self) { group in
                for number in 1...5 {
                    group.addTask {
                        let url = server.url("/number/\(number)")
                        await stage.load(url, in: session, expecting: "number \(number)")
                    }
                }
            }
        },
        Scenario(.plain, "gzip") { stage in
            let text = String(repeating: "a line that comes again\n", count: 400)
            let server = try stage.server { server in
                server.route("GET", "/gzip", ServerReply.text(text).compressed(.gzip))
                server.route("GET", "/deflate", ServerReply.text(text).compressed(.zlib).chunked(100))
            }
            let session = stage.session(again: server.url("/again"))
            await stage.load(server.url("/gzip"), in: session, expecting: text)
            await stage.load(server.url("/deflate"), in: session, expecting: text)
        },
        Scenario(.plain, "interim") { stage in
            let server = try stage.server { server in
                server.route("GET", "/hints", ServerReply.text("done").interim(103, ["Link": "</style.css>"]))
                server.route("GET", "/nothing", .status(204))
            }
            let session = stage.session(again: server.url("/again"))
            await stage.load(server.url("/hints"), in: session, expecting: "done")
            await stage.load(server.url("/nothing"), in: session, status: 204, expecting: "")
            var head = URLRequest(url: server.url("/hints"))
            head.httpMethod = "HEAD"
            await stage.load(head, in: session, expecting: "")
        },
        Scenario(.plain, "by-name") { stage in
            let server = try stage.server { $0.route("GET", "/hello", ServerReply.text("hello").keepAlive(false)) }
            let session = stage.session(again: server.url("/again", host: "localhost"))
            for _ in 1...2 {
                await stage.load(server.url("/hello", host: "localhost"), in: session, expecting: "hello")
            }
        },
        // The server closes a connection that it had promised to keep: the next request is sent again.
        Scenario(.plain, "closed-while-idle") { stage in
            let server = try stage.server { server in
                server.route("GET", "/hello", .text("hello"))
                let reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
                server.script(on: .connection(1), .expectHead, .send(reply), .close)
            }
            let session = stage.session(again: server.url("/again"))
            for _ in 1...2 { await stage.load(server.url("/hello"), in: session, expecting: "hello") }
        },
        // Nothing is told of a task before it is resumed: the book looks that it is.
        Scenario(.plain, "never-resumed") { stage in
            let server = try stage.server { $0.route("GET", "/hello", .text("hello")) }
            let session = stage.session(again: server.url("/again"))
            let completion = stage.completion(of: "the other task", as: Result<Loaded, any Error>.self)
            let task = session.dataTask(with: server.url("/never")) { completion.call(Loaded.result($0, $1, $2)) }
            await stage.load(server.url("/hello"), in: session, expecting: "hello")
            stage.demand(completion.openEntry != nil, "it ends before it is resumed")
            await stage.refusal("the other task", codes: [-999]) {
                task.cancel()
                return try await completion.value().get()
            }
            stage.demand(!server.requests.contains { $0.path == "/never" }, "it is sent before it is resumed")
        },
        // What it says is for a terminal, and long.
        Scenario(.plain, "rude-server") { stage in
            let server = try stage.server { server in
                let length = "\u{1B}]0;" + String(repeating: "rude", count: 300)
                server.route("GET", "/rude", ServerReply.raw("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"))
            }
            let session = stage.session(again: server.url("/again"))
            await stage.refusal("a rude answer", codes: [-1017]) {
                do {
                    return try await session.data(from: server.url("/rude"))
                } catch {
                    let text = "\(error) \(String(reflecting: error)) \(error.localizedDescription)"
                    stage.demand(!text.contains(String(repeating: "rude", count: 65)), "all of it is told: \(text)")
                    throw error
                }
            }
        },
        Scenario(.plain, "cancelled") { stage in
            let server = try stage.server { server in
                server.route("GET", "/hello", .text("hello"))
                server.route("GET", "/stalls", ServerReply.text("0123456789").stalling(after: 4))
            }
            let session = stage.session(again: server.url("/again"))
            await stage.load(server.url("/hello"), in: session, expecting: "hello")
            await stage.refusal("the cancelled task", codes: [-999]) {
                let completion = stage.completion(of: "the cancelled task", as: Result<Loaded, any Error>.self)
                let task = session.dataTask(with: server.url("/stalls")) { completion.call(Loaded.result($0, $1, $2)) }
                task.resume()
                await Task.yield()
                task.cancel()
                return try await completion.value().get()
            }
            await stage.load(server.url("/hello"), in: session, expecting: "hello")
        },
    ]
}

private struct User: Decodable, Sendable {
    let id: Int
}
