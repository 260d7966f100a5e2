import AFTestSupport
import AFURLSession
import Foundation
import Testing

/// Downloads in parts from servers that limit each connection.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct PartedDownloadTests {
    private let folder: ScratchFolder
    private var file: URL { folder.file("file") }

    init() throws {
        folder = try ScratchFolder()
    }

    /// Loads a file, and compares it.
    ///
    /// - Returns: How long it took.
    private func load(_ url: URL, parts: Int, _ expected: Data) async throws -> Duration {
        let start = ContinuousClock.now
        try await URLSession.fresh { $0.httpMaximumConnectionsPerHost = 8 }.download(
            from: url,
            to: file,
            inParts: DownloadParts(parts)
        )
        let time = ContinuousClock.now - start
        #expect(try Data(contentsOf: file) == expected)
        return time
    }

    @Test(.enabled(if: Nginx.isServing))
    func `nginx with a rate for each connection is faster in parts`() async throws {
        // By one connection at 16 MiB/s they take four seconds.
        let time = try await load(try Nginx.url("/paced"), parts: 8, try Nginx.file("64m"))
        #expect(time < .seconds(3), "\(time)")
    }

    @Test(.enabled(if: Nginx.isServing))
    func `nginx that takes few connections keeps those`() async throws {
        let time = try await load(try Nginx.url("/few"), parts: 8, try Nginx.file("64m"))
        #expect(time < .seconds(4), "\(time)")
    }

    @Test(.enabled(if: Nginx.isServing && ServerProcess.has("lighttpd")))
    func `lighttpd with a rate for each connection is faster in parts`() async throws {
        let content = try Nginx.file("64m")
        try content.write(to: folder.file("served.zip"))
        let server = try await ServerProcess.lighttpd(serving: folder.url, rate: 16 << 10)
        defer { server.stop() }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/served.zip"))
        let time = try await load(url, parts: 8, content)
        #expect(time < .seconds(3), "\(time)")
    }
}
