import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

/// Code written for Foundation's loader, in the language mode it was written in, against a server on loopback.
@Suite("Ported code: requests and forms")
struct RESTClientTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
    }

    private func client() -> RESTClient {
        RESTClient(baseURL: server.url("/v1"), timeout: 10)
    }

    @Test func `lists are decoded, with the session's fields and the query`() async throws {
        server.route("GET", "/v1/articles", .json(#"[{"id": 7, "title": "Öl", "tags": ["a"]}]"#))
        let client = client()
        client.token = "t0ken"

        let result = await withCheckedContinuation { done in
            client.articles(tagged: "a b") { done.resume(returning: $0) }
        }

        #expect(result == .success([Article(id: 7, title: "Öl", tags: ["a"])]))
        let request = try #require(server.requests.first)
        #expect(request.queryItems == [URLQueryItem(name: "tag", value: "a b")])
        #expect(request.headers["Authorization"] == "Bearer t0ken")
        #expect(request.headers["User-Agent"] == "ArticleReader/2.1")
        #expect(request.headers["Accept"] == "application/json")
    }

    @Test func `values are posted as JSON and come back`() async throws {
        server.route("POST", "/v1/articles") { .json($0.bodyText).status(201) }
        let article = Article(id: 1, title: "New", tags: [])
        let client = client()

        let result = await withCheckedContinuation { done in
            let task = client.create(article) { done.resume(returning: $0) }
            #expect(task.taskDescription == "create 1" && task.priority == URLSessionTask.highPriority)
        }

        #expect(result == .success(article))
        #expect(server.requests.first?.headers["Content-Type"] == "application/json")
    }

    @Test func `errors arrive as the codes that are asked for`() async throws {
        let lost = ServerReply.text("x").closing(after: 0, of: .message)
        server.enqueue(.status(404).keepAlive(false), .text("no JSON").keepAlive(false), lost)
        let client = client()
        var seen: [Result<[Article], APIError>] = []
        for _ in 0..<3 {
            let result = await withCheckedContinuation { done in
                client.articles(tagged: nil) { done.resume(returning: $0) }
            }
            seen.append(result)
        }

        #expect(seen == [.failure(.status(404)), .failure(.decoding), .failure(.transport(.networkConnectionLost))])
    }

    @Test func `a request is tried again by its owner`() async {
        server.enqueue(.status(503), .status(503), .status(204))

        let error = await withCheckedContinuation { done in
            client().delete(id: 3) { done.resume(returning: $0) }
        }

        #expect(error == nil)
        #expect(server.requests.count == 3)
        #expect(server.requests.allSatisfy { $0.headers["Cache-Control"] != nil })
    }

    @Test func `a thread may wait for its answer`() async throws {
        server.route("GET", "/slow", ServerReply.text("done").delayed(by: .milliseconds(10)))
        let request = URLRequest(url: server.url("/slow"))
        let session = URLSession(configuration: .ephemeral)

        let answer = await withCheckedContinuation {
            (done: CheckedContinuation<(Data?, HTTPURLResponse?, NSError?), Never>) in
            Thread { done.resume(returning: loadSynchronously(request, in: session)) }.start()
        }
        #expect(answer.0 == Data("done".utf8) && answer.1?.statusCode == 200 && answer.2 == nil)
        let refused = await withCheckedContinuation {
            (done: CheckedContinuation<(Data?, HTTPURLResponse?, NSError?), Never>) in
            let gone = URLRequest(url: URL(string: "http://127.0.0.1:1/")!)
            Thread { done.resume(returning: loadSynchronously(gone, in: session)) }.start()
        }
        #expect(refused.2?.domain == NSURLErrorDomain && refused.2?.code == NSURLErrorCannotConnectToHost)
    }

    @Test func `forms, files and streams are uploaded with progress`() async throws {
        server.route("*", "/up") { .text("\($0.body.count)") }
        let uploader = Uploader()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(repeating: 7, count: 300_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }

        let form = await withCheckedContinuation { done in
            uploader.uploadForm(["name": "Ada"], file: Data("xyz".utf8), to: server.url("/up")) { status, error in
                done.resume(returning: error == nil ? status : nil)
            }
        }
        #expect(form == 200)
        #expect(server.requests.first?.bodyText.contains("name=\"name\"\r\n\r\nAda\r\n") == true)
        let sizes = await withCheckedContinuation { done in
            uploader.uploadFile(file, to: server.url("/up")) { body, response, error in
                #expect(response?.statusCode == 200 && error == nil)
                done.resume(returning: String(decoding: body, as: UTF8.self))
            }
        }
        #expect(sizes == "300000")
        #expect(uploader.progress.last?.sent == 300_000 && uploader.progress.last?.total == 300_000)
        let streamed = await withCheckedContinuation { done in
            uploader.uploadStream(of: Data("streamed".utf8), to: server.url("/up")) { body, _, error in
                #expect(error == nil)
                done.resume(returning: String(decoding: body, as: UTF8.self))
            }
        }
        #expect(streamed == "8")
        uploader.session.finishTasksAndInvalidate()
    }
}
