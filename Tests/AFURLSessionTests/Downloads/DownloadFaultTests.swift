import AFFaults
import CAFLinux
import Glibc

extension DownloadTests {
    struct Faults {
        let folder: ScratchFolder
        let server: TestServer

        init() throws {
            folder = try ScratchFolder()
            server = try TestServer()
        }

        @Test func `a folder that is not there is named, T-FIL-03`() async throws {
            server.route("GET", "/file", .text("content"))
            let missing = folder.file("missing")
            let session = URLSession.loopback { $0.temporaryFolder = missing }

            let outcome = try await session.download(server.url("/file"))

            #expect(outcome.code == -3000)
            #expect(outcome.error?.loadFailure?.errno == ENOENT)
            #expect(outcome.error?.localizedDescription.contains(missing.lastPathComponent) == true)
            #expect(outcome.error?.localizedDescription.contains("temporaryFolder") == true)
        }

        @Test(arguments: ["open", "a link", "a file", "of another user"])
        func `T-FIL-05 where the folder's name is taken there is another`(kind: String) async throws {
            server.route("GET", "/file", .text("content"))
            let elsewhere = folder.file("elsewhere")
            try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
            switch kind {
            case "open":
                try FileManager.default.createDirectory(at: folder.downloads, withIntermediateDirectories: false)
                try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.downloads.path)
            case "a link":
                try FileManager.default.createSymbolicLink(at: folder.downloads, withDestinationURL: elsewhere)
            case "of another user":
                guard geteuid() == 0 else { return }
                try FileManager.default.createDirectory(at: folder.downloads, withIntermediateDirectories: false)
                #expect(chmod(folder.downloads.path, 0o700) == 0 && chown(folder.downloads.path, 1234, 1234) == 0)
            default: try Data().write(to: folder.downloads)
            }
            let session = URLSession.downloading(to: folder)

            for _ in 0..<2 {
                let outcome = try await session.download(server.url("/file"))
                #expect(outcome.contents == Data("content".utf8) && outcome.error == nil)
            }

            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            let taken = folder.downloads.lastPathComponent
            let own = try #require(names.first { $0.hasPrefix("\(taken)-") })
            #expect(Set(names) == [taken, own, "elsewhere"])
            let rights = try FileManager.default.attributesOfItem(atPath: folder.file(own).path)[.posixPermissions]
            #expect(rights as? Int == 0o700)
        }

        @Test func `a cancelled or invalidated download leaves nothing, T-FIL-07`() async throws {
            server.route("GET", "/file") {
                .file(pattern(3_000_000), entityTag: "\"1\"", to: $0).stalling(after: 2_500_000)
            }
            for isInvalidated in [false, true] {
                let log = DownloadLog()
                let session = URLSession.downloading(to: folder, delegate: log)
                let task = session.downloadTask(with: server.url("/file"))
                task.resume()
                try await eventually { task.countOfBytesReceived == 2_500_000 }
                if isInvalidated { session.invalidateAndCancel() } else { task.cancel() }
                try await log.finished()
                #expect(log.error.withLock { $0?.userInfo[NSURLSessionDownloadTaskResumeData] } == nil)
                try await folder.isEmptyAtLast()
            }
        }

        @Test func `an awaited file is its caller's, and a cancelled one is removed`() async throws {
            let body = pattern(200_000)
            server.route("GET", "/file", .data(body))
            server.route("GET", "/slow", .data(body).stalling(after: 100_000))
            let session = URLSession.downloading(to: folder)

            let (file, response) = try await session.download(from: server.url("/file"))
            #expect(try Data(contentsOf: file) == body && (response as? HTTPURLResponse)?.statusCode == 200)
            try FileManager.default.removeItem(at: file)

            let waiting = Task { try await session.download(from: server.url("/slow")) }
            _ = try await server.waitForRequests(2)
            waiting.cancel()
            await #expect(throws: URLError.self) { try await waiting.value }
            try await folder.isEmptyAtLast()
        }

