import AFFaults
import AFLoop
import AFNetworkingTesting
import Foundation
import Glibc
import Testing

@testable import AFURLSession

/// A file system of a mebibyte, in a folder of the test's own.
private final class SmallDisk: Sendable {
    let url: URL

    /// Whoever may mount.
    static let isPossible = geteuid() == 0 && (try? SmallDisk()) != nil

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("af-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let mounted = SmallDisk.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", url.path)
        guard mounted else {
            try? FileManager.default.removeItem(at: url)
            throw CocoaError(.fileWriteUnknown)
        }
    }

    deinit {
        _ = SmallDisk.run("umount", "-l", url.path)
        try? FileManager.default.removeItem(at: url)
    }

    /// Until not a byte more can be written.
    func fill() throws {
        let file = url.appendingPathComponent("filler")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        for size in [64 << 10, 4 << 10, 1] {
            while (try? handle.write(contentsOf: Data(count: size))) != nil {}
        }
    }

    func enlarge() throws {
        try #require(SmallDisk.run("mount", "-o", "remount,size=64m", url.path))
    }

    private static func run(_ program: String, _ arguments: String...) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        return (try? ChildProcess.runAndWait("/usr/bin/env", [program] + arguments, environment: environment)) == 0
    }
}

@Suite("Full disks")
struct FullDiskTests {
    @Test(.enabled(if: SmallDisk.isPossible, "a file system can be mounted by root only"))
    func `T-RES-47 a full disk fails downloads and nothing else, until there is room again`() async throws {
        let disk = try SmallDisk()
        let clock = Lock<Int64>(1000)
        let server = try TestServer()
        let page = ServerReply.data(pattern(40_000)).header("Cache-Control", "max-age=600")
        server.route("GET", "/file/:n", .data(pattern(300_000)))
        server.route("GET", "/page/:n") { page.header("Set-Cookie", "c\($0.parameters["n"] ?? "")=1; Max-Age=600") }
        let cookies = HTTPCookieStorage(fileURL: disk.url.appendingPathComponent("cookies"))
        let store = CacheStore(
            memoryCapacity: 0,
            diskCapacity: 20 << 20,
            path: disk.url.path,
            monotonicClock: { clock.withLock { $0 } }
        )
        let session = URLSession.loopback {
            $0.temporaryFolder = disk.url
            $0.httpCookieStorage = cookies
            $0.urlCache = URLCache(store: store)
        }
        try disk.fill()

        for outcome in try await downloads(10, of: server, in: session) {
            #expect([-3000, -3003].contains(outcome.code ?? 0), "\(outcome.code ?? 0)")
            #expect(outcome.error?.loadFailure?.errno == ENOSPC)
        }
        for number in 0..<10 {
            let outcome = try await session.outcome(of: server.url("/page/\(number)"))
            #expect(outcome.data?.count == 40_000)
        }
        #expect(cookies.cookies?.count == 10)
        #expect(throws: CookieFileError.self) { try cookies.flush() }
        #expect(server.requests.count { $0.path == "/page/0" } == 1)

        try disk.enlarge()
        clock.withLock { $0 += 61 }
        for outcome in try await downloads(10, of: server, in: session) {
            #expect(outcome.contents == pattern(300_000))
        }
        for _ in 0..<2 { #expect(try await session.outcome(of: server.url("/page/0")).data?.count == 40_000) }
        store.catchUp()
        #expect(try await session.outcome(of: server.url("/page/0")).data?.count == 40_000)
        #expect(server.requests.count { $0.path == "/page/0" } <= 3 && store.diskUsage > 40_000)
        try cookies.flush()
        #expect(HTTPCookieStorage(fileURL: disk.url.appendingPathComponent("cookies")).cookies?.count == 10)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "a file system can be mounted by root only"))
    func `T-FIL-02 a file for which there is no room on the other disk stays, and nothing of it is there`() throws {
        let (origin, disk) = (try SmallDisk(), try SmallDisk())
        let (file, place) = (origin.url.appendingPathComponent("file"), disk.url.appendingPathComponent("place"))
        try pattern(300_000).write(to: file)
        try disk.fill()

        let error = #expect(throws: CocoaError.self) { try FileManager.default.moveDownload(at: file, to: place) }
        #expect(error?.code == .fileWriteOutOfSpace)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path) == ["filler"])
        #expect(try Data(contentsOf: file) == pattern(300_000))

        try disk.enlarge()
        try FileManager.default.moveDownload(at: file, to: place)
        #expect(try Data(contentsOf: place) == pattern(300_000))
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    /// All at once, with more bytes than there is room for on the small disk.
    private func downloads(_ count: Int, of server: TestServer, in session: URLSession) async throws
        -> [DownloadOutcome]
    {
        let outcomes = DownloadOutcomes()
        for number in 0..<count {
            session.downloadTask(with: server.url("/file/\(number)"), completionHandler: outcomes.handler).resume()
        }
        return try await outcomes.all.wait("\(count) downloads") { $0.count >= count }
    }
}
