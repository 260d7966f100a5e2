import AFBase
import Dispatch

@testable import AFNetworking

@Suite("HTTPRequestOperation")
struct HTTPRequestOperationTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("*", "/json", .json(#"{"key": "value"}"#))
        server.route("*", "/held", ServerReply.text("hello").held(until: "go"))
        for status in [204, 404, 500] { server.route("GET", "/\(status)", .status(status)) }
        for hop in 1...5 {
            server.route("GET", "/redirect/\(hop)", ServerReply.status(302).header("Location", "/redirect/\(hop - 1)"))
        }
        server.route("GET", "/redirect/0", .json("{}"))
    }

    private func operation(_ path: String, on server: TestServer? = nil) -> HTTPRequestOperation {
        HTTPRequestOperation(request: URLRequest(url: (server ?? self.server).url(path)))
    }

    /// What the blocks were called with.
    private func result(_ operation: HTTPRequestOperation, start: Bool = true) async throws -> (Any?, Int?) {
        let calls = Heard<Int?>()
        operation.setCompletionBlockWithSuccess { _, _ in
            dispatchPrecondition(condition: .onQueue(.main))
            calls.add(nil)
        } failure: { _, error in
            calls.add((error as NSError).code)
        }
        if start { operation.start() }
        let codes = try await calls.wait(for: 1)
        await mainQueueSettled()
        #expect(calls.all.count == 1)
        return (operation.responseObject, codes[0])
    }

    @Test("13.13.2 a GET is a success with an object")
    func success() async throws {
        let operation = operation("/json")
        operation.responseSerializer = JSONResponseSerializer()
        let (object, code) = try await result(operation)
        #expect(code == nil && (object as? [String: String]) == ["key": "value"])
    }

    @Test("13.13.3 a 204 is a success with empty data")
    func noContent() async throws {
        let (object, code) = try await result(operation("/204"))
        #expect(code == nil && object as? Data == Data())
    }

    @Test("13.13.4 13.13.5 404 and 500 are failures", arguments: [404, 500])
    func statuses(status: Int) async throws {
        let operation = operation("/\(status)")
        let (_, code) = try await result(operation)
        #expect(code == NSURLErrorBadServerResponse)
        #expect((operation.error as NSError?)?.domain == HTTPResponseSerializer.errorDomain)
        #expect(operation.response?.statusCode == status)
    }

    @Test("13.13.6 13.13.7 cancelled while it loads: -999, in the failure block too")
    func cancelled() async throws {
        let operation = operation("/held")
        async let outcome = result(operation)
        try await server.waitForRequests(1)
        operation.cancel()
        #expect(try await outcome.1 == NSURLErrorCancelled)
        #expect(operation.error?.urlCode == NSURLErrorCancelled && operation.isFinished && !operation.isExecuting)
    }

    @Test("13.13.8 13.13.9 cancelled before it starts: cancelled, finished, -999, in the failure block too")
    func cancelledBefore() async throws {
        let operation = operation("/json")
        operation.cancel()
        let (_, code) = try await result(operation)
        #expect(code == NSURLErrorCancelled && operation.isCancelled && operation.isFinished && !operation.isExecuting)
        #expect(operation.error?.urlCode == NSURLErrorCancelled)
    }

    @Test("13.13.11 five redirects are five calls of the block with a response")
    func redirects() async throws {
        let operation = operation("/redirect/5")
        let calls = Heard<Bool>()
        operation.setRedirectResponseBlock { _, request, response in
            if response != nil { calls.add(true) }
            return request
        }
        #expect(try await result(operation).1 == nil)
        #expect(calls.all.count == 5)
    }

    @Test("13.13.1 14 operations: started, paused in the same moment and resumed, it finishes; so does the next one")
    func pausedAtOnce() async throws {
        for _ in 0..<20 {
            let operation = operation("/json")
            operation.start()
            operation.pause()
            #expect(operation.isPaused || operation.isFinished)
            operation.resume()
            try await operation.ended()
            #expect(operation.responseObject != nil && operation.error == nil)
        }
        #expect(try await result(operation("/json")).1 == nil)
    }

    @Test("13.13.12 13.13.13 13.13.14 paused while it loads, resumed, completed with an object")
    func paused() async throws {
        let operation = operation("/held")
        operation.start()
        try await server.waitForRequests(1)
        operation.pause()
        #expect(operation.isPaused)
        operation.resume()
        #expect(operation.isExecuting)
        try await server.waitForRequests(2)
        server.signal("go")
        try await operation.ended()
        #expect(operation.responseObject as? Data == Data("hello".utf8))
    }

    // MARK: - Going on in the middle

    private static let content = String((0..<30_000).map { Character(String($0 % 10)) })

    /// Pauses after the first bytes; `respond` answers the second request.
    private func pausedAndResumed(
        tag: String? = "\"1\"",
        dates: [String: String] = [:],
        file: URL? = nil,
        _ respond: @escaping @Sendable (RecordedRequest) -> ServerReply
    ) async throws -> (operation: HTTPRequestOperation, range: String?, condition: String?, progress: [[Int64]]) {
        let server = try TestServer()
        let requests = Heard<[String?]>()
        server.route("GET", "/file") { request in
            requests.add([request.headers["Range"], request.headers["If-Range"]])
            guard requests.all.count == 1 else { return respond(request) }
            var whole = ServerReply.text(Self.content)
            if let tag { whole = whole.header("ETag", tag) }
            for (name, value) in dates { whole = whole.header(name, value) }
            return whole.stalling(after: 10_000)
        }
        let operation = operation("/file", on: server)
        if let file { operation.outputStream = OutputStream(url: file, append: false) }
        let progress = Heard<[Int64]>()
        operation.setDownloadProgressBlock { progress.add([Int64($0), $1, $2]) }
        operation.start()
        try await eventually("the first part") { operation.state.withLock { $0.totalBytesRead } == 10_000 }
        operation.pause()
        operation.resume()
        try await operation.ended()
        await mainQueueSettled()
        let second = requests.all.count > 1 ? requests.all[1] : [nil, nil]
        return (operation, second[0], second[1], progress.all)
    }

    @Test(
        "3 the rest is requested by range and tag, and appended; progress reaches the total",
        arguments: [false, true]
    )
    func rest(toFile: Bool) async throws {
        let folder = try ScratchFolder()
        let file = toFile ? folder.url.appendingPathComponent("body") : nil
        let (operation, range, condition, progress) = try await pausedAndResumed(file: file) {
            .file(Self.content.utf8, entityTag: "\"1\"", to: $0)
        }
        #expect(range == "bytes=10000-" && condition == "\"1\"")
        #expect(operation.error == nil && operation.response?.statusCode == 206)
        let body = try file.map { try Data(contentsOf: $0) } ?? operation.responseData
        #expect(body == Data(Self.content.utf8))
        #expect(progress.last?[1] == 30_000 && progress.allSatisfy { $0[2] == 30_000 && $0[1] <= 30_000 })
    }

    @Test func `an operation loads a part with a weak tag anew`() async throws {
        let (operation, range, condition, _) = try await pausedAndResumed(tag: "W/\"1\"") {
            .file(Self.content.utf8, entityTag: "W/\"1\"", to: $0)
        }

        #expect(range == "bytes=0-" && condition == nil)
        #expect(operation.error == nil && operation.responseData == Data(Self.content.utf8))
    }

    @Test(
        "RFC 9110 §8.8.2.2: only with a date older than its response the rest is asked for",
        arguments: ["Sun, 06 Nov 1994 08:49:38 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"]
    )
    func dated(answered: String) async throws {
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        let (operation, range, condition, _) = try await pausedAndResumed(
            tag: nil,
            dates: ["Last-Modified": modified, "Date": answered]
        ) { request in
            guard request.headers["Range"] == "bytes=10000-" else { return .text(Self.content) }
            return ServerReply.text(String(Self.content.dropFirst(10_000))).status(206)
                .header("Content-Range", "bytes 10000-29999/30000").header("Last-Modified", modified)
        }

        let isStrong = answered != modified
        #expect(range == (isStrong ? "bytes=10000-" : "bytes=0-") && condition == (isStrong ? modified : nil))
        #expect(operation.error == nil && operation.responseString == Self.content)
    }

    @Test("16 3 a 200 takes the place of the first part", arguments: [false, true])
    func whole(toFile: Bool) async throws {
        let folder = try ScratchFolder()
        let file = toFile ? folder.url.appendingPathComponent("body") : nil
        let other = String(repeating: "x", count: 40_000)
        let (operation, _, _, progress) = try await pausedAndResumed(file: file) { _ in
            ServerReply.text(other).header("ETag", "\"2\"")
        }
        let body = try file.map { try Data(contentsOf: $0) } ?? operation.responseData
        #expect(operation.error == nil && body == Data(other.utf8))
        #expect(progress.last == [progress.last?[0] ?? 0, 40_000, 40_000])
    }

    @Test("16 3 a file whose former end would be left behind fails, and says so")
    func remains() async throws {
        let folder = try ScratchFolder()
        let file = folder.url.appendingPathComponent("body")
        let (operation, _, _, _) = try await pausedAndResumed(file: file) { _ in .text("short") }
        #expect((operation.error as NSError?)?.code == NSURLErrorCannotWriteToFile)
        #expect(operation.error?.localizedDescription.contains("former end") == true)
    }

    @Test("16 3 a 206 that is not the rest, all of it and of this version, a 416: everything is asked for again")
    func useless() async throws {
        let wrong: [ServerReply] = [
            ServerReply.text("xxx").status(206).header("Content-Range", "bytes 9999-10001/30000"),
            ServerReply.text("xxx").status(206),
            ServerReply.text("xxx").status(206).header("Content-Range", "bytes 10000-10002/40000"),
            ServerReply.text("xxx").status(206).header("Content-Range", "bytes 10000-10002/30000").header(
                "ETag",
                "\"2\""
            ),
            ServerReply.text("0123456789").status(206).header("Content-Range", "bytes 10000-10009/30000"),
            ServerReply.text("0123456789").status(206).header("Content-Range", "bytes 10000-10009/*"),
            ServerReply.status(416).header("Content-Range", "bytes */30000"),
        ]
        for reply in wrong {
            let (operation, _, _, _) = try await pausedAndResumed { request in
                request.headers["Range"] == nil ? .text(Self.content) : reply
            }
            #expect(operation.error == nil && operation.responseString == Self.content, "\(reply)")
            #expect(operation.request.value(forHTTPHeaderField: "Range") == nil)
        }
    }

    @Test(
        "16 3 an operation that is paused before anything has arrived does not take a part for the whole",
        arguments: ["bytes 0-9/30000", "bytes 10-19/20", "bytes 0-29999/30000"]
    )
    func nothingYet(range: String) async throws {
        let server = try TestServer()
        let asked = Heard<String?>()
        server.route("GET", "/file") { request in
            asked.add(request.headers["Range"])
            if asked.all.count == 1 { return ServerReply.text(Self.content).held(until: "never") }
            guard request.headers["Range"] != nil else { return .text(Self.content) }
            let part = range.hasPrefix("bytes 0-29999") ? Self.content : "0123456789"
            return ServerReply.text(part).status(206).header("Content-Range", range)
        }
        let operation = operation("/file", on: server)
        operation.start()
        // The server has counted the request before its route is asked.
        try await asked.wait(for: 1)
        operation.pause()
        operation.resume()
        try await operation.ended()
        #expect(operation.error == nil && operation.responseString == Self.content)
        let isWhole = operation.response?.statusCode == 206
        #expect(isWhole == range.hasPrefix("bytes 0-29999"))
        #expect(asked.all == [nil, "bytes=0-"] + (isWhole ? [] : [nil]))
    }

    @Test("16 3 an error in place of the rest is the result, alone")
    func failing() async throws {
        let (operation, _, _, _) = try await pausedAndResumed { _ in ServerReply.text("gone").status(404) }
        #expect(operation.responseString == "gone")
        _ = operation.responseObject
        #expect((operation.error as NSError?)?.code == NSURLErrorBadServerResponse)
    }

    @Test("T-TLS-84 an operation goes on from no part that came under other rules", arguments: [true, false])
    func otherRules(isPolicy: Bool) async throws {
        let server = try TestServer()
        let asked = Heard<String?>()
        server.route("GET", "/file") { request in
            asked.add(request.headers["Range"])
            let reply = ServerReply.file(Self.content.utf8, entityTag: "\"1\"", to: request)
            return asked.all.count == 1 ? reply.stalling(after: 10_000) : reply
        }
        let operation = operation("/file", on: server)
        operation.start()
        try await eventually("the first part") { operation.state.withLock { $0.totalBytesRead } == 10_000 }
        operation.pause()
        if isPolicy {
            operation.securityPolicy.validatesDomainName = false
        } else {
            operation.setWillSendRequestForAuthenticationChallengeBlock { _, challenge in
                challenge.sender?.performDefaultHandling(for: challenge)
            }
        }
        operation.resume()
        try await operation.ended()

        #expect(operation.error == nil && operation.responseString == Self.content)
        #expect(asked.all == [nil, nil])
    }

    /// Asks for bytes 100 to 199, pauses when so many of them have arrived, and resumes.
    private func ownRange(pausedAfter count: Int) async throws -> (operation: HTTPRequestOperation, asked: [String?]) {
        let server = try TestServer()
        let asked = Heard<String?>()
        server.route("GET", "/file") { request in
            asked.add(request.headers["Range"])
            let part = ServerReply.file(Self.content.utf8, entityTag: "\"1\"", to: request)
            if asked.all.count > 1 { return part }
            return count > 0 ? part.stalling(after: count) : part.held(until: "never")
        }
        var request = URLRequest(url: server.url("/file"))
        request.setValue("bytes=100-199", forHTTPHeaderField: "Range")
        let operation = HTTPRequestOperation(request: request)
        operation.start()
        try await server.waitForRequests(1)
        try await eventually("the first part") { operation.state.withLock { $0.totalBytesRead } == count }
        operation.pause()
        operation.resume()
        try await operation.ended()
        return (operation, asked.all)
    }

    @Test("3 a requested range stays the same after a pause", arguments: [0, 50])
    func keepsRange(pausedAfter count: Int) async throws {
        let (operation, asked) = try await ownRange(pausedAfter: count)
        #expect(asked == ["bytes=100-199", "bytes=100-199"])
        #expect(operation.error == nil && operation.response?.statusCode == 206)
        #expect(operation.responseString == String(Self.content.dropFirst(100).prefix(100)))
    }

    @Test(
        "2.7 3 a copy or an archive of a paused operation has no data, and makes the whole request",
        arguments: [nil, "bytes=1-2"]
    )
    func withoutRange(own: String?) async throws {
        var request = URLRequest(url: server.url("/held"))
        request.setValue(own, forHTTPHeaderField: "Range")
        let operation = HTTPRequestOperation(request: request)
        operation.start()
        try await server.waitForRequests(1)
        operation.pause()
        // The work after the pause runs on another thread.
        if own == nil { try await eventually("a range") { operation.state.withLock { $0.missing } != nil } }

        let archive = try NSKeyedArchiver.archivedData(withRootObject: operation, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPRequestOperation.self, from: archive)
        let copy = operation.copy() as? HTTPRequestOperation
        for made in [read, copy] {
            let made = try #require(made)
            #expect(made.request.value(forHTTPHeaderField: "Range") == own)
            #expect(made.request.value(forHTTPHeaderField: "If-Range") == nil)
        }
        operation.cancel()
    }

    @Test("16 3 pausing an operation that has finished, or is paused, changes no request")
    func noRange() async throws {
        let operation = operation("/json")
        operation.start()
        try await operation.ended()
        operation.pause()
        operation.pause()
        #expect(operation.request.value(forHTTPHeaderField: "Range") == nil)
        let cancelled = self.operation("/json")
        cancelled.cancel()
        cancelled.pause()
        #expect(cancelled.request.value(forHTTPHeaderField: "Range") == nil)
    }

    // MARK: - Trust

    @Test("13.13.19 14 operations: https with a policy that trusts the server, and one that does not, T-TLS-10")
    func secured() async throws {
        let site = try CertificateAuthority().issue(for: "127.0.0.1")
        let server = try TestServer(tls: ServerTLS(site))
        server.route("GET", "/json", .json("{}"))
        let pinned = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        pinned.allowInvalidCertificates = true
        let operations = (0..<3).map { _ in operation("/json", on: server) }
        operations[0].securityPolicy = pinned
        operations[1].securityPolicy = pinned.copy()

        for operation in operations {
            operation.start()
            try await operation.ended()
        }

        #expect(operations[0].responseObject != nil && operations[1].responseObject != nil)
        // A connection that one policy has accepted is not reused for another.
        #expect(operations[2].error?.urlCode == URLError.Code.serverCertificateUntrusted.rawValue)
        #expect(operations[2].responseData == nil && server.requests.count == 2)
        // Equal policies share a connection.
        #expect(server.connections.count { !$0.received.isEmpty } == 1)
    }

    @Test func `T-TLS-10 an operation is judged by the policy with which it began`() async throws {
        let site = try CertificateAuthority().issue(for: "127.0.0.1")
        let server = try TestServer(tls: ServerTLS(site))
        server.route("GET", "/json", .json("{}"))
        let lax = SecurityPolicy()
        lax.allowInvalidCertificates = true
        lax.validatesDomainName = false
        let changed = operation("/json", on: server)
        changed.setRedirectResponseBlock { [weak changed] _, request, _ in
            // Too late: the operation already shares connections with those that have its first policy.
            changed?.securityPolicy = lax
            changed?.setWillSendRequestForAuthenticationChallengeBlock { _, challenge in
                guard let trust = challenge.protectionSpace.serverTrust else { return }
                challenge.sender?.use(URLCredential(trust: trust), for: challenge)
            }
            return request
        }
        let strict = operation("/json", on: server)

        for operation in [changed, strict] {
            operation.start()
            try await operation.ended()
            #expect(operation.error?.urlCode == URLError.Code.serverCertificateUntrusted.rawValue)
        }

        #expect(server.requests.isEmpty)
    }

    @Test("with a policy that pins a host, nothing is sent to it in the clear, T-TLS-20")
    func plainText() async throws {
        let site = try CertificateAuthority().issue(for: "127.0.0.1")
        let operation = operation("/json")
        operation.securityPolicy = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        operation.start()
        try await operation.ended()
        #expect(operation.error?.urlCode == NSURLErrorUnsupportedURL && server.requests.isEmpty)
    }

    // MARK: - Objects

    @Test("3 setting the serializer drops the object and its error")
    func serializer() async throws {
        let operation = operation("/404")
        operation.start()
        try await operation.ended()
        #expect(operation.responseObject != nil && operation.error != nil)
        let lenient = HTTPResponseSerializer()
        lenient.acceptableStatusCodes = [404]
        operation.responseSerializer = lenient
        #expect(operation.error == nil)
        #expect(operation.responseObject as? Data == Data() && operation.error == nil)
    }

    @Test("2.7 14 operations: serializers are archived and copied with their operations")
    func coded() throws {
        let operation = operation("/json")
        let serializer = JSONResponseSerializer()
        serializer.removesKeysWithNullValues = true
        operation.responseSerializer = serializer

        let archive = try NSKeyedArchiver.archivedData(withRootObject: operation, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPRequestOperation.self, from: archive)
        let copy = operation.copy() as? HTTPRequestOperation

        for other in [read, copy] {
            let found = try #require(other?.responseSerializer as? JSONResponseSerializer)
            #expect(found !== serializer && found.removesKeysWithNullValues)
            #expect(other?.request.url == operation.request.url)
        }
    }
}