        @Test func `a disk that hangs holds up its own peer only, T-FIL-28`() async throws {
            server.route("GET", "/endless") { _ in .stream(.repeating("x", count: 1 << 30)) }
            server.route("GET", "/hello", .text("hello"))
            let disk = HangingDisk()
            disk.hang()
            let url = server.url("/endless")
            try await OwnWorld.run(workers: disk, { [folder] in $0.temporaryFolder = folder.url }) { session in
                let outcomes = DownloadOutcomes()
                let task = session.downloadTask(with: url, completionHandler: outcomes.handler)
                task.resume()
                try await eventually { task.countOfBytesReceived > 1 << 20 }
                // What may still come is bounded, however long one waits.
                for _ in 0..<50 { _ = try await session.outcome(of: server.url("/hello")) }
                #expect(task.countOfBytesReceived <= 4 << 20)

                disk.goOn()
                try await eventually { task.countOfBytesReceived > 8 << 20 }
                task.cancel()
                #expect(try await outcomes.first().code == -999)
            }
            try await folder.isEmptyAtLast()
        }

        @Test(arguments: [false, true])
        func `T-FIL-07, 28 the network thread calls back, and leaves removing the file to others`(
            hasDelegate: Bool
        ) async throws {
            server.route("GET", "/file", .text("content"))
            let disk = HangingDisk()
            let outcomes = DownloadOutcomes()
            let log = DownloadLog { event, _ in if case .file = event { disk.hang() } }
            let url = server.url("/file")
            let configure = { [folder] (configuration: URLSessionConfiguration) in
                configuration.temporaryFolder = folder.url
                configuration.callsBackOnNetworkThread = true
            }
            try await OwnWorld.run(delegate: log, workers: disk, configure) { session in
                if hasDelegate {
                    session.downloadTask(with: url).resume()
                    try await log.finished()
                    #expect(log.contents.withLock { $0 } == Data("content".utf8))
                } else {
                    let task = session.downloadTask(with: url) { url, response, error in
                        disk.hang()
                        outcomes.handler(url, response, error)
                    }
                    task.resume()
                    #expect(try await outcomes.first().contents == Data("content".utf8))
                }
                // A request that waited for the disk now would never get so far.
                _ = try await session.outcome(of: url)
                #expect(folder.leftovers.count == 1)
                disk.goOn()
                try await folder.isEmptyAtLast()
            }
        }
    }
}

/// A disk that hangs now and then.
private final class HangingDisk: BlockingWorkers, BlockingWorker {
    private let queue = DispatchQueue(label: "hanging disk")
    private let isHanging = Lock(false)

    deinit {
        goOn()
    }

    func sharedWorker() -> any BlockingWorker { self }
    func ownWorker(_ label: String) -> any BlockingWorker { self }
    func run(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

    func hang() {
        isHanging.withLock { isHanging in
            if !isHanging { queue.suspend() }
            isHanging = true
        }
    }

    func goOn() {
        isHanging.withLock { isHanging in
            if isHanging { queue.resume() }
            isHanging = false
        }
    }
}

/// Downloads as a scenario in which any call about files may fail once.
private struct DownloadFaults {
    let folder: ScratchFolder
    let server: TestServer
    let body = pattern(2_300_000)

    init() throws {
        folder = try ScratchFolder()
        server = try TestServer()
    }

    /// A download that breaks off, and one that goes on.
    func run(_ what: Comment) async throws {
        let before = LeakCheck.now
        let isFirst = Lock(true)
        server.route("GET", "/file") { [body] request in
            let reply = ServerReply.file(body, entityTag: "\"1\"", to: request)
            return isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? reply.closing(after: 1_500_000) : reply
            }
        }
        try await OwnWorld.run({ $0.temporaryFolder = folder.url }) { session in
            let first = try await session.download(server.url("/file"))
            check(first, what)
            let outcomes = DownloadOutcomes()
            let task =
                if let data = first.resumeData {
                    session.downloadTask(withResumeData: data, completionHandler: outcomes.handler)
                } else {
                    session.downloadTask(with: server.url("/file"), completionHandler: outcomes.handler)
                }
            task.resume()
            let second = try await outcomes.first()
            check(second, what)
            #expect(outcomes.all.value.count == 1, what)
        }
        if let excess = before.excess() { Issue.record("\(what): left open: \(excess)") }
        FaultInjector.stop()
        for name in folder.leftovers where !name.hasSuffix(".partial") && !name.hasSuffix(".tmp") {
            Issue.record("\(what): left behind: \(name)")
        }
        for name in folder.leftovers {
            try? FileManager.default.removeItem(at: folder.downloads.appendingPathComponent(name))
        }
    }

    private func check(_ outcome: DownloadOutcome, _ what: Comment) {
        guard let code = outcome.code else {
            #expect(outcome.contents == body, what)
            return
        }
        #expect([-1005, -3000, -3001, -3002, -3003, -3004, -3005].contains(code), "\(what): \(code)")
    }
}

