@testable import AFURLSession
@testable import AFURLTypes

@Suite("Redirects by and to classes of the program")
struct ProtocolRedirectTests {
    private let site = StubSite { $0.answer("arrived \($0.request.httpMethod ?? "")") }
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("GET", "/end", .text("network"))
    }

    private func sending(to url: URL, _ status: Int = 302) -> StubSite {
        StubSite { stub in
            stub.redirect(to: url, status)
            // As many do, for want of another way to end.
            stub.fail(URLError(.cancelled))
        }
    }

    private func redirectingLate(to url: URL) -> StubSite {
        StubSite { stub in
            stub.begin()
            stub.load("abc")
            stub.redirect(to: url)
        }
    }

    @Test func `a class leads to another, to the network, and a server to a class`() async throws {
        let toClass = sending(to: site.url("/a"))
        let toNetwork = sending(to: server.url("/end"))
        server.route("GET", "/away", ServerReply.status(302).header("Location", "\(toNetwork.url())"))
        let delegate = RedirectDelegate()
        let session = StubSite.session(delegate: delegate)

        #expect(try await session.outcome(of: toClass.url()).text == "arrived GET")
        #expect(try await session.outcome(of: toNetwork.url()).text == "network")
        let outcome = try await session.outcome(of: server.url("/away"))
        #expect(outcome.text == "network" && outcome.response?.url == server.url("/end"))

        try await toClass.stopped()
        try await toNetwork.stopped(2)
        #expect(delegate.questions.withLock { $0.map(\.status) } == [302, 302, 302, 302])
        #expect(server.requests.count == 3)
    }

    @Test func `what a class has delivered before it redirects is not the task's`() async throws {
        let first = redirectingLate(to: server.url("/end"))

        let outcome = try await StubSite.session().outcome(of: first.url())

        #expect(outcome.text == "network" && outcome.error == nil)
    }

    @Test func `a download drops what a class delivered before it redirects`() async throws {
        let folder = try ScratchFolder()
        let first = redirectingLate(to: server.url("/end"))
        let session = StubSite.session { $0.temporaryFolder = folder.url }

        let (file, _) = try await session.download(from: first.url())

        #expect(try Data(contentsOf: file) == Data("network".utf8))
    }

    @Test func `a declined redirect leaves nothing of an earlier response`() async throws {
        let first = redirectingLate(to: server.url("/end"))
        let session = StubSite.session(delegate: RedirectDelegate { _, _, completion in completion(nil) })

        let outcome = try await session.outcome(of: first.url())

        #expect(outcome.status == 302 && outcome.data?.isEmpty == true)
    }

    @Test func `a redirect fails the task whose delegate has the response`() async throws {
        let first = redirectingLate(to: server.url("/end"))
        let log = EventLog()

        StubSite.session(delegate: log).dataTask(with: first.url()).resume()

        let events = try await log.finished()
        #expect(events.first == .response(200))
        #expect(events.last == .completed(URLError.badServerResponse.rawValue))
        #expect(server.requests.isEmpty)
    }

    @Test func `a redirect fails a download that was a data task`() async throws {
        let folder = try ScratchFolder()
        let first = redirectingLate(to: server.url("/end"))
        let log = DownloadLog(disposition: .becomeDownload)
        let session = StubSite.session(delegate: log) { $0.temporaryFolder = folder.url }

        session.dataTask(with: first.url()).resume()

        try await log.finished()
        let error = log.error.withLock { $0 }
        #expect(error?.code == .badServerResponse && error?.loadFailure?.detail == .late)
        #expect(error?.localizedDescription.contains("call wasRedirectedTo before it reports a response") == true)
        #expect(log.contents.withLock { $0 } == nil && server.requests.isEmpty)
        try await folder.isEmptyAtLast()
    }

    @Test func `a redirect fails a sequence of bytes that has begun`() async throws {
        let first = redirectingLate(to: server.url("/end"))
        let (bytes, _) = try await StubSite.session().bytes(from: first.url())

        await #expect(throws: URLError.self) { for try await _ in bytes {} }
        #expect(server.requests.isEmpty)
    }

    @Test func `metrics count the hops, each with its source`() async throws {
        let first = sending(to: server.url("/end"))
        let log = EventLog()
        let session = StubSite.session(delegate: log)
        session.dataTask(with: first.url()).resume()
        #expect(try await log.finished().last == .completed(nil))
        let metrics = try #require(log.metrics.withLock { $0 })
        #expect(metrics.redirectCount == 1)
        #expect(metrics.transactionMetrics.map(\.resourceFetchType) == [.unknown, .networkLoad])
        #expect((metrics.transactionMetrics[0].response as? HTTPURLResponse)?.statusCode == 302)
    }

    @Test func `without the delegate's consent the redirect is the answer`() async throws {
        let first = sending(to: site.url())
        let delegate = RedirectDelegate { _, _, completion in completion(nil) }
        let session = StubSite.session(delegate: delegate)

        let outcome = try await session.outcome(of: first.url())
        #expect(outcome.status == 302 && outcome.data?.isEmpty == true)
        session.dataTask(with: first.url()).resume()
        #expect(try await delegate.log.finished().filter { $0 != .metrics } == [.response(302), .completed(nil)])
        #expect(site.log.value.started == 0)
    }

    @Test func `the delegate may name another request, and be asked for ever`() async throws {
        let first = sending(to: site.url("/a"))
        let other = server.url("/end")
        let delegate = RedirectDelegate { task, _, completion in
            completion(URLRequest(url: other))
            completion(nil)
        }
        let session = StubSite.session(delegate: delegate)
        #expect(try await session.outcome(of: first.url()).text == "network")

        let waiting = StubSite.session(delegate: RedirectDelegate { _, _, _ in })
        let outcomes = Outcomes()
        let task = waiting.dataTask(with: first.url(), completionHandler: outcomes.handler)
        task.resume()
        try await first.stopped(2)
        task.cancel()
        #expect(try await outcomes.first().error?.code == .cancelled)
        #expect(first.log.value.started == 2 && first.log.value.stopped == 2)
    }

    @Test func `T-RED-02 secrets stay with their origin, also what the session adds`() async throws {
        let last = StubSite()
        let first = StubSite { stub in
            stub.redirect(
                to: stub.request.url?.path == "/1" ? URL(string: "/2", relativeTo: stub.request.url)! : last.url()
            )
        }
        let session = StubSite.session { $0.httpAdditionalHeaders = ["X-Api-Key": "k", "X-Plain": "p"] }
        let request = URLRequest("GET", first.url("/1"), fields: ["Authorization": "secret", "X-Mine": "m"])

        #expect(try await session.outcome(of: request).text == "hello")
        let seen = first.log.value.requests + last.log.value.requests
        #expect(seen.map { $0.value(forHTTPHeaderField: "Authorization") } == ["secret", "secret", nil])
        #expect(seen.map { $0.value(forHTTPHeaderField: "X-Api-Key") } == ["k", "k", nil])
        #expect(seen.allSatisfy { $0.value(forHTTPHeaderField: "X-Mine") == "m" })
        #expect(seen.allSatisfy { $0.value(forHTTPHeaderField: "X-Plain") == "p" })
    }

    @Test(arguments: [true, false])
    func `T-RED-02 the delegate's own URL decides which secrets go along`(leavesOrigin: Bool) async throws {
        let (other, last) = (StubSite(), StubSite())
        let first = StubSite { stub in
            if stub.request.url?.path == "/3" { return stub.answer("hello") }
            // What leaves the origin loses its secrets before the delegate sees it.
            stub.redirect(to: leavesOrigin ? URL(string: "/2", relativeTo: stub.request.url)! : other.url())
        }
        let target = leavesOrigin ? last.url() : first.url("/3")
        let delegate = RedirectDelegate { _, request, completion in
            var request = request
            request.url = target
            request.setValue("secret", forHTTPHeaderField: "Authorization")
            request.setValue("own", forHTTPHeaderField: "X-Own")
            completion(request)
        }
        let session = StubSite.session(delegate: delegate) { $0.httpAdditionalHeaders = ["X-Api-Key": "k"] }
        let request = URLRequest("GET", first.url("/1"), fields: ["Authorization": "secret"])

        #expect(try await session.outcome(of: request).text == "hello")
        let seen = try #require((leavesOrigin ? last : first).log.value.requests.last)
        #expect(seen.value(forHTTPHeaderField: "X-Own") == "own")
        #expect(seen.value(forHTTPHeaderField: "Authorization") == (leavesOrigin ? nil : "secret"))
        #expect(seen.value(forHTTPHeaderField: "X-Api-Key") == (leavesOrigin ? nil : "k"))
        #expect(other.log.value.requests.isEmpty)
    }

    @Test func `T-RED-02 the delegate's own URL keeps the secrets where class and delegate stay in the origin`()
        async throws
    {
        let first = StubSite { stub in
            if stub.request.url?.path == "/3" { return stub.answer("hello") }
            stub.redirect(to: URL(string: "/2", relativeTo: stub.request.url)!)
        }
        let target = first.url("/3")
        let delegate = RedirectDelegate { _, request, completion in
            var request = request
            request.url = target
            completion(request)
        }
        let session = StubSite.session(delegate: delegate)
        let request = URLRequest("GET", first.url("/1"), fields: ["Authorization": "secret"])

        #expect(try await session.outcome(of: request).text == "hello")
        #expect(first.log.value.requests.last?.value(forHTTPHeaderField: "Authorization") == "secret")
    }

    @Test func `a circle of classes ends, as does the way from https to http`() async throws {
        let circle = StubSite { stub in stub.redirect(to: stub.request.url ?? URL(fileURLWithPath: "/")) }
        let session = StubSite.session()
        #expect(try await session.outcome(of: circle.url()).error?.code == .httpTooManyRedirects)
        #expect(circle.log.value.started == 21)
        try await circle.stopped(21)

        let down = sending(to: server.url("/end"))
        let outcome = try await session.outcome(of: down.url("/", scheme: "https"))
        #expect(outcome.error?.code == .unsupportedURL && server.requests.isEmpty)
    }

    @Test func `T-RED-10 no redirect leads to a file or to data`() async throws {
        let folder = try ScratchFolder()
        try Data("secret".utf8).write(to: folder.file("secret.txt"))
        let data = try #require(URL(string: "data:,secret"))
        for (session, location) in [
            (StubSite.session(), folder.file("secret.txt")), (.loopback(), folder.file("secret.txt")),
            (StubSite.session(), data), (.loopback(), data),
        ] {
            server.route("GET", "/away", ServerReply.text("body").status(302).header("Location", "\(location)"))
            let outcome = try await session.outcome(of: server.url("/away"))
            #expect(outcome.status == 302 && outcome.error?.code == .unsupportedURL)
            #expect(outcome.text?.contains("secret") != true)
        }
        for location in [folder.file("secret.txt"), data] {
            let delegate = RedirectDelegate { _, _, completion in completion(URLRequest(url: location)) }
            let asked = StubSite.session(delegate: delegate)
            server.route("GET", "/away", ServerReply.status(302).header("Location", "/end"))
            #expect(try await asked.outcome(of: server.url("/away")).error?.code == .unsupportedURL)
            let stub = sending(to: location)
            #expect(try await StubSite.session().outcome(of: stub.url()).error?.code == .unsupportedURL)
        }
    }

    @Test func `bodies follow where the method does`() async throws {
        let folder = try ScratchFolder()
        try Data("file".utf8).write(to: folder.file("body"))
        server.route("POST", "/echo") { ServerReply.text("POST \(String(decoding: $0.body, as: UTF8.self))") }
        let session = StubSite.session()
        let kept = sending(to: server.url("/echo"), 307)
        let post = URLRequest("POST", kept.url())
        #expect(
            try await session.outcome(of: URLRequest("POST", kept.url(), body: Data("own".utf8))).text == "POST own"
        )
        let data = try await session.upload(for: post, from: Data("data".utf8)).0
        #expect(String(decoding: data, as: UTF8.self) == "POST data")
        let file = try await session.upload(for: post, fromFile: folder.file("body")).0
        #expect(String(decoding: file, as: UTF8.self) == "POST file")

        let end = server.url("/end")
        let dropped = StubSite { $0.redirect(to: end, 303) { $0.httpMethod = "GET" } }
        for upload in [folder.file("body")] {
            let data = try await session.upload(for: URLRequest("POST", dropped.url()), fromFile: upload).0
            #expect(String(decoding: data, as: UTF8.self) == "network")
        }
        let memory = try await session.upload(for: URLRequest("POST", dropped.url()), from: Data("x".utf8)).0
        #expect(String(decoding: memory, as: UTF8.self) == "network")
        #expect(server.requests.filter { $0.path == "/end" }.allSatisfy { $0.method == "GET" && $0.body.isEmpty })
    }

    /// What follows a body goes where the body goes.
    @Test(arguments: [
        ("PUT", 307, "PUT task, X-Sum: 9"), ("PUT", 303, "PUT "), ("GET", 303, "GET "),
    ])
    func `T-DUP-04 trailer fields go along with the body, but for secrets, when a class redirects elsewhere`(
        method: String,
        status: Int,
        expected: String
    ) async throws {
        server.route("*", "/echo") { request in
            let fields = request.trailers.fields.map { ", \($0.name): \($0.value)" }.joined()
            return .text("\(request.method) \(request.bodyText)\(fields)")
        }
        let target = server.url("/echo")
        let first = StubSite { stub in
            stub.redirect(to: target, status) { request in
                request.httpMethod = method
                (request.httpBody, request.httpBodyStream) = (nil, nil)
            }
        }
        var request = URLRequest("PUT", first.url())
        request.trailers = RequestTrailers("X-Sum", "X-Api-Key") { ["X-Sum": "9", "X-Api-Key": "secret"] }

        let data = try await StubSite.session().upload(for: request, from: Data("task".utf8)).0

        #expect(String(decoding: data, as: UTF8.self) == expected)
    }

    /// The request that a class makes has the task's body, which the class may have read, another one, or none.
    @Test(arguments: [
        ("POST", 302, "none", "POST task"), ("PUT", 301, "none", "PUT task"), ("POST", 307, "none", "POST task"),
        ("POST", 308, "own", "POST own"), ("POST", 302, "own", "POST own"), ("POST", 307, "stream", "POST stream"),
        ("POST", 303, "none", "POST "), ("POST", 303, "own", "POST own"), ("POST", 307, "read", "POST task"),
    ])
    func `the task's body goes along, unless the class gives another one or the status drops it`(
        method: String,
        status: Int,
        body: String,
        expected: String
    ) async throws {
        let folder = try ScratchFolder()
        try Data("task".utf8).write(to: folder.file("body"))
        server.route("*", "/echo") { ServerReply.text("\($0.method) \($0.bodyText)") }
        let target = server.url("/echo")
        let first = StubSite { stub in
            stub.redirect(to: target, status) { request in
                switch body {
                case "own": request.httpBody = Data("own".utf8)
                case "stream": request.httpBodyStream = InputStream(data: Data("stream".utf8))
                case "none": (request.httpBody, request.httpBodyStream) = (nil, nil)
                default: request.httpBodyStream?.readToEnd()
                }
            }
        }
        let witness = Witness { $0.stream = { InputStream(data: Data("task".utf8)) } }
        let session = StubSite.session(delegate: witness)
        let request = URLRequest(method, first.url())

        let data = try await session.upload(for: request, from: Data("task".utf8)).0
        #expect(String(decoding: data, as: UTF8.self) == expected)
        // Whether a stream is another one or a copy of the task's, the session cannot tell.
        guard body != "stream" else { return }
        let file = try await session.upload(for: request, fromFile: folder.file("body")).0
        #expect(String(decoding: file, as: UTF8.self) == expected)
        session.uploadTask(withStreamedRequest: request).resume()
        try await witness.words.wait("the end") { $0.contains { $0.hasPrefix("completed") } }
        #expect(String(decoding: witness.body.withLock { $0 }, as: UTF8.self) == expected)
    }

    @Test func `where the status drops the body, the stream that a class got does not go along`() async throws {
        let folder = try ScratchFolder()
        try Data("task".utf8).write(to: folder.file("body"))
        server.route("POST", "/echo") { ServerReply.text("\($0.method) \($0.bodyText)") }
        let target = server.url("/echo")
        let first = StubSite { $0.redirect(to: target, 303) }
        let witness = Witness { $0.stream = { InputStream(data: Data("task".utf8)) } }
        let session = StubSite.session(delegate: witness)
        let request = URLRequest("POST", first.url())

        let file = try await session.upload(for: request, fromFile: folder.file("body")).0
        #expect(String(decoding: file, as: UTF8.self) == "POST ")
        session.uploadTask(withStreamedRequest: request).resume()
        try await witness.words.wait("the end") { $0.contains { $0.hasPrefix("completed") } }
        #expect(String(decoding: witness.body.withLock { $0 }, as: UTF8.self) == "POST ")
        #expect(first.log.value.requests.allSatisfy { $0.httpBodyStream != nil })
    }

    @Test func `a body that a class adds to a GET is refused, and not left out`() async throws {
        let target = server.url("/end")
        let first = StubSite { $0.redirect(to: target, 307) { $0.httpBody = Data("own".utf8) } }

        #expect(try await StubSite.session().outcome(of: first.url()).error?.code == .dataLengthExceedsMaximum)
        #expect(server.requests.isEmpty)
    }

    @Test func `a body that the status drops does not go to another class, and one that a class gives does`()
        async throws
    {
        let last = StubSite { $0.answer(String(decoding: $0.request.httpBody ?? Data("none".utf8), as: UTF8.self)) }
        for (status, own, expected) in [(303, nil, "none"), (307, "own", "own"), (307, nil, "task")] {
            let first = StubSite { stub in
                stub.redirect(to: last.url(), status) { request in
                    if status == 303 { request.httpMethod = "GET" }
                    request.httpBody = own.map { Data($0.utf8) }
                }
            }
            let request = URLRequest("POST", first.url())
            let data = try await StubSite.session().upload(for: request, from: Data("task".utf8)).0
            #expect(String(decoding: data, as: UTF8.self) == expected)
        }
    }

    @Test func `a redirect of a server takes the body to a class`() async throws {
        let site = StubSite { stub in stub.answer(String(decoding: stub.request.httpBody ?? Data(), as: UTF8.self)) }
        server.route("POST", "/away", ServerReply.status(307).header("Location", "\(site.url())"))
        let session = StubSite.session(delegate: RedirectDelegate())
        let data = try await session.upload(for: URLRequest("POST", server.url("/away")), from: Data("body".utf8)).0
        #expect(String(decoding: data, as: UTF8.self) == "body")
    }

    @Test func `no redirect of a class leads to a file`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("secret".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let session = URLSession.loopback { $0.protocolClasses = [FileOnce.self] }

        let outcome = try await session.outcome(of: file)
        #expect(outcome.error != nil && outcome.data == nil)
    }
}

/// Takes a file, sends the task to the same file, and does not take that.
private final class FileOnce: URLProtocol, @unchecked Sendable {
    private static let mark = "FileOnce"

    override class func canInit(with request: URLRequest) -> Bool {
        request.url?.isFileURL == true && property(forKey: mark, in: request) == nil
    }

    override func startLoading() {
        var next = request
        FileOnce.setProperty(true, forKey: FileOnce.mark, in: &next)
        let url = next.url ?? URL(fileURLWithPath: "/")
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        client?.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
    }

    override func stopLoading() {}
}

extension InputStream {
    fileprivate func readToEnd() {
        var buffer = [UInt8](repeating: 0, count: 100)
        open()
        while read(&buffer, maxLength: buffer.count) > 0 {}
        close()
    }
}
