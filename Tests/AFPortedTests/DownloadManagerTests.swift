import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

@Suite("Ported code: downloads")
struct DownloadManagerTests {
    private let server: TestServer
    private let folder: URL

    init() throws {
        server = try TestServer()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func finish(of manager: DownloadManager, _ start: () -> Void) async -> (URL, Result<URL, Error>) {
        await withCheckedContinuation { done in
            manager.onFinish = { url, result in done.resume(returning: (url, result)) }
            start()
        }
    }

    @Test func `a file arrives with progress and under its name`() async throws {
        let body = Data(repeating: 5, count: 3_000_000)
        server.route("GET", "/files/book.pdf", .data(body))
        let manager = DownloadManager(folder: folder)
        var fractions: [Double] = []
        manager.onProgress = { fractions.append($1) }

        let (_, result) = await finish(of: manager) { manager.start(server.url("/files/book.pdf")) }

        let file = try result.get()
        #expect(file.lastPathComponent == "book.pdf")
        #expect(try Data(contentsOf: file) == body)
        #expect(fractions.last == 1 && fractions == fractions.sorted())
        manager.session.invalidateAndCancel()
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `a paused download goes on where it was`() async throws {
        let body = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let half = 1_000_000
        server.route("GET", "/big") { request in
            let tagged = ServerReply.data(body).header("ETag", "\"1\"").header("Accept-Ranges", "bytes")
            guard let range = request.headers["Range"], let from = Int(range.dropFirst(6).dropLast()) else {
                return tagged.stalling(after: half)
            }
            return ServerReply.data(Data(body[from...])).status(206).header("ETag", "\"1\"")
                .header("Content-Range", "bytes \(from)-\(body.count - 1)/\(body.count)")
        }
        let manager = DownloadManager(folder: folder)
        let url = server.url("/big")
        let arrived = AsyncStream<Double> { stream in manager.onProgress = { stream.yield($1) } }
        manager.start(url)
        for await fraction in arrived where fraction > 0.4 { break }

        let isPaused = await withCheckedContinuation { done in manager.pause(url) { done.resume(returning: $0) } }
        #expect(isPaused)
        manager.onProgress = nil
        var wentOn = false
        let (_, result) = await finish(of: manager) { wentOn = manager.goOn(url) }

        #expect(wentOn)
        #expect(try Data(contentsOf: result.get()) == body)
        #expect(server.requests.count == 2 && server.requests.last?.headers["If-Range"] == "\"1\"")
        manager.session.invalidateAndCancel()
        try FileManager.default.removeItem(at: folder)
    }
}