extension LoopbackTests.Alone {
    @Test func `T-FIL-03, 07 any call about files that fails fails one download at most and leaves nothing`() async {
        await #expect(processExitsWith: .success) {
            _ = try await OwnWorld.leakCheck()
            let faults = try DownloadFaults()
            let plan: [(caf_call, [Int32])] = [
                (CAF_CALL_OPEN, [EMFILE, EACCES, ENOSPC]), (CAF_CALL_MAKE_FOLDER, [EROFS, ENOSPC]),
                (CAF_CALL_FSTAT, [EIO]), (CAF_CALL_PWRITE, [ENOSPC, EDQUOT, EFBIG, EIO, EROFS]),
                (CAF_CALL_LINK, [ENOSPC, EIO]), (CAF_CALL_RENAME, [ENOSPC, EIO]), (CAF_CALL_PREAD, [EIO]),
                (CAF_CALL_UNLINK, [EIO]), (CAF_CALL_RANDOM, [ENOSYS]), (CAF_CALL_CLOSE, [EIO, ENOSPC]),
            ]
            for (call, codes) in plan {
                for code in codes {
                    try await FaultInjector.enumerate(.fails(code), of: call, limit: 40) { ordinal in
                        try await faults.run("call \(ordinal) of kind \(call.rawValue) fails with \(code)")
                    }
                }
            }
            #expect(FaultInjector.badCloses == 0)
        }
    }

    @Test func `T-FIL-04 short and interrupted writes lose nothing`() async {
        await #expect(processExitsWith: .success) {
            _ = try await OwnWorld.leakCheck()
            let faults = try DownloadFaults()
            for fault in [.isShort(1), .isShort(70_001), .fails(EINTR)] as [FaultInjector.Fault] {
                try await FaultInjector.enumerate(fault, of: CAF_CALL_PWRITE, limit: 12) { ordinal in
                    try await faults.run("write \(ordinal) \(fault)")
                }
            }
        }
    }

    @Test func `T-FIL-03 a limit on file sizes is an error and no signal`() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 1_000_000, rlim_max: 1_000_000_000)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let folder = try ScratchFolder()
            let server = try TestServer()
            server.route("GET", "/file", .data(pattern(3_000_000)))
            let session = URLSession.downloading(to: folder)

            let outcome = try await session.download(server.url("/file"))

            #expect(outcome.code == -3003)
            #expect(outcome.error?.loadFailure?.errno == EFBIG)
            #expect(outcome.error?.localizedDescription.contains("ulimit") == true)
            try await folder.isEmptyAtLast()
        }
    }

    @Test func `T-FIL-07 downloads cancelled at any moment leave no file and no descriptor`() async {
        await #expect(processExitsWith: .success) {
            let before = try await OwnWorld.leakCheck()
            let folder = try ScratchFolder()
            let server = try TestServer()
            server.route("GET", "/file", .data(pattern(1_500_000)))
            let idle = LeakCheck.now
            try await OwnWorld.run({ $0.temporaryFolder = folder.url }) { session in
                for turn in 0..<150 {
                    let outcomes = DownloadOutcomes()
                    let task = session.downloadTask(with: server.url("/file"), completionHandler: outcomes.handler)
                    task.resume()
                    for _ in 0..<(turn * turn % 997) { await Task.yield() }
                    task.cancel()
                    _ = try await outcomes.first()
                }
            }
            try await folder.isEmptyAtLast()
            _ = before
            if let excess = idle.excess() { Issue.record("left open: \(excess)") }
        }
    }

    @Test func `a download of any size needs no more memory than a small one`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let server = try TestServer()
            server.route("GET", "/small", .data(pattern(4_000_000)))
            server.route("GET", "/large") { _ in .stream(.repeating("0123456789abcdef", count: 1 << 29)) }
            let most = Lock(0)
            let log = DownloadLog { _, _ in
                let now = ProcessUse.residentBytes
                most.withLock { $0 = max($0, now) }
            }
            let session = URLSession.downloading(to: folder, delegate: log)
            _ = try await session.download(server.url("/small"))
            let before = ProcessUse.residentBytes

            let (file, _) = try await session.download(from: server.url("/large"), delegate: log)

            #expect(try folder.size(of: file) == 1 << 29)
            let grown = (most.withLock { $0 } - before) >> 20
            #expect(grown < 32, "\(grown) MiB")
        }
    }
}
