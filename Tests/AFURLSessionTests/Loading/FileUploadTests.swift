import AFFaults
import CAFLinux
import Glibc

@Suite("Uploads from files")
struct FileUploadTests {
    private let folder: ScratchFolder
    private let server: TestServer

    init() throws {
        folder = try ScratchFolder()
        server = try TestServer()
        server.route("*", "/", .text("taken"))
    }

    private func upload(_ file: URL, method: String = "PUT") async throws -> Outcome {
        let session = URLSession.loopback()
        let outcomes = Outcomes()
        let request = URLRequest(method, server.url("/"))
        session.uploadTask(with: request, fromFile: file, completionHandler: outcomes.handler).resume()
        return try await outcomes.first()
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000, 1_000_003, 5_000_000])
    func `a file arrives byte for byte`(size: Int) async throws {
        let content = pattern(size)

        let outcome = try await upload(folder.file(content))

        #expect(outcome.text == "taken", "\(outcome)")
        let request = try #require(server.requests.first)
        #expect(request.body == content)
        #expect(request.headers.values(of: "Content-Length") == ["\(size)"])
        #expect(request.headers.values(of: "Transfer-Encoding").isEmpty)
    }

    @Test func `T-FIL-20 what is no file fails before anything is sent`() async throws {
        let fifo = folder.url.appendingPathComponent("fifo")
        #expect(mkfifo(fifo.path, 0o600) == 0)
        let cases: [(URL, URLError.Code)] = [
            (folder.url.appendingPathComponent("missing"), .fileDoesNotExist),
            (try folder.file(Data([1])).appendingPathComponent("below"), .fileDoesNotExist),
            (folder.url, .fileIsDirectory),
            (fifo, .cannotOpenFile),
            (URL(fileURLWithPath: "/dev/zero"), .cannotOpenFile),
            (URL(fileURLWithPath: "/proc/self/status"), .cannotOpenFile),
            (try #require(URL(string: "http://a.test/file")), .cannotOpenFile),
            (try #require(URL(string: "file:///dev/null%00.txt")), .fileDoesNotExist),
        ]
        for (url, code) in cases {
            let outcome = try await upload(url)

            #expect(outcome.error?.code == code, "\(url) \(outcome)")
            #expect(outcome.reason == .file)
            #expect(outcome.error?.loadFailure?.phase == .preparing)
        }
        #expect(server.acceptedConnections == 0)
    }

    @Test func `a method without body sends no file`() async throws {
        let outcome = try await upload(folder.file(Data([1])), method: "GET")

        #expect(outcome.reason == .request, "\(outcome)")
        #expect(server.acceptedConnections == 0)
    }

    @Test func `awaited uploads return the answer`() async throws {
        let session = URLSession.loopback()
        let request = URLRequest("PUT", server.url("/"), body: Data("ignored".utf8))

        let fromMemory = try await session.upload(for: request, from: Data("memory".utf8))
        let fromFile = try await session.upload(for: request, fromFile: folder.file(Data("file".utf8)))

        #expect(fromMemory.0 == Data("taken".utf8) && fromFile.0 == Data("taken".utf8))
        #expect(server.requests.map(\.body) == [Data("memory".utf8), Data("file".utf8)])
    }

    @Test func `an upload task is a data task, and sends its own body`() async throws {
        let log = EventLog()
        let session = URLSession.loopback(delegate: log)
        let task: URLSessionDataTask = session.uploadTask(
            with: URLRequest("POST", server.url("/"), body: Data("ignored".utf8)),
            from: Data("mine".utf8)
        )
        #expect(task is URLSessionUploadTask && task.countOfBytesExpectedToSend == 4)

        task.resume()
        let events = try await log.finished()

        #expect(events.contains(.sent(4, of: 4)) && events.contains(.data("taken")))
        #expect(server.requests.first?.body == Data("mine".utf8))
    }
}

extension LoopbackTests.Alone {
    @Test func `a kernel that says 0 of what is not in memory is asked for it once more`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("*", "/", .text("taken"))
            let folder = try ScratchFolder()
            let content = pattern(200_000)
            let file = try folder.file(content)
            let session = URLSession.loopback()
            // The first read of a file is one that may not wait.
            FaultInjector.plan(.answers(0), of: CAF_CALL_PREAD, 1)
            let outcomes = Outcomes()
            let request = URLRequest("PUT", server.url())
            session.uploadTask(with: request, fromFile: file, completionHandler: outcomes.handler).resume()
            let outcome = try await outcomes.first()
            FaultInjector.stop()

            #expect(outcome.text == "taken", "\(outcome)")
            #expect(server.requests.first?.body == content)
            #expect(FaultInjector.hasFired)
        }
    }

    @Test func `T-RES-10 a file of a gibibyte passes through a few hundred kibibytes`() async {
        await #expect(processExitsWith: .success) {
            let size = 1 << 30
            let server = try TestServer()
            server.script(.expectHead, .receive(size), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
            let folder = try ScratchFolder()
            let file = try folder.sparseFile(of: size)
            let session = URLSession.loopback()
            let before = ProcessUse.residentBytes
            let outcomes = Outcomes()
            let task = session.uploadTask(
                with: URLRequest("PUT", server.url()),
                fromFile: file,
                completionHandler: outcomes.handler
            )
            task.resume()
            let outcome = try await outcomes.wait(for: 1, seconds: 120)[0]

            #expect(outcome.text == "ok", "\(outcome)")
            #expect(task.countOfBytesSent == Int64(size))
            #expect(ProcessUse.residentBytes - before < 32 << 20)
            #expect(ProcessUse.peakBytes - before < 32 << 20)
        }
    }
}
