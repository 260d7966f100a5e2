import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the article about downloads.
@Suite struct DownloadingTests {
    private let site: Site
    private let folder: ScratchFolder
    private let drawn = Heard<Int64>()
    private let kept = Heard<Int>()
    private let ended = Heard<Bool>()
    private static let length = 300_000

    init() throws {
        site = try Site()
        folder = try ScratchFolder()
        let content = Data(repeating: 0x78, count: Self.length)
        site.server.route("GET", "/file") { .file(content, entityTag: "\"1\"", to: $0) }
        let visits = Heard<Int>()
        site.server.route("GET", "/broken") {
            visits.add(1)
            let reply = ServerReply.file(content, entityTag: "\"1\"", to: $0)
            return visits.all.count == 1 ? reply.closing(after: 100_000) : reply
        }
    }

    @Test func `a file is downloaded and moved`() async throws {
        let (session, url) = (site.session, site.url("/file"))
        let destination = folder.url.appendingPathComponent("file")

        let (file, response) = try await session.download(from: url)
        try FileManager.default.moveDownload(at: file, to: destination)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }

        #expect(try Data(contentsOf: destination).count == Self.length)
    }

    @Test func `a file is loaded in parts, and compared with its digest`() async throws {
        let (session, url) = (site.session, site.url("/file"))
        let destination = folder.url.appendingPathComponent("file")

        let progress = Progress(totalUnitCount: 0)
        try await session.download(from: url, to: destination, inParts: 8, progress: progress)
        #expect(try Data(contentsOf: destination).count == Self.length && progress.isFinished)

        // sha256sum of 300,000 times the letter x
        let sum = "29927e273accc68286005017f7fa6e4f27bddb4db3083ff8b8d4c3667905b7fa"
        let parts = DownloadParts(8, digest: FileDigest(hexadecimal: sum))
        try await session.download(from: url, to: destination, inParts: parts)
        #expect(parts.digest?.hexadecimal == sum)
    }

    private func load(_ url: URL, in session: URLSession) async throws -> URL {
        do {
            let (file, _) = try await session.download(from: url)
            return file
        } catch let error as URLError {
            guard let resumeData = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data else { throw error }
            let (file, _) = try await session.download(resumeFrom: resumeData)
            return file
        }
    }

    @Test func `a download that breaks off goes on where it was`() async throws {
        let file = try await load(site.url("/broken"), in: site.session)

        #expect(try Data(contentsOf: file).count == Self.length)
        #expect(site.server.requests.map { $0.headers["Range"] } == [nil, "bytes=100000-"])
        try FileManager.default.removeItem(at: file)
    }

    @Test func `a download is paused, and its delegate hears of the rest`() async throws {
        site.server.route("GET", "/held") {
            .file(Data(repeating: 0x78, count: 300_000), entityTag: "\"1\"", to: $0).stalling(after: 100_000)
        }
        let downloads = Downloads(drawn, kept, ended)
        let session = site.owned(URLSession(configuration: .ephemeral, delegate: downloads, delegateQueue: nil))
        let url = site.url("/held")

        let task = session.downloadTask(with: url)
        task.resume()

        let drawn = drawn
        while !drawn.all.contains(where: { $0 >= 100_000 }) { try await drawn.wait(for: drawn.all.count + 1) }
        let resumeData = await task.cancelByProducingResumeData()

        try await ended.wait()
        let content = Data(repeating: 0x78, count: Self.length)
        site.server.route("GET", "/held") { .file(content, entityTag: "\"1\"", to: $0) }
        if let resumeData { session.downloadTask(withResumeData: resumeData).resume() }

        #expect(try await ended.wait(for: 2) == [false, true])
        #expect(kept.all == [Self.length])
    }

    @Test func `a manager downloads into a folder`() async throws {
        let (manager, folder) = (site.manager, folder.url)
        manager.completionQueue = DispatchQueue(label: "completions")
        let request = URLRequest(url: site.url("/file"))
        let (drawn, ended) = (drawn, ended)
        @Sendable func draw(_ count: Int64, of total: Int64) { drawn.add(count) }
        @Sendable func finish(_ error: (any Error)?) { ended.add(error == nil) }

        let task = manager.downloadTask(with: request) { progress in
            draw(progress.completedUnitCount, of: progress.totalUnitCount)
        } destination: { _, response in
            folder.appendingPathComponent(response.suggestedFilename ?? "download")
        } completionHandler: { response, file, error in
            finish(error)
        }
        task.resume()

        #expect(try await ended.wait() == [true])
        #expect(try Data(contentsOf: folder.appendingPathComponent("file")).count == Self.length)
    }

    @Test func `lines are read as they arrive`() async throws {
        let (session, url) = (site.session, site.url("/lines"))
        site.server.route("GET", "/lines", .text("one\ntwo\n"))
        var heard: [String] = []
        func handle(_ line: String) { heard.append(line) }

        let (bytes, _) = try await session.bytes(from: url)
        for try await line in bytes.lines {
            handle(line)
        }

        #expect(heard == ["one", "two"])
    }
}

final class Downloads: URLSessionDownloadDelegate {
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        draw(totalBytesWritten, of: totalBytesExpectedToWrite)
    }

    private let drawn: Heard<Int64>
    private let kept: Heard<Int>
    private let ended: Heard<Bool>

    init(_ drawn: Heard<Int64>, _ kept: Heard<Int>, _ ended: Heard<Bool>) {
        (self.drawn, self.kept, self.ended) = (drawn, kept, ended)
    }

    private func draw(_ count: Int64, of total: Int64) { drawn.add(count) }
    private func keep(_ file: URL) { kept.add((try? Data(contentsOf: file).count) ?? -1) }
    private func finish(_ error: (any Error)?) { ended.add(error == nil) }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        keep(location)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish(error)
    }
}
