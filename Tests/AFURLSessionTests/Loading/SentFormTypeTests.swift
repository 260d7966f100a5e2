@testable import AFURLSession
@testable import AFURLTypes

/// Foundation sends the body of a POST as a form if neither the request nor the session says what it is.
@Suite("The type of a body that has none, on the wire")
struct SentFormTypeTests {
    private let form = "application/x-www-form-urlencoded"

    private struct Sent: Equatable {
        let method: String
        let types: [String]
        let body: String
    }

    private func sent(_ server: TestServer) -> [Sent] {
        server.requests.map {
            Sent(method: $0.method, types: $0.headers.values(of: "Content-Type"), body: $0.bodyText)
        }
    }

    @Test func `data, files and streams of every kind of task are forms when they are posted`() async throws {
        let folder = try ScratchFolder()
        let server = try TestServer()
        server.route("*", "/", .text("taken"))
        let session = URLSession.loopback()
        let file = try folder.file(Data("f".utf8))
        var streamed = URLRequest("POST", server.url("/"))
        streamed.httpBodyStream = InputStream(data: Data("s".utf8))
        let post = URLRequest("POST", server.url("/"))

        let data = URLRequest("POST", server.url("/"), body: Data("d".utf8))
        #expect(data.allHTTPHeaderFields == nil)
        _ = try await session.data(for: data)
        _ = try await session.data(for: streamed)
        _ = try await session.upload(for: post, from: Data("u".utf8))
        _ = try await session.upload(for: post, fromFile: file)
        _ = try await session.upload(for: URLRequest("PUT", server.url("/")), fromFile: file)
        _ = try URLConnection.sendSynchronousRequest(data, returning: nil)

        let posts = ["d", "s", "u", "f"].map { Sent(method: "POST", types: [form], body: $0) }
        #expect(
            sent(server) == posts + [
                Sent(method: "PUT", types: [], body: "f"), Sent(method: "POST", types: [form], body: "d"),
            ]
        )
    }

    @Test(arguments: [(303, "GET"), (302, "GET"), (307, "POST")])
    func `a redirect keeps the type exactly if it keeps the body`(status: Int, method: String) async throws {
        let server = try TestServer()
        server.route("POST", "/from", ServerReply.text("").status(status).header("Location", "/to"))
        server.route("*", "/to", .text("there"))

        _ = try await URLSession.loopback().data(for: URLRequest("POST", server.url("/from"), body: Data("d".utf8)))

        let types = method == "POST" ? [form] : []
        #expect(sent(server).last == Sent(method: method, types: types, body: method == "POST" ? "d" : ""))
    }

    @Test func `recorded traffic and commands show the type`() async throws {
        let server = try TestServer()
        server.route("*", "/", .text("taken"))
        let recorder = HARRecorder()
        let session = URLSession.loopback { $0.eventMonitors = [recorder] }
        defer { session.invalidateAndCancel() }
        let request = URLRequest("POST", server.url("/"), body: Data("user=me&password=canary".utf8))
        let task = session.uploadTask(with: URLRequest("POST", server.url("/")), from: Data("password=canary".utf8))

        for command in [request.curlCommand(), task.curlCommand(), session.dataTask(with: request).curlCommand()] {
            #expect(command.contains("--header 'Content-Type: \(form)'") && !command.contains("canary"))
        }
        #expect(
            try URLRequest("PUT", #require(request.url), body: Data([65])).curlCommand().contains(
                "--header Content-Type: "
            )
        )
        _ = try await session.outcome(of: request)
        let archive = String(decoding: try recorder.archive(), as: UTF8.self)
        #expect(archive.contains(form) && !archive.contains("canary"))
    }
}
