import AFImages
import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// What the README and the tutorials of AFNetworking show, at work.
@MainActor @Suite struct SnippetTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.everything)
        server.route("GET", "/html", ServerReply.json(#"{"a": 1}"#).header("Content-Type", "text/html"))
    }

    private func wait<Value>(_ body: (@escaping (Value) -> Void) -> Void) async -> Value {
        await withCheckedContinuation { continuation in
            body { continuation.resume(returning: $0) }
        }
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    private func file(_ text: String) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("snippet-\(UUID()).txt")
        try Data(text.utf8).write(to: file)
        return file
    }

    // MARK: - Tasks

    @Test func `a download lies where its destination says`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("snippets-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let place: URL? = await wait { done in
            TaskSnippets.download(server.url("/bytes/500"), to: folder) { url, _ in done(url) }
        }
        #expect(try Data(contentsOf: #require(place)).count == 500)
    }

    @Test func `a file is uploaded, alone and in a form`() async throws {
        let file = try file("hello")
        defer { try? FileManager.default.removeItem(at: file) }

        let plain: Any? = await wait { done in
            TaskSnippets.upload(file, to: server.url("/post")) { object, _ in done(object) }
        }
        // As Foundation does, the session calls the body of a POST a form.
        #expect(((plain as? [String: Any])?["form"] as? [String: String])?.keys.first == "hello")

        var fractions: [Double] = []
        let form: Any? = await wait { done in
            TaskSnippets.multipart(file, to: url("/post"), progress: { fractions.append($0) }) { object, _ in
                done(object)
            }
        }
        #expect(((form as? [String: Any])?["files"] as? [String: String])?["file"] == "hello")
        #expect(fractions.last == 1)
    }

    @Test func `a data task has an object, and a session ends`() async {
        let (status, object): (Int, Any?) = await wait { done in
            TaskSnippets.data(server.url("/get")) { done(($0, $1)) }
        }
        #expect(status == 200 && object is [String: Any])

        let manager = AFURLSessionManager(sessionConfiguration: .default)
        let _: Void = await wait { done in TaskSnippets.invalidate(manager) { done(()) } }
        #expect(manager.tasks.isEmpty)
        manager.setSessionDidBecomeInvalidBlock(nil)
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    // MARK: - Requests

    @Test func `requests have parameters in the query, in a form, and in JSON`() throws {
        #expect(RequestSnippets.query("http://a.test").url?.query == "baz%5B%5D=1&baz%5B%5D=2&baz%5B%5D=3&foo=bar")

        let form = RequestSnippets.form("http://a.test")
        #expect(form.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
        #expect(form.value(forHTTPHeaderField: "Authorization") == "Bearer token")
        #expect(form.httpBody == Data("baz%5B%5D=1&baz%5B%5D=2&baz%5B%5D=3&foo=bar".utf8))

        let json = try RequestSnippets.json("http://a.test")
        #expect(json.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(json.httpBody == Data(#"{"baz":[1,2,3],"foo":"bar"}"#.utf8))
    }

    @Test func `a request that cannot be made has an error, and is not sent`() async {
        let (request, error) = RequestSnippets.impossible()
        #expect(
            error?.domain == AFURLRequestSerializationErrorDomain && error?.code == NSURLErrorCannotDecodeContentData
        )
        #expect(request.url == nil)

        let manager = AFURLSessionManager(sessionConfiguration: .default)
        let failure: Error? = await wait { done in
            manager.dataTask(with: request) { _, _, error in done(error) }.resume()
        }
        #expect((failure as NSError?)?.code == NSURLErrorUnsupportedURL)
        manager.invalidateSessionCancelingTasks(true)
    }

    // MARK: - Managers

    @Test func `a manager accepts the types that were added`() async {
        let (object, error): (Any?, Error?) = await wait { done in
            ManagerSnippets.get(url("/html")) { done(($0, $1)) }
        }
        #expect((object as? [String: Int]) == ["a": 1] && error == nil)

        let text: String? = await wait { done in ManagerSnippets.post(url("/post")) { done($0) } }
        #expect(text?.contains(#""foo":"#) == true)
        #expect(ManagerSnippets.compound().acceptableStatusCodes?.contains(404) == true)
    }

    @Test(arguments: [true, false]) func `a challenge is answered`(withPointer: Bool) async {
        for (password, isRight) in [("passwd", true), ("wrong", false)] {
            let manager = AFHTTPSessionManager(baseURL: server.url("/"))
            if withPointer {
                ManagerSnippets.answerWithPointer(manager, user: "user", password: password)
            } else {
                ManagerSnippets.answerWithObject(manager, user: "user", password: password)
            }
            let object: Any? = await wait { done in
                manager.get("basic-auth/user/passwd", parameters: nil) {
                    done($1)
                } failure: { _, _ in
                    done(nil)
                }
            }
            #expect((object != nil) == isRight)
            manager.invalidateSessionCancelingTasks(true)
        }
    }

    // MARK: - What is shared

    @Test func `shared objects are called for`() async throws {
        let text: String = await wait { done in
            var isDone = false
            SharedSnippets.watchNetwork { text in
                if !isDone { done(text) }
                isDone = true
            }
        }
        AFNetworkReachabilityManager.shared().stopMonitoring()
        AFNetworkReachabilityManager.shared().setReachabilityStatusChange(nil)
        #expect(["Reachable via WiFi", "Not Reachable"].contains(text))
        #expect(AFNetworkReachabilityManager.shared() === AFNetworkReachabilityManager.shared)

        #expect(SharedSnippets.showActivity())
        AFNetworkActivityIndicatorManager.shared().isEnabled = false

        let manager = AFHTTPRequestOperationManager()
        manager.reachabilityManager = AFNetworkReachabilityManager(forDomain: "localhost")
        SharedSnippets.watchWithManager(manager)
        for _ in 0..<6000 where !manager.reachabilityManager.isReachable {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(manager.reachabilityManager.isReachable)
        manager.reachabilityManager.stopMonitoring()
    }

    @Test func `policies pin, and can be told to trust all`() {
        let manager = AFHTTPSessionManager(baseURL: URL(string: "https://example.com/"))
        SecuritySnippets.pin(manager, in: .main)
        #expect(manager.securityPolicy.sslPinningMode == .certificate)
        #expect(manager.securityPolicy.pinnedCertificates == [])
        #expect(SecuritySnippets.trustAll().securityPolicy.allowInvalidCertificates)
    }

    // MARK: - Operations

    @Test func `operations get and post`() async throws {
        let object: Any? = await wait { done in OperationSnippets.get(url("/html")) { object, _ in done(object) } }
        #expect(object as? [String: Int] == ["a": 1])
        let one: Any? = await wait { done in OperationSnippets.single(server.url("/html")) { done($0) } }
        #expect(one as? [String: Int] == ["a": 1])

        let file = try file("picture")
        defer { try? FileManager.default.removeItem(at: file) }
        let posted: Any? = await wait { done in OperationSnippets.post(url("/post"), file) { object, _ in done(object) }
        }
        #expect(((posted as? [String: Any])?["files"] as? [String: String])?["image"] == "picture")
        let count: Int = await wait { done in OperationSnippets.batch([file, file], to: url("/post")) { done($0) } }
        #expect(count == 2 && server.requests.count { $0.body.contains(Data("picture".utf8)) } == 3)
    }

    // MARK: - Views

    @Test func `a view shows an image`() async throws {
        let picture = try Image(width: 2, height: 1, pixels: [1, 2, 3, 255, 4, 5, 6, 255] as [UInt8]).pngData()
        server.route("GET", "/a.png") { _ in .data(picture, type: "image/png") }
        let view = PictureView()
        let image: Image = await wait { done in view.show(server.url("/a.png")) { done($0) } }
        #expect(image.width == 2)
        view.cancelImageDownloadTask()
    }
}

