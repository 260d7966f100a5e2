import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// Runs the code of the article about operations.
@Suite struct OperationsArticleTests {
    private let server: TestServer
    private let shown = Heard<String>()
    private let drawn = Heard<[Int64]>()
    private let queue = OperationQueue()

    init() throws {
        server = try TestServer()
        server.install(.authentication)
        server.route("GET", "/v1/users/1", .json(#"{"name": "anna"}"#))
        server.route("GET", "/login", .status(401))
        server.route("GET", "/text", .text("text"))
        server.route("GET", "/moved", ServerReply.status(302).header("Location", "/text"))
        server.route("GET", "/long") { .file(Data(repeating: 0x78, count: 3_000_000), entityTag: "\"1\"", to: $0) }
    }

    private var show: @Sendable (Any?) -> Void {
        { [shown] in shown.add($0.map { "\($0)" } ?? "nothing") }
    }

    private var report: @Sendable (any Error) -> Void {
        { [shown] in shown.add("error \(($0 as NSError).code)") }
    }

    @Test func `an operation is run by its queue`() async throws {
        let (url, show, report) = (server.url("/v1/users/1"), show, report)

        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4

        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.responseSerializer = JSONResponseSerializer()
        operation.setCompletionBlock { operation, object in
            show(object)
        } failure: { operation, error in
            report(error)
        }
        queue.addOperation(operation)

        #expect(try await shown.wait(for: 1)[0].contains("anna"))
    }

    // Foundation forbids `addOperations` in async code, so it is called from another function.

    private func enqueueBoth() -> (HTTPRequestOperation, HTTPRequestOperation) {
        let loginRequest = URLRequest(url: server.url("/login"))
        let profileRequest = URLRequest(url: server.url("/v1/users/1"))

        let login = HTTPRequestOperation(request: loginRequest)
        let profile = HTTPRequestOperation(request: profileRequest)
        profile.addDependency(login)
        queue.addOperations([login, profile], waitUntilFinished: false)
        return (login, profile)
    }

    @Test func `an operation waits for another, however that one ends`() async throws {
        let (login, profile) = enqueueBoth()

        try await profile.ended()
        #expect(login.response?.statusCode == 401 && profile.response?.statusCode == 200)
        #expect(server.requests.map(\.path) == ["/login", "/v1/users/1"])
    }

    private func enqueueWithCheck() -> HTTPRequestOperation {
        let login = HTTPRequestOperation(request: URLRequest(url: server.url("/login")))
        let profile = HTTPRequestOperation(request: URLRequest(url: server.url("/v1/users/1")))

        let check = BlockOperation {
            if login.response?.statusCode != 200 { profile.cancel() }
        }
        check.addDependency(login)
        profile.addDependency(check)
        queue.addOperations([login, check, profile], waitUntilFinished: false)
        return profile
    }

    @Test func `an operation in between may cancel the next one`() async throws {
        let profile = enqueueWithCheck()

        try await profile.ended()
        #expect(profile.error?.urlCode == NSURLErrorCancelled && server.requests.map(\.path) == ["/login"])
        // The one in between holds it.
        for operation in profile.dependencies { profile.removeDependency(operation) }
    }

    @Test func `an operation continues into a file after a pause`() async throws {
        let folder = try ScratchFolder()
        let (fileURL, file) = (server.url("/long"), folder.url.appendingPathComponent("long"))
        let drawn = drawn
        @Sendable func draw(_ count: Int64, of total: Int64) { drawn.add([count, total]) }

        let download = HTTPRequestOperation(request: URLRequest(url: fileURL))
        download.outputStream = OutputStream(url: file, append: false)
        download.setDownloadProgressBlock { count, total, expected in
            draw(total, of: expected)
        }
        let operation = download
        operation.start()
        operation.pause()
        operation.resume()

        try await operation.ended()
        #expect(operation.error == nil && operation.responseData == nil)
        #expect(try Data(contentsOf: file).count == 3_000_000)
        #expect(try await drawn.wait(for: 1).last?.last == 3_000_000)
    }

    private func enqueueBatch() {
        let (urls, drawn, shown) = ([server.url("/text"), server.url("/text")], drawn, shown)
        @Sendable func draw(_ finished: Int64, of total: Int64) { drawn.add([finished, total]) }
        @Sendable func show(_ texts: [String]) { shown.add(texts.joined(separator: ",")) }

        let operations = urls.map { HTTPRequestOperation(request: URLRequest(url: $0)) }
        let batch = URLConnectionOperation.batchOfRequestOperations(operations) { finished, total in
            draw(Int64(finished), of: Int64(total))
        } completionBlock: { operations in
            show(operations.compactMap(\.responseString))
        }
        queue.addOperations(batch, waitUntilFinished: false)
    }

    @Test func `a batch reports its progress and its end`() async throws {
        enqueueBatch()

        #expect(try await shown.wait(for: 1) == ["text,text"])
        #expect(drawn.all.count == 2 && drawn.all.allSatisfy { $0[1] == 2 })
        #expect(
            URLConnectionOperation.batch(ofRequestOperations: nil, progressBlock: nil, completionBlock: nil).count == 1
        )
    }

    @Test func `the authorities that an operation trusts are set before it starts`() throws {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url("/get")))
        #expect(throws: (any Error).self) {
            var tls = TLSConfiguration()
            tls.anchors = try .file("/etc/my-company/root.pem")
            operation.tls = tls
        }
        #expect(operation.tls == nil)
    }

    @Test(arguments: ["/moved", "/basic-auth/anna/secret"])
    func `a redirect is not followed, and a credential is shown`(path: String) async throws {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path)))
        let password = "secret"

        operation.credential = URLCredential(user: "anna", password: password, persistence: .none)
        operation.setRedirectResponseBlock { connection, request, redirectResponse in
            redirectResponse == nil ? request : nil
        }
        operation.start()

        try await operation.ended()
        #expect(operation.response?.statusCode == (path == "/moved" ? 302 : 200))
    }

    @Test func `a manager makes operations and runs them`() async throws {
        let (base, show, report) = (server.url("/v1"), show, report)

        let manager = HTTPRequestOperationManager(baseURL: base)
        manager.operationQueue.maxConcurrentOperationCount = 4
        manager.get("users/1", parameters: nil) { operation, object in
            show(object)
        } failure: { operation, error in
            report(error)
        }

        #expect(try await shown.wait(for: 1)[0].contains("anna"))
    }

    final class Page: URLConnectionDataDelegate {
        func connection(_ connection: URLConnection, didReceive data: Data) {
            show(data)
        }

        let shown = Heard<Data>()
        let ends = Heard<Bool>()

        private func show(_ data: Data) { shown.add(data) }
        private func finish(_ error: (any Error)?) { ends.add(error == nil) }

        func connectionDidFinishLoading(_ connection: URLConnection) {
            finish(nil)
        }

        func connection(_ connection: URLConnection, didFailWithError error: any Error) {
            finish(error)
        }
    }

    @Test func `a connection tells its delegate on a queue`() async throws {
        let (url, page) = (server.url("/text"), Page())

        let connection = URLConnection(request: URLRequest(url: url), delegate: page, startImmediately: false)
        connection?.setDelegateQueue(queue)
        connection?.start()

        #expect(try await page.ends.wait(for: 1) == [true])
        #expect(page.shown.all.reduce(Data(), +) == Data("text".utf8))
    }
}
