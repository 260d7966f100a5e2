import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

@testable import Downloader

@Suite struct DownloaderTests {
    private static let part = 1 << 20

    private let folder: Folder
    private let film: Data
    private var file: URL { folder.url.appendingPathComponent("film") }

    init() throws {
        folder = try Folder()
        film = Data((0..<3 * Self.part).map { UInt8(truncatingIfNeeded: $0 >> 4 ^ $0) })
    }

    private func download(of server: TestServer) -> ResumableDownload {
        var download = ResumableDownload(of: server.url("/film"), to: file)
        download.pause = .milliseconds(1)
        return download
    }

    /// Falls silent after the first part, and answers a request for the rest.
    private func stallingServer() throws -> TestServer {
        let server = try TestServer()
        let film = film
        server.route("GET", "/film") { request in
            let reply = ServerReply.file(film, entityTag: "\"1\"", to: request)
            return request.headers["Range"] == nil ? reply.stalling(after: Self.part) : reply
        }
        return server
    }

    @Test func `lost connections are gone on after, by Range`() async throws {
        let server = try Downloader.filmServer(of: film, partsOf: Self.part)
        var steps: [Int64] = []

        try await download(of: server).run { steps.append($0.received) }

        #expect(try Data(contentsOf: file) == film)
        let ranges = server.requests.map { $0.headers["Range"] }
        #expect(ranges == [nil, "bytes=1048576-", "bytes=2097152-"])
        #expect(server.requests.map { $0.headers["If-Range"] } == [nil, "\"1\"", "\"1\""])
        #expect(steps.last == Int64(film.count))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["film"])
    }

    @Test func `several requests load a film, and others go on after they failed`() async throws {
        let server = try TestServer()
        let film = film
        server.route("GET", "/film") { .file(film, entityTag: "\"1\"", to: $0).closing(after: Self.part / 2) }
        let download = PartedDownload(of: server.url("/film"), to: file, inParts: 3)

        let code = await Downloader.loadInParts(download)

        #expect(try code == 0 && Data(contentsOf: file) == film)
        #expect(server.requests.count > 3)
    }

    @Test func `a download that is cancelled is gone on with by the next one`() async throws {
        let server = try stallingServer()
        let received = Box<Int64>(0)
        let first = download(of: server)
        let task = Task { try await first.run { step in received.change { $0 = step.received } } }
        try await eventually { received.value == Self.part }

        task.cancel()

        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        let attributes = try FileManager.default.attributesOfItem(atPath: first.resumeFile.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(!FileManager.default.fileExists(atPath: file.path))

        try await download(of: server).run { _ in }

        #expect(try Data(contentsOf: file) == film)
        #expect(server.requests.last?.headers["Range"] == "bytes=\(Self.part)-")
        #expect(!FileManager.default.fileExists(atPath: first.resumeFile.path))
    }

    @Test func `Control-C leaves what the same command goes on with`() async throws {
        let server = try stallingServer()
        let kept = try Folder()
        let environment = ["TMPDIR": kept.url.path]
        let command = [Example.path("Downloader"), server.url("/film").absoluteString, file.path]
        // A download that is under way has no name: what has arrived is seen through the program's descriptors.
        // The shell becomes the program, so that it is not one in the background, which has no Control-C.
        let script = """
            while kill -0 $$ 2>/dev/null; do
                for file in /proc/$$/fd/*; do
                    case $(readlink $file) in "$TMPDIR"/*)
                        [ $(stat -L -c %s $file || echo 0) -lt "$3" ] || { kill -INT $$; exit; } ;;
                    esac
                done
                sleep 0.05
            done &
            exec "$0" "$1" "$2"
            """

        let first = try await Example.start(
            "/bin/sh",
            ["-c", script] + command + ["\(Self.part)"],
            environment: environment
        )
        #expect(first.code == 1, "\(first.output)")
        #expect(first.lines.last == "the same command goes on where this one ended", "\(first.output)")

        let second = try await Example.start(command[0], Array(command.dropFirst()), environment: environment)
        #expect(second.code == 0, "\(second.output)")
        #expect(try Data(contentsOf: file) == film)
        #expect(server.requests.last?.headers["Range"]?.hasPrefix("bytes=1048576-") == true)
    }

    @Test func `an error page is no file`() async throws {
        let server = try TestServer()
        server.route("GET", "/film", .text("gone").status(410))
        let download = download(of: server)

        let error = await #expect(throws: NSError.self) { try await download.run { _ in } }

        #expect(error?.domain == HTTPResponseSerializer.errorDomain)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
        #expect(server.requests.count == 1)
    }

    @Test func `a file that is there already is not touched, and nothing is asked for`() async throws {
        let server = try stallingServer()
        try Data("mine".utf8).write(to: file)
        let download = download(of: server)

        await #expect(throws: ResumableDownload.FileExists.self) { try await download.run { _ in } }

        #expect(try Data(contentsOf: file) == Data("mine".utf8))
        #expect(server.requests.isEmpty)
    }

    @Test func `the line tells the rate of this run, and how long it will take`() {
        var line = ProgressLine()
        let start = ContinuousClock.now

        _ = line.text(10_000_000, of: 100_000_000, now: start)
        let text = line.text(25_000_000, of: 100_000_000, now: start + .seconds(3))
        let unknown = line.text(25_000_000, of: -1, now: start + .seconds(3))

        #expect(text == "[#######-----------------------]  25% of 100.0 MB, 5.0 MB/s, 0:15 left")
        #expect(unknown == "25.0 MB  5.0 MB/s")
    }
}
