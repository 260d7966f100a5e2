import Glibc

@Suite("Multipart forms written to files")
struct MultipartFileTests {
    private let serializer = HTTPRequestSerializer()
    private let folder: ScratchFolder
    private let target: URL

    init() throws {
        folder = try ScratchFolder()
        target = folder.url.appendingPathComponent("form")
    }

    /// Waits for the handler, and returns whether it was called on the main queue.
    private func written(_ request: URLRequest, to url: URL) async -> (
        request: URLRequest, error: NSError?
    ) {
        await withCheckedContinuation { continuation in
            let returned = Returned()
            let made = serializer.request(withMultipartForm: request, writingStreamContentsToFile: url) { error in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(returning: (returned.wait(), error.map { $0 as NSError }))
            }
            returned.set(made)
        }
    }

    /// What a method returned, for a handler that may be quicker.
    private final class Returned: @unchecked Sendable {
        private let condition = NSCondition()
        private var request: URLRequest?

        func set(_ request: URLRequest) {
            condition.withLock { self.request = request }
            condition.broadcast()
        }

        func wait() -> URLRequest {
            condition.withLock {
                while true {
                    if let request { return request }
                    condition.wait()
                }
            }
        }
    }

    @Test("8.4 the file has the form, the request no stream, and the handler runs on main, T-FIL-22")
    func writes() async throws {
        try Data(count: 100_000).write(to: target)
        let request = try serializer.form(["a": String(repeating: "x", count: 70_000)])
        let expected = try #require(request.formCopy).readOnce()

        let (made, error) = await written(request, to: target)

        #expect(error == nil)
        #expect(try Data(contentsOf: target) == expected)
        let rights = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions]
        #expect("\(rights ?? 0)" == "\(0o600)")
        #expect(made.httpBodyStream == nil && made.httpBody == nil)
        #expect(made.contentType == request.contentType)
        #expect(made.value(forHTTPHeaderField: "Content-Length") == "\(expected.count)")
        // It can still be sent.
        #expect(request.form?.streamStatus == .notOpen)
    }

    @Test("the async form needs no main queue, and the file can be uploaded")
    func uploads() async throws {
        let server = try TestServer()
        server.install(.echo)
        let form = try serializer.form(["a": "b"], to: server.url("/post").absoluteString)

        let request = try await serializer.request(withMultipartForm: form, writingStreamContentsToFile: target)
        let (data, _) = try await URLSession(configuration: .ephemeral).upload(for: request, fromFile: target)

        let echo = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(echo["form"] as? [String: String] == ["a": "b"])
    }

    @Test("streams of other kinds are written as well")
    func otherStreams() async throws {
        var request = URLRequest(url: target)
        request.httpBodyStream = FormSource(Data("other".utf8))

        #expect(await written(request, to: target).error == nil)
        #expect(try String(contentsOf: target, encoding: .utf8) == "other")
    }

    @Test("a request without a stream, or with one that was read, is an error")
    func noStream() async throws {
        var request = URLRequest(url: target)
        #expect(await written(request, to: target).error?.code == -1021)
        let used = FormSource(Data())
        used.close()
        request.httpBodyStream = used
        #expect(await written(request, to: target).error?.code == -1021)
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    @Test("a place that is no file, or cannot be written, is an error")
    func badTargets() async throws {
        let request = try serializer.form(["a": 1])
        let web = try #require(URL(string: "http://api.test/"))

        #expect(await written(request, to: web).error?.code == -1000)
        #expect(await written(request, to: folder.url).error?.code == -1000)
        #expect(await written(request, to: URL(fileURLWithPath: "/dev/null")).error?.code == -1000)
        #expect(FileManager.default.fileExists(atPath: "/dev/null"))
        #expect(await written(request, to: folder.url.appendingPathComponent("no/such/folder")).error != nil)
        await #expect(throws: (any Error).self) {
            try await serializer.request(withMultipartForm: request, writingStreamContentsToFile: folder.url)
        }
    }

    @Test("T-FIL-22 a form that fails leaves no part of the file behind")
    func failure() async throws {
        let request = try serializer.form { form in
            form.appendPart(with: FormSource(Data(count: 99)), name: "s", fileName: "s", length: 100, mimeType: "x/y")
        }

        let (_, error) = await written(request, to: target)

        #expect(error?.localizedDescription.contains("only 99") == true)
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    @Test("T-FIL-22 a disk that is full is an error, and nothing is left on it")
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            // Files may grow no further than this: the nearest to a full disk that a process can make for itself.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let folder = try ScratchFolder()
            let target = folder.url.appendingPathComponent("form")
            let serializer = HTTPRequestSerializer()
            let request = try serializer.form { $0.appendPart(withFormData: Data(count: 3 << 20), name: "large") }

            await #expect(throws: (any Error).self) {
                try await serializer.request(withMultipartForm: request, writingStreamContentsToFile: target)
            }
            #expect(!FileManager.default.fileExists(atPath: target.path))
        }
    }

    @Test("a cancelled Swift task cancels the writing, and the file is removed")
    func cancelled() async throws {
        let gate = DispatchSemaphore(value: 0)
        let request = try serializer.form { form in
            form.appendPart(with: GatedStream(gate), name: "s", fileName: "s", length: 1 << 40, mimeType: "x/y")
        }
        let (serializer, target) = (serializer, target)
        let task = Task {
            try await serializer.request(withMultipartForm: request, writingStreamContentsToFile: target)
        }

        task.cancel()
        gate.signal()

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    /// Blocks until the test opens it, and then gives zeros without end.
    private final class GatedStream: InputStream {
        private let gate: DispatchSemaphore
        private var isOpen = false

        init(_ gate: DispatchSemaphore) {
            self.gate = gate
            super.init(data: Data())
        }

        override var streamStatus: Stream.Status { isOpen ? .open : .notOpen }
        override func open() { isOpen = true }
        override func close() {}

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            gate.wait()
            gate.signal()
            buffer.update(repeating: 0, count: len)
            return len
        }
    }
}
