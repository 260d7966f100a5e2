import AFFaults
import AFTLS
import CAFLinux
import Glibc

@testable import AFURLSession

/// Pins every host.
private struct PinningEvaluator: ServerEvaluator {
    var fingerprint: [UInt8]? { [1] }

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
    func forbidsPlainText(to host: String) -> Bool { true }
}

extension PartsTests {
    /// What a download in parts meets: other rooms of the session, other processes, and disks.
    struct Pairs {
        private let server: PartsServer

        init() throws {
            server = try PartsServer()
        }

        @Test func `each part follows a redirect of its own, as to a URL that is signed for one request`() async throws
        {
            let body = server.body
            let count = Lock(0)
            server.server.route("GET", "/start") { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return ServerReply(status: 302).header("Location", "/signed/\(number)")
            }
            for number in 1...8 {
                server.server.route("GET", "/signed/\(number)") { .file(body, entityTag: "\"one\"", to: $0) }
            }
            try await URLSession.loopback().download(from: server.server.url("/start"), to: server.file, inParts: 4)
            #expect(try server.isThere())
            let paths = server.server.requests.map(\.path).filter { $0.hasPrefix("/signed/") }
            #expect(paths.count == count.withLock { $0 } && Set(paths).count == paths.count)
        }

        @Test func `each part answers a challenge`() async throws {
            let body = server.body
            server.server.route("GET", "/secret") { request in
                request.headers["Authorization"] == "Basic dXNlcjpzZWNyZXQ="
                    ? .file(body, entityTag: "\"one\"", to: request)
                    : ServerReply(status: 401).header("WWW-Authenticate", "Basic realm=\"x\"")
            }
            var url = try #require(URLComponents(url: server.server.url("/secret"), resolvingAgainstBaseURL: false))
            (url.user, url.password) = ("user", "secret")
            let secret = try #require(url.url)
            try await URLSession.loopback().download(from: secret, to: server.file, inParts: 4)
            #expect(try server.isThere())
        }

        @Test func `the parts go through a proxy`() async throws {
            let proxy = try TestProxy()
            var proxies = ProxyConfiguration(try ProxyServer("http://127.0.0.1:\(proxy.port)"))
            proxies.includesLoopback = true
            let way = proxies
            try await server.load(4, in: .loopback { $0.proxies = way })
            #expect(try server.isThere() && server.ranges.count >= 4)
            #expect(proxy.forwardings.count == server.ranges.count)
        }

        @Test func `a file that the cache has comes from there`() async throws {
            let session = URLSession.loopback {
                $0.urlCache = URLCache(memoryCapacity: 16 << 20, diskCapacity: 0, directory: nil)
            }
            let server = try PartsServer(pattern(300_000))
            server.serve { $1.header("Cache-Control", "max-age=600") }
            _ = try await session.data(from: server.url)
            var parts = DownloadParts(4)
            parts.smallestSize = 10_000
            try await server.load(parts, in: session)
            #expect(try server.isThere() && server.ranges == ["whole"])
        }

        @Test func `interceptors see each part, with the task-local values of the caller`() async throws {
            let seen = Lock<[String?]>([])
            let session = URLSession.loopback {
                $0.requestInterceptors = [
                    AdaptingInterceptor { request, _ in
                        seen.withLock { $0.append(PartsTests.span) }
                        var request = request
                        request.setValue("1", forHTTPHeaderField: "X-Seen")
                        return request
                    }
                ]
            }
            try await PartsTests.$span.withValue("mine") { try await server.load(4, in: session) }
            #expect(try server.isThere())
            let spans = seen.withLock { $0 }
            #expect(spans.count == server.ranges.count && spans.allSatisfy { $0 == "mine" })
            #expect(server.server.requests.allSatisfy { $0.headers["X-Seen"] == "1" })
        }

        @Test func `a delegate gets the metrics of each request`() async throws {
            final class Delegate: URLSessionTaskDelegate {
                let count = Lock(0)

                func urlSession(
                    _ session: URLSession,
                    task: URLSessionTask,
                    didFinishCollecting metrics: URLSessionTaskMetrics
                ) {
                    count.withLock { $0 += 1 }
                }
            }
            let delegate = Delegate()
            let session = URLSession.loopback()
            try await session.download(from: server.url, to: server.file, inParts: 4, delegate: delegate)
            try await eventually { delegate.count.withLock { $0 } == self.server.ranges.count }
        }

        @Test func `in the clear a host with pins is asked for nothing`() async throws {
            let session = URLSession.loopback { $0.tls.evaluator = PinningEvaluator() }
            let error = await #expect(throws: URLError.self) { try await self.server.load(4, in: session) }
            #expect(error?.loadFailure?.detail == .scheme, "\(error as Any)")
            #expect(server.ranges == [] && server.names == [])
        }

        /// A download of a secured site that has ended early.
        private func brokenOff(_ site: SecuredSite, _ body: Data) async throws {
            let session = site.session { $0.evaluator = FixedEvaluator.accepting }
            let progress = Progress(totalUnitCount: 0)
            site.server.route("GET", "/file") { .file(body, entityTag: "\"one\"", to: $0).stalling(after: 600_000) }
            let task = Task {
                try await session.download(
                    from: site.server.url("/file"),
                    to: server.file,
                    inParts: 3,
                    progress: progress
                )
            }
            try await eventually { progress.completedUnitCount > 1_000_000 }
            task.cancel()
            await #expect(throws: URLError.self) { try await task.value }
            #expect(server.names == ["file.parts"])
            site.server.route("GET", "/file") { .file(body, entityTag: "\"one\"", to: $0) }
        }

