import Glibc

@testable import AFURLSession
@testable import AFURLTypes

@Suite("Loads of data URLs and files")
struct LocalLoadTests {
    private let folder: ScratchFolder
    private let session: URLSession

    init() throws {
        folder = try ScratchFolder()
        session = URLSession.downloading(to: folder)
    }

    private func file(_ name: String, _ contents: Data = Data("hello".utf8)) throws -> URL {
        try contents.write(to: folder.file(name))
        return folder.file(name)
    }

    private func data(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func code(_ request: URLRequest) async throws -> URLError.Code? {
        try await session.outcome(of: request).error?.code
    }

    // MARK: - Data

    @Test func `a data URL is its own response`() async throws {
        let (data, response) = try await session.data(from: data("data:text/html;charset=UTF-8;base64,PHA+"))
        #expect(data == Data("<p>".utf8) && response.mimeType == "text/html" && response.textEncodingName == "utf-8")
        #expect(response.expectedContentLength == 3 && !(response is HTTPURLResponse))
        #expect(response.suggestedFilename == "Unknown")
        #expect(try await session.data(from: self.data("data:,")).1.mimeType == "text/plain")
        #expect(try await session.outcome(of: URLRequest("HEAD", self.data("data:,x"))).data == Data())
        let download = try await session.download(self.data("data:,hello"))
        #expect(download.contents == Data("hello".utf8))
    }

    @Test func `a data URL longer than any request line is loaded`() async throws {
        let body = pattern(300_000)
        let url = try data("data:application/octet-stream;base64,\(body.base64EncodedString())")
        #expect(try await session.data(from: url).0 == body)
        let small = URLSession.loopback { $0.maximumBodyInMemory = 1000 }
        let error = try await small.outcome(of: url).error
        #expect(error?.code == .dataLengthExceedsMaximum && error?.failingURL == nil)
    }

    @Test func `what is malformed, or would lose a body, is refused`() async throws {
        #expect(try await code(URLRequest(url: data("data:text"))) == .badURL)
        #expect(try await code(URLRequest(url: data("data:;base64,x"))) == .badURL)
        let file = try file("a")
        for url in [try data("data:,x"), file] {
            #expect(try await code(URLRequest("POST", url)) == .unsupportedURL)
            #expect(try await code(URLRequest("GET", url, body: Data("x".utf8))) == .unsupportedURL)
            for upload in [
                { try await session.upload(for: URLRequest("PUT", url), from: Data("x".utf8)) },
                { try await session.upload(for: URLRequest("PUT", url), fromFile: file) },
            ] {
                let error = await #expect(throws: URLError.self) { try await upload() }
                #expect(error?.code == .unsupportedURL)
            }
        }
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
    }

    // MARK: - Files

    @Test(arguments: [0, 1, 65_536, 200_000, 900_000])
    func `a file is read to its end by tasks of all kinds`(count: Int) async throws {
        let body = pattern(count)
        let url = try file("a b.json", body)

        let (data, response) = try await session.data(from: url)
        #expect(data == body && response.mimeType == "application/json")
        #expect(response.expectedContentLength == Int64(count) && response.suggestedFilename == "a b.json")
        var streamed = Data()
        for try await chunk in try await session.bytes(from: url).0.chunks { streamed.append(chunk) }
        #expect(streamed == body)
        let log = EventLog()
        let delegated = URLSession.loopback(delegate: log)
        delegated.dataTask(with: url).resume()
        #expect(try await log.finished().last == .completed(nil))
        #expect(log.bodies.withLock { $0 } == body)
        let download = try await session.download(url)
        #expect(download.contents == body && download.url != url)
        #expect(try Data(contentsOf: url) == body)
        #expect(try await session.outcome(of: URLRequest("HEAD", url)).data == Data())
    }

    @Test func `errors have Apple's codes`() async throws {
        #expect(try await code(URLRequest(url: folder.file("none"))) == .fileDoesNotExist)
        #expect(try await code(URLRequest(url: try file("a").appendingPathComponent("b"))) == .fileDoesNotExist)
        #expect(try await code(URLRequest(url: folder.url)) == .fileIsDirectory)
        #expect(try await code(URLRequest(url: data("file://elsewhere/etc/hostname"))) == .unsupportedURL)
        #expect(try await code(URLRequest(url: data("file:///etc%2Fhostname"))) == .badURL)
        #expect(try await code(URLRequest(url: data("FILE://localhost\(try file("c").path)"))) == nil)
        guard geteuid() != 0 else { return }
        let secret = try file("secret")
        chmod(secret.path, 0)
        #expect(try await code(URLRequest(url: secret)) == .noPermissionsToReadFile)
    }

    @Test func `links are followed to regular files, and pipes are not waited for`() async throws {
        let target = try file("target")
        let links = ["file": target, "folder": folder.url, "none": folder.file("none")]
        for (name, target) in links {
            try FileManager.default.createSymbolicLink(at: folder.file("to-\(name)"), withDestinationURL: target)
        }
        #expect(try await session.data(from: folder.file("to-file")).0 == Data("hello".utf8))
        #expect(try await code(URLRequest(url: folder.file("to-folder"))) == .fileIsDirectory)
        #expect(try await code(URLRequest(url: folder.file("to-none"))) == .fileDoesNotExist)
        mkfifo(folder.file("pipe").path, 0o600)
        #expect(try await code(URLRequest(url: folder.file("pipe"))) == .cannotOpenFile)
        #expect(try await code(URLRequest(url: URL(fileURLWithPath: "/dev/zero"))) == .cannotOpenFile)
    }

    @Test func `a file that changes while it is read fails the load`() async throws {
        let url = try file("growing", Data(count: 4 << 20))
        let (bytes, _) = try await session.bytes(from: url)
        var chunks = bytes.chunks.makeAsyncIterator()
        #expect(try await chunks.next()?.isEmpty == false)
        try Data("other".utf8).write(to: url)
        await #expect(throws: URLError.self) { while try await chunks.next() != nil {} }
    }

    @Test func `a load can be cancelled at any moment, and closes its file`() async throws {
        let url = try file("large", Data(count: 3 << 20))
        let outcomes = Outcomes()
        for number in 0..<50 {
            let task = session.dataTask(with: url, completionHandler: outcomes.handler)
            task.resume()
            if number % 2 == 0 { await session.settled() }
            task.cancel()
        }
        let all = try await outcomes.wait(for: 50)
        #expect(all.allSatisfy { $0.error?.code == .cancelled || $0.data?.count == 3 << 20 })
        try await eventually { openDescriptors(of: url) == 0 }
    }

    private func openDescriptors(of url: URL) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == url.path
        }
    }
}
