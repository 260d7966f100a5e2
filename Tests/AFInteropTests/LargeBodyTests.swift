import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

/// What bodies of any size cost in memory. `./dev interop` runs this by itself, for nothing else may be in the process;
/// `./dev interop --large` with bodies of 10 GiB.
@Suite(.serialized, .enabled(if: Nginx.isServing && Server.sink.isServing && LargeBody.size > 0))
final class LargeBodyTests {
    private let authority: CertificateAuthority
    fileprivate let file: URL

    init() throws {
        authority = try CertificateAuthority()
        file = try LargeBody.sparseFile()
    }

    private func secured() -> URLSession {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        return .fresh { $0.tls = tls }
    }

    /// nginx with TLS, which also passes on what is sent to it.
    private func securedServer() async throws -> ServerProcess {
        try await ServerProcess.nginx(
            try authority.issue(for: "127.0.0.1"),
            """
            location /sparse { root \(file.deletingLastPathComponent().path); }
            location = /drop {
              client_max_body_size 0; proxy_http_version 1.1; proxy_request_buffering off; proxy_read_timeout 600s;
              proxy_pass \(try Server.sink.url("/").absoluteString);
            }
            """
        )
    }

    // MARK: Downloads

    @Test(arguments: [false, true])
    func `a download that a delegate drops`(isSecured: Bool) async throws {
        let server = isSecured ? try await securedServer() : nil
        let url = try server?.url("/sparse") ?? Nginx.url("/sparse")

        let count = try await LargeBody.measure("download, delegate, \(isSecured ? "https" : "http")") {
            try await Dropper.drop(url, in: isSecured ? self.secured().configuration : .ephemeral)
        }

        #expect(count == LargeBody.size)
    }

    @Test func `a download read piece by piece`() async throws {
        let count = try await LargeBody.measure("download, async pieces, http") {
            let (bytes, _) = try await URLSession.fresh().bytes(from: Nginx.url("/sparse"))
            var count: Int64 = 0
            for try await piece in bytes.chunks { count += Int64(piece.count) }
            return count
        }

        #expect(count == LargeBody.size)
    }

    @Test func `a download to a file`() async throws {
        // Every byte of it is written, unlike those of the others.
        let length = min(LargeBody.size, 1 << 30)
        var request = URLRequest(url: try Nginx.url("/sparse"))
        try request.setByteRange(from: 0, through: length - 1)

        let count = try await LargeBody.measure("download to a file, http", length) { [request] in
            let (place, _) = try await URLSession.fresh().download(for: request)
            defer { try? FileManager.default.removeItem(at: place) }
            return try Int64(place.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
        }

        #expect(count == length)
    }

    // MARK: Uploads

    @Test(arguments: [false, true])
    func `an upload of a file`(isSecured: Bool) async throws {
        let server = isSecured ? try await securedServer() : nil
        var request = URLRequest(url: try server?.url("/drop") ?? Server.sink.url("/"))
        request.httpMethod = "PUT"

        let count = try await LargeBody.measure("upload of a file, \(isSecured ? "https" : "http")") { [request] in
            let session = isSecured ? self.secured() : .fresh()
            let answer = try Answer(await session.upload(for: request, fromFile: self.file))
            return Int64(answer.text.replacing(" zeros", with: "")) ?? -1
        }

        #expect(count == LargeBody.size)
    }

    @Test func `an upload of a stream, in chunks`() async throws {
        var request = URLRequest(url: try Server.sink.url("/"))
        request.httpMethod = "PUT"

        let count = try await LargeBody.measure("upload of a stream in chunks, http") { [request] in
            var request = request
            request.httpBodyStream = InputStream(url: self.file)
            let answer = try Answer(await URLSession.fresh().data(for: request))
            return Int64(answer.text.replacing(" zeros", with: "")) ?? -1
        }

        #expect(count == LargeBody.size)
    }
}

extension LargeBodyTests {
    @Test func `the command line client, both ways`() async throws {
        let sparse = try Nginx.url("/sparse").absoluteString
        let waiting = ["--max-time", "0.5", "-o", "/dev/null", try Nginx.url("/trickle").absoluteString]
        let upload = ["-o", "/dev/null", "--upload-file", file.path, try Server.sink.url("/").absoluteString]

        let idle = try await WatchedProgram(arguments: waiting).run().peak

        try await LargeBody.measure(
            "afnet, download",
            WatchedProgram(arguments: ["-o", "/dev/null", sparse]),
            atRest: idle
        )
        try await LargeBody.measure("afnet --upload-file", WatchedProgram(arguments: upload), atRest: idle)
    }
}

/// Takes a body and keeps nothing of it but its length.
private final class Dropper: URLSessionDataDelegate {
    private let end: AsyncThrowingStream<Int64, any Error>.Continuation

