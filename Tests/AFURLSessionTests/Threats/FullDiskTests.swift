import AFFaults
import Glibc

@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

/// A file system of a mebibyte, in a folder of the test's own.
private final class SmallDisk: Sendable {
    let url: URL

    /// Only root may mount.
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
        try await Self.expectRecovery(in: disk.url, ENOSPC, fill: disk.fill, makeRoom: disk.enlarge)
    }

    @Test func `T-RES-47 where no file may grow downloads fail and nothing else, until they may again`() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("af-limit-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            var usual = rlimit()
            try #require(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &usual) == 0)
            let most = usual.rlim_max
            @Sendable func limitFiles(to size: rlim_t) throws {
                var limit = rlimit(rlim_cur: size, rlim_max: most)
                try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            }

            try await FullDiskTests.expectRecovery(in: folder, EFBIG) {
                try limitFiles(to: 0)
            } makeRoom: {
                try limitFiles(to: most)
            }
        }
    }

    /// Downloads, a cache and cookies, in a folder that is full at first.
    private static func expectRecovery(
        in folder: URL,
        _ errno: Int32,
        fill: () throws -> Void,
        makeRoom: () throws -> Void
    ) async throws {
        let clock = Lock<Int64>(1000)
        let server = try TestServer()
        let page = ServerReply.data(pattern(40_000)).header("Cache-Control", "max-age=600")
        server.route("GET", "/file/:n", .data(pattern(300_000)))
        server.route("GET", "/page/:n") {
            page.header("Set-Cookie", "c\($0.parameters["n"] ?? "")=1; Max-Age=600; Path=/other")
        }
        let cookies = HTTPCookieStorage(fileURL: folder.appendingPathComponent("cookies"))
        let store = CacheStore(
            memoryCapacity: 0,
            diskCapacity: 20 << 20,
            home: CacheHome(path: folder.path, levels: 0),
            keepsFree: 0,
            monotonicClock: { clock.withLock { $0 } }
        )
        let session = URLSession.loopback {
            $0.temporaryFolder = folder
            $0.httpCookieStorage = cookies
            $0.urlCache = URLCache(store: store)
        }
        try fill()

        for outcome in try await downloads(10, of: server, in: session) {
            #expect([-3000, -3003].contains(outcome.code ?? 0), "\(outcome.code ?? 0)")
            #expect(outcome.error?.loadFailure?.errno == errno)
        }
        for number in 0..<10 {
            let outcome = try await session.outcome(of: server.url("/page/\(number)"))
            #expect(outcome.data?.count == 40_000)
        }
        #expect(cookies.cookies?.count == 10)
        #expect(throws: CookieFileError.self) { try cookies.flush() }
        #expect(server.requests.count { $0.path == "/page/0" } == 1)

        try makeRoom()
        clock.withLock { $0 += 61 }
        for outcome in try await downloads(10, of: server, in: session) {
            #expect(outcome.contents == pattern(300_000))
        }
        for _ in 0..<2 { #expect(try await session.outcome(of: server.url("/page/0")).data?.count == 40_000) }
        store.catchUp()
        #expect(try await session.outcome(of: server.url("/page/0")).data?.count == 40_000)
        #expect(server.requests.count { $0.path == "/page/0" } <= 3 && store.diskUsage > 40_000)
        try cookies.flush()
        #expect(HTTPCookieStorage(fileURL: folder.appendingPathComponent("cookies")).cookies?.count == 10)
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
    private static func downloads(_ count: Int, of server: TestServer, in session: URLSession) async throws
        -> [DownloadOutcome]
    {
        let outcomes = DownloadOutcomes()
        for number in 0..<count {
            session.downloadTask(with: server.url("/file/\(number)"), completionHandler: outcomes.handler).resume()
        }
        return try await outcomes.all.wait("\(count) downloads") { $0.count >= count }
    }
}
