@testable import AFURLSession

/// A server that gives parts of a file, and the requests that it got.
final class PartsServer: Sendable {
    let server: TestServer
    let folder: ScratchFolder
    let body: Data
    let tag = Lock("\"one\"")
    let content: Lock<Data>

    init(_ body: Data = pattern(6_000_000)) throws {
        server = try TestServer()
        folder = try ScratchFolder()
        self.body = body
        content = Lock(body)
        serve { $1 }
    }

    /// Answers each request as a file server does, changed by `change`: with the number of the request, from 1 on.
    func serve(_ change: @escaping @Sendable (_ number: Int, _ reply: ServerReply) -> ServerReply) {
        let count = Lock(0)
        server.route("GET", "/file") { [content, tag] request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return change(number, .file(content.withLock { $0 }, entityTag: tag.withLock { $0 }, to: request))
        }
    }

    var url: URL { server.url("/file") }
    var file: URL { folder.file("file") }
    var partial: URL { folder.file("file.parts") }
    var ranges: [String] { server.requests.map { $0.headers["Range"] ?? "whole" } }
    /// What is in the folder.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

    @discardableResult
    func load(
        _ parts: DownloadParts = 4,
        in session: URLSession = .loopback(),
        progress: Progress? = nil
    ) async throws -> URLResponse {
        try await session.download(from: url, to: file, inParts: parts, progress: progress)
    }

    /// Whether the file is there, and nothing else.
    func isThere(_ expected: Data? = nil) throws -> Bool {
        try Data(contentsOf: file) == expected ?? body && names == ["file"]
    }
}