        @Test(arguments: [true, false])
        func `T-PAR-02 parts that came under other pins are loaded anew`(isSame: Bool) async throws {
            let site = try SecuredSite()
            try await brokenOff(site, server.body)
            let before = site.server.requests.count
            let other = FixedEvaluator([9]) { _ in .accept }
            let session = site.session { $0.evaluator = isSame ? FixedEvaluator.accepting : other }
            try await session.download(from: site.server.url("/file"), to: server.file, inParts: 3)
            #expect(try server.isThere())
            let ranges = site.server.requests.dropFirst(before).map { $0.headers["Range"] }
            #expect(ranges.contains(nil) == !isSame, "\(ranges)")
        }

        @Test func `T-PAR-02 a server that the pins refuse adds nothing`() async throws {
            let site = try SecuredSite()
            try await brokenOff(site, server.body)
            let session = site.session { $0.evaluator = FixedEvaluator.refusing }
            let error = await #expect(throws: URLError.self) {
                try await session.download(from: site.server.url("/file"), to: self.server.file, inParts: 3)
            }
            #expect(error?.loadFailure?.reason == .trust)
            #expect(server.names == ["file.parts"])
        }

        // MARK: - Processes and disks

        @Test func `T-PAR-05 a download goes on where a process was killed`() async throws {
            server.serve { $1.stalling(after: 700_000) }
            await #expect(processExitsWith: .failure) { [url = server.url as URL, file = server.file as URL] in
                let progress = Progress(totalUnitCount: 0)
                let session = URLSession.loopback()
                let task = Task { try await session.download(from: url, to: file, inParts: 3, progress: progress) }
                while progress.completedUnitCount < 2_000_000 { try await Task.sleep(for: .milliseconds(10)) }
                // The record is written twice a second.
                try await Task.sleep(for: .milliseconds(1500))
                kill(getpid(), SIGKILL)
                _ = try await task.value
            }
            #expect(server.names == ["file.parts"])
            let before = server.ranges.count
            server.serve { $1 }
            let progress = Progress(totalUnitCount: 0)
            try await server.load(3, progress: progress)
            #expect(try server.isThere())
            #expect(!server.ranges.dropFirst(before).contains("whole"))
        }

        @Test(arguments: [CAF_CALL_ALLOCATE, CAF_CALL_TRUNCATE, CAF_CALL_LINK] as [caf_call])
        func `a disk that is full is said before bytes are written, and nothing is left`(call: caf_call) async throws {
            await #expect(processExitsWith: .success) {
                [url = server.url as URL, file = server.file as URL, call = Int32(call.rawValue) as Int32] in
                FaultInjector.failNext(caf_call(UInt32(call)), with: ENOSPC)
                let error = await #expect(throws: URLError.self) {
                    try await URLSession.loopback().download(from: url, to: file, inParts: 3)
                }
                FaultInjector.stop()
                #expect(error?.loadFailure?.reason == .file && error?.loadFailure?.errno == ENOSPC)
                #expect(error?.loadFailure?.advice?.contains("Make room") == true)
            }
            #expect(server.names == [])
        }

        @Test func `a file that does not get its name gets it from the next download, without a request`() async throws
        {
            await #expect(processExitsWith: .success) { [url = server.url as URL, file = server.file as URL] in
                FaultInjector.failNext(CAF_CALL_RENAME, with: EACCES)
                let error = await #expect(throws: URLError.self) {
                    try await URLSession.loopback().download(from: url, to: file, inParts: 3)
                }
                #expect(error?.code == .cannotMoveFile && error?.loadFailure?.errno == EACCES)
            }
            #expect(server.names == ["file.parts"])
            let before = server.ranges.count
            try await server.load(3)
            #expect(try server.isThere() && server.ranges.count == before)
        }

        @Test func `a file that cannot be read for its digest is kept for the next download`() async throws {
            let digest = try #require(FileDigest(SHA256Digest.of(Array(server.body)))).hexadecimal
            await #expect(processExitsWith: .success) {
                [url = server.url as URL, file = server.file as URL, digest = digest as String] in
                // The first download reads which start of the system this is.
                try await URLSession.loopback().download(from: url, to: file, inParts: 3)
                try FileManager.default.removeItem(at: file)
                FaultInjector.failNext(CAF_CALL_PREAD, with: EIO)
                let parts = DownloadParts(3, digest: FileDigest(hexadecimal: digest))
                let error = await #expect(throws: URLError.self) {
                    try await URLSession.loopback().download(from: url, to: file, inParts: parts)
                }
                #expect(error?.loadFailure?.reason == .file && error?.loadFailure?.errno == EIO)
                #expect(error?.loadFailure?.message.contains("could not be read again") == true)
            }
            #expect(server.names == ["file.parts"])
            let before = server.ranges.count
            try await server.load(DownloadParts(3, digest: FileDigest(hexadecimal: digest)))
            #expect(try server.isThere() && server.ranges.count == before)
        }

        @Test func `a disk that fails in the middle leaves what was written before`() async throws {
            server.serve { $1.stalling(after: 900_000) }
            await #expect(processExitsWith: .success) { [url = server.url as URL, file = server.file as URL] in
                let progress = Progress(totalUnitCount: 0)
                let session = URLSession.loopback()
                let task = Task { try await session.download(from: url, to: file, inParts: 3, progress: progress) }
                while progress.completedUnitCount < 1_500_000 { try await Task.sleep(for: .milliseconds(10)) }
                FaultInjector.failNext(CAF_CALL_PWRITE, with: EIO)
                let error = await #expect(throws: URLError.self) { try await task.value }
                FaultInjector.stop()
                #expect(error?.code == .cannotWriteToFile && error?.loadFailure?.errno == EIO)
            }
            #expect(server.names == ["file.parts"])
            server.serve { $1 }
            try await server.load(3)
            #expect(try server.isThere())
        }
    }

    @TaskLocal static var span: String?
}