/// Subclasses of managers, at work.
@MainActor @Suite struct ClientTests {
    @Test func `a subclass begins in its own way, and so does its copy`() async throws {
        let server = try TestServer()
        server.route("GET", "/stream/*") {
            .json(#"{"data": ["\#($0.headers["X-Client"] ?? "")"]}"#).header("Content-Type", "text/html")
        }
        let client = AppDotNetClient(baseURL: server.url("/"), sessionConfiguration: .ephemeral)
        let copy = try #require(client.copy() as? AppDotNetClient)
        #expect(copy !== client && copy.baseURL == client.baseURL)
        for client in [client, copy] {
            let posts: [Any] = await withCheckedContinuation { continuation in
                _ = AppDotNetClient.globalTimelinePosts(from: client) { posts, _ in
                    continuation.resume(returning: posts)
                }
            }
            #expect(posts as? [String] == ["dotnet"])
            client.invalidateSessionCancelingTasks(true)
        }
        #expect(AppDotNetClient.shared.baseURL?.host == "api.example.com")
    }

    @Test func `subclasses have the initializers they need`() throws {
        let base = URL(string: "http://a.test/")
        #expect(QuietClient(baseURL: base).baseURL == base)
        #expect(PlainClient.shareInstance.responseSerializer.acceptableContentTypes?.contains("text/html") == true)
        #expect(PlainClient(baseURL: base).baseURL == base)
        #expect(PlainClient.manager().baseURL == nil)
        #expect((PlainClient(baseURL: base).copy() as? PlainClient)?.baseURL == base)

        let operations = OperationClient(baseURL: base)
        let copy = try #require(operations.copy() as? OperationClient)
        #expect(copy.baseURL == base && copy.requestSerializer is AFJSONRequestSerializer)
        #expect(copy.responseSerializer is AFJSONResponseSerializer)

        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 7
        let center = TransferCenter(sessionConfiguration: configuration)
        #expect(center.responseSerializer is AFHTTPResponseSerializer)
        let other = try #require(center.copy() as? TransferCenter)
        #expect(other.session.configuration.timeoutIntervalForRequest == 7)
        other.invalidateSessionCancelingTasks(true)
    }
}