    private init(_ end: AsyncThrowingStream<Int64, any Error>.Continuation) {
        self.end = end
    }

    static func drop(_ url: URL, in configuration: URLSessionConfiguration) async throws -> Int64 {
        let (ends, end) = AsyncThrowingStream<Int64, any Error>.makeStream()
        let session = URLSession(configuration: configuration, delegate: Dropper(end), delegateQueue: nil)
        session.dataTask(with: url).resume()
        for try await count in ends { return count }
        return -1
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.yield(task.countOfBytesReceived)
        end.finish(throwing: error)
    }
}

/// A large body, and what becomes of our memory while it passes.
enum LargeBody {
    /// The bar of the design: above the process at rest.
    private static let allowance = 32 << 20

    /// How many bytes; 0 leaves the tests out.
    static let size = Int64(ProcessInfo.processInfo.environment["AFNET_INTEROP_LARGE"] ?? "") ?? 0

    /// A file without blocks, in the folder that nginx serves.
    static func sparseFile() throws -> URL {
        let folder = try #require(ProcessInfo.processInfo.environment["AFNET_INTEROP_NGINX_FILES"])
        let file = URL(fileURLWithPath: folder).appendingPathComponent("sparse")
        let isNew = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        try #require(isNew >= 0 && ftruncate(isNew, off_t(size)) == 0)
        close(isNew)
        return file
    }

    /// The process at rest, after its first request.
    nonisolated(unsafe) private static var idle: Int?

    /// Runs `work` and prints a row: how long it took, and how much more memory it took at its peak than the process at
    /// rest, and than the process just before.
    static func measure(_ name: String, _ size: Int64 = size, _ work: () async throws -> Int64) async throws -> Int64 {
        _ = try await URLSession.fresh().get("/small")  // what is there from the first request on
        try FileHandle(forWritingTo: URL(fileURLWithPath: "/proc/self/clear_refs")).write(contentsOf: Data("5".utf8))
        let before = try #require(peak(of: "self"))
        let idle = self.idle ?? before
        self.idle = idle
        let start = ContinuousClock.now
        let count = try await work()
        let most = try #require(peak(of: "self"))
        try report(
            name,
            size,
            ContinuousClock.now - start,
            [(idle, "at rest"), (most - idle, "more"), (most - before, "of its own")]
        )
        #expect(most - idle < allowance, "\(name) took \((most - idle) >> 10) KiB")
        return count
    }

    /// The same for a program: its peak is compared with one of its own at rest.
    static func measure(_ name: String, _ program: WatchedProgram, atRest idle: Int) async throws {
        let start = ContinuousClock.now
        let (code, peak) = try await program.run()
        try report(name, size, ContinuousClock.now - start, [(idle, "at rest"), (peak - idle, "more")])
        #expect(code == 0)
        #expect(peak - idle < allowance, "\(name) took \((peak - idle) >> 10) KiB")
    }

    private static func report(
        _ name: String,
        _ size: Int64,
        _ time: Duration,
        _ memory: [(bytes: Int, what: String)]
    ) throws {
        let seconds = time / .seconds(1)
        let row =
            [
                name.padding(toLength: 38, withPad: " ", startingAt: 0), text(size, "MiB", 1 << 20),
                String(format: "%8.1f s", seconds), text(Int64(Double(size) / seconds), "MiB/s", 1 << 20),
            ] + memory.map { text(Int64($0.bytes), "KiB \($0.what)", 1024) }
        // Not kept back until the end, as what is printed to a pipe would be.
        try FileHandle.standardOutput.write(contentsOf: Data((row.joined(separator: " ") + "\n").utf8))
    }

    private static func text(_ value: Int64, _ unit: String, _ scale: Int64) -> String {
        let number = String(value / scale)
        return String(repeating: " ", count: max(0, 9 - number.count)) + "\(number) \(unit)"
    }

    /// The most memory a process has had, in bytes; nil if it has ended.
    static func peak(of process: String) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }
}

/// `afnet`, which was built beside the tests, watched while it runs.
struct WatchedProgram {
    let arguments: [String]

    /// - Returns: How it ended, and the most memory it had, up to a moment before its end.
    func run() async throws -> (code: Int32, peak: Int) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("afnet")
        process.arguments = ["--silent"] + arguments
        try process.run()
        var peak = 0
        while process.isRunning {
            peak = max(peak, LargeBody.peak(of: "\(process.processIdentifier)") ?? 0)
            try await Task.sleep(for: .milliseconds(20))
        }
        return (process.terminationStatus, peak)
    }
}
