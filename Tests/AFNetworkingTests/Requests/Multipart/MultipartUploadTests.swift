/// Forms in sessions, against a server.
@Suite("Uploads of multipart forms")
struct MultipartUploadTests {
    /// Answers as a manager does: another stream is a copy of the first.
    private final class Copying: URLSessionDataDelegate {
        private let questions = QuestionCount()
        let credential: URLCredential?

        init(credential: URLCredential? = nil) {
            self.credential = credential
        }

        var streamsGiven: Int { questions.count }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            questions.add()
            let stream = task.originalRequest?.httpBodyStream as? any NSCopying
            completionHandler(stream?.copy(with: nil) as? InputStream)
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let credential, challenge.previousFailureCount == 0 else {
                return completionHandler(.performDefaultHandling, nil)
            }
            completionHandler(.useCredential, credential)
        }
    }

    private final class QuestionCount: @unchecked Sendable {
        private let lock = NSLock()
        private var number = 0

        var count: Int { lock.withLock { number } }
        func add() { lock.withLock { number += 1 } }
    }

    private let serializer = HTTPRequestSerializer()
    private let folder: ScratchFolder
    private let server: TestServer

    init() throws {
        folder = try ScratchFolder()
        server = try TestServer()
        server.install(.echo, .redirects, .authentication)
    }

    private func file(_ content: Data) throws -> URL {
        let url = folder.url.appendingPathComponent("photo.jpg")
        try content.write(to: url)
        return url
    }

    private func form(_ path: String, streamed: Bool = false) throws -> URLRequest {
        let file = try file(Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 100) }))
        return try serializer.form(["title": "Sun & sea"], to: server.url(path).absoluteString) { form in
            try form.appendPart(withFileURL: file, name: "photo")
            form.appendPart(withFormData: Data("é".utf8), name: "deep[]")
            if streamed {
                form.appendPart(with: FormSource(Data(count: 5)), name: "s", fileName: "s", length: 5, mimeType: "x/y")
            }
        }
    }

    private func expectWhole(_ request: RecordedRequest?, _ form: URLRequest) throws {
        let request = try #require(request)
        let expected = try #require(form.formCopy).readOnce()
        #expect(request.isComplete && request.body == expected)
        #expect(request.headers.values(of: "Content-Length") == ["\(expected.count)"])
        #expect(request.headers.values(of: "Transfer-Encoding").isEmpty)
        #expect(request.headers["Content-Type"] == form.value(forHTTPHeaderField: "Content-Type"))
    }

    @Test("8.4 a form arrives byte for byte, with its length, and the server reads its fields")
    func arrives() async throws {
        let request = try form("/post")
        let (data, response) = try await URLSession(configuration: .ephemeral).data(for: request)

        try expectWhole(server.requests.first, request)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        let echo = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(echo["form"] as? [String: String] == ["title": "Sun & sea", "deep[]": "é"])
        let photo = (echo["files"] as? [String: String])?["photo"]
        #expect(photo?.utf8.count == 300_000)
    }

    @Test("8.4 a 307 has the form sent again, from a copy of its stream, T-REQ-21")
    func redirected() async throws {
        server.route("POST", "/moved", .status(307).header("Location", "/post"))
        let request = try form("/moved")
        let delegate = Copying()

        let (_, response) = try await URLSession(configuration: .ephemeral).data(for: request, delegate: delegate)

        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(server.requests.map(\.path) == ["/moved", "/post"])
        try expectWhole(server.requests.last, request)
        #expect(delegate.streamsGiven == 1)
    }

    @Test("8.4 a 401 has the form sent again, with a password, T-REQ-21")
    func challenged() async throws {
        let request = try form("/basic-auth/user/secret")
        let delegate = Copying(credential: URLCredential(user: "user", password: "secret", persistence: .none))

        let (_, response) = try await URLSession(configuration: .ephemeral).data(for: request, delegate: delegate)

        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(server.requests.count == 2)
        for received in server.requests { try expectWhole(received, request) }
        #expect(delegate.streamsGiven == 1)
    }

    @Test("8.4 15.4 an operation sends its form again after a 307 and a 401, T-REQ-21", arguments: [307, 401])
    func operation(status: Int) async throws {
        server.route("POST", "/moved", .status(307).header("Location", "/post"))
        let request = try form(status == 307 ? "/moved" : "/basic-auth/user/secret")
        let operation = HTTPRequestOperation(request: request)
        operation.credential = URLCredential(user: "user", password: "secret", persistence: .none)

        operation.start()
        try await operation.ended()

        #expect(operation.error == nil && operation.response?.statusCode == 200)
        #expect(server.requests.count == 2)
        for received in server.requests { try expectWhole(received, request) }
    }

    @Test("8.4 an operation that was paused, and its copy, send the whole form")
    func pausedOperation() async throws {
        server.route("POST", "/held", ServerReply.text("done").held(until: "go"))
        let request = try form("/held")
        let operation = HTTPRequestOperation(request: request)
        operation.start()
        try await server.waitForRequests(1)
        operation.pause()
        operation.resume()
        try await server.waitForRequests(2)
        let copy = try #require(operation.copy() as? HTTPRequestOperation)
        copy.start()
        try await server.waitForRequests(3)
        server.signal("go")

        try await operation.ended()
        try await copy.ended()
        #expect(operation.responseString == "done" && copy.responseString == "done")
        for received in server.requests { try expectWhole(received, request) }
    }

    /// Sends another form in place of the task's.
    private struct Replacing: TaskInterceptor {
        let other: URLRequest

        func adapt(_ request: URLRequest, for task: URLSessionTask) async throws -> URLRequest {
            var other = other
            other.url = request.url
            return other
        }
    }

    @Test("8.4 a manager sends a form that an interceptor has replaced again as that, T-REQ-21", arguments: [307, 401])
    func replaced(status: Int) async throws {
        server.route("POST", "/moved", .status(307).header("Location", "/post"))
        let other = try serializer.form(["other": "form"], to: server.url("/").absoluteString) { _ in }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestInterceptors = [Replacing(other: other)]
        let manager = HTTPSessionManager(sessionConfiguration: configuration)
        manager.setAuthenticationChallengeHandler { _, _, _, _ in
            .credential(URLCredential(user: "user", password: "secret", persistence: .none))
        }
        let results = Heard<(any Error)?>()
        let request = try form(status == 307 ? "/moved" : "/basic-auth/user/secret")
        manager.uploadTask(withStreamedRequest: request, progress: nil) { _, _, error in results.add(error) }.resume()

        #expect(try await results.wait(for: 1).allSatisfy { $0 == nil })
        #expect(server.requests.count == 2)
        for received in server.requests { try expectWhole(received, other) }
    }

    @Test("8.4 a streamed upload task, which asks for its first stream too, gets copies of the request's")
    func streamedTask() async throws {
        let request = try form("/post")
        let delegate = Copying()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }

        session.uploadTask(withStreamedRequest: request).resume()

        try expectWhole(try await server.waitForRequests(1).first, request)
        #expect(delegate.streamsGiven == 1)
    }

    @Test("16 8.4 a form with a stream of one's own cannot be sent again, and the error says so, T-REQ-21")
    func notAgain() async throws {
        server.route("POST", "/moved", .status(307).header("Location", "/post"))
        let request = try form("/moved", streamed: true)

        let error = await #expect(throws: URLError.self) {
            try await URLSession(configuration: .ephemeral).data(for: request, delegate: Copying())
        }

        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(
            error?.loadFailure?.message.contains("cannot be read twice") == true,
            "\(error?.loadFailure?.message ?? "")"
        )
        #expect(server.requests.allSatisfy { $0.path == "/moved" || !$0.isComplete })
    }

    @Test(
        "16 8.4 a part of another length than announced fails the task, and the server has no complete form, T-REQ-20",
        arguments: [99, 101]
    )
    func wrongLength(actual: Int) async throws {
        let request = try serializer.form(to: server.url("/post").absoluteString) { form in
            form.appendPart(
                with: InputStream(data: Data(count: actual)),
                name: "s",
                fileName: "s",
                length: 100,
                mimeType: "x/y"
            )
            form.appendPart(withFormData: Data(count: 1000), name: "after")
        }

        let error = await #expect(throws: URLError.self) {
            try await URLSession(configuration: .ephemeral).data(for: request)
        }

        #expect(error?.code == .requestBodyStreamExhausted)
        let failure = error?.loadFailure
        #expect(
            failure?.message.contains("100 bytes were announced for the part") == true,
            "\(failure?.message ?? "")"
        )
        let cause = failure?.underlyingError.map { $0 as NSError }
        #expect(cause?.domain == HTTPRequestSerializer.errorDomain && cause?.code == -1021)
        server.stop()
        #expect(server.requests.allSatisfy { !$0.isComplete })
    }

    @Test("16 8.4 a throttled form takes its time, and holds up no other upload")
    func throttled() async throws {
        let content = Data(count: 40_000)
        let url = server.url("/post").absoluteString
        let request = try serializer.form(to: url) { form in
            form.appendPart(withFormData: content, name: "a")
            form.throttleBandwidth(withPacketSize: 10_000, delay: 0.5)
        }
        let free = try serializer.form(to: url) { $0.appendPart(withFormData: content, name: "b") }
        let session = URLSession(configuration: .ephemeral)
        let clock = ContinuousClock()
        let start = clock.now

        async let slow = session.data(for: request)
        async let quick = session.data(for: free)
        _ = try await quick
        let quickTime = start.duration(to: clock.now)
        _ = try await slow
        let slowTime = start.duration(to: clock.now)

        // Without the first burst.
        #expect(slowTime > .milliseconds(1250) && slowTime > quickTime)
        #expect(server.requests.count { $0.isComplete } == 2)
    }

    @Test("many threads make and send forms at once")
    func concurrent() async throws {
        let session = URLSession(configuration: .ephemeral)
        let (serializer, url) = (serializer, server.url("/post").absoluteString)
        let texts = try await withThrowingTaskGroup(of: (Int, String?).self) { group in
            for number in 0..<30 {
                group.addTask {
                    let request = try serializer.form(["n": number], to: url)
                    let (data, _) = try await session.data(for: request)
                    let echo = try JSONSerialization.jsonObject(with: data) as? [String: Any]
                    return (number, (echo?["form"] as? [String: String])?["n"])
                }
            }
            return try await group.reduce(into: [Int: String?]()) { $0[$1.0] = $1.1 }
        }

        #expect(texts.allSatisfy { $0.value == "\($0.key)" } && texts.count == 30)
    }

    @Test("a file of 64 MiB passes through a few hundred kibibytes")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let file = folder.url.appendingPathComponent("large.bin")
            try Data().write(to: file)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 64 << 20)
            try handle.close()
            let server = try TestServer()
            let request = try HTTPRequestSerializer().form(to: server.url("/").absoluteString) { form in
                try form.appendPart(withFileURL: file, name: "file")
            }
            let length = Int(request.value(forHTTPHeaderField: "Content-Length") ?? "") ?? 0
            server.script(.expectHead, .receive(length), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
            let before = Self.kibibytes("VmRSS")

            let (data, _) = try await URLSession(configuration: .ephemeral).data(for: request)

            #expect(data == Data("ok".utf8) && length > 64 << 20)
            // A few mebibytes; the address sanitizer needs more for itself.
            let more = Self.kibibytes("VmHWM") - before
            #expect(before > 0 && more < 40 << 10, "\(more) KiB")
        }
    }

    /// A number that the kernel reports about this process.
    private static func kibibytes(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
