import AFBase
import AFFaults
import AFLoop
import CAFLinux
import Glibc

@testable import AFURLSession

extension DownloadTests {
    /// What becomes of the folder of a session's downloads while the session knows it.
    struct KnownFolder {
        private let folder: ScratchFolder
        private let server: TestServer

        init() throws {
            folder = try ScratchFolder()
            server = try TestServer()
            server.route("GET", "/file", .text("content"))
        }

        private func makeFolder(_ url: URL, rights: mode_t = 0o700) {
            #expect(mkdir(url.path, rights) == 0 && chmod(url.path, rights) == 0)
        }

        private func download(_ session: URLSession) async throws -> URL? {
            let outcome = try await session.download(server.url("/file"))
            #expect(outcome.contents == Data("content".utf8) && outcome.error == nil)
            return outcome.url
        }

        @Test(arguments: ["removed", "renamed", "another", "with its parent"])
        func `a folder that was removed or exchanged between two downloads is opened anew`(how: String) async throws {
            let session = URLSession.downloading(to: folder)
            _ = try await download(session)
            try await folder.isEmptyAtLast()
            let former = folder.file("former")
            switch how {
            case "removed": try FileManager.default.removeItem(at: folder.downloads)
            case "with its parent":
                try FileManager.default.removeItem(at: folder.url)
                makeFolder(folder.url)
            default: try FileManager.default.moveItem(at: folder.downloads, to: former)
            }
            if how == "another" { makeFolder(folder.downloads) }

            for _ in 0..<2 {
                let file = try await download(session)
                #expect(file?.deletingLastPathComponent().path == folder.downloads.path)
            }

            let rights = try FileManager.default.attributesOfItem(atPath: folder.downloads.path)[.posixPermissions]
            #expect(rights as? Int == 0o700)
            if how == "renamed" || how == "another" { #expect(try former.isEmptyFolder) }
        }

        @Test(arguments: ["a link", "a file", "open", "opened later", "of another user", "given away"])
        func `T-FIL-05 what takes the place of the session's folder is judged as at first`(kind: String) async throws {
            let session = URLSession.downloading(to: folder)
            _ = try await download(session)
            try await folder.isEmptyAtLast()
            let elsewhere = folder.file("elsewhere")
            let path = folder.downloads.path
            let isSame = kind == "opened later" || kind == "given away"
            if !isSame { try FileManager.default.moveItem(at: folder.downloads, to: folder.file("former")) }
            makeFolder(elsewhere)
            switch kind {
            case "a link":
                try FileManager.default.createSymbolicLink(at: folder.downloads, withDestinationURL: elsewhere)
            case "a file": try Data().write(to: folder.downloads)
            case "open": makeFolder(folder.downloads, rights: 0o777)
            case "opened later": #expect(chmod(path, 0o777) == 0)
            default:
                guard geteuid() == 0 else { return }
                if !isSame { makeFolder(folder.downloads) }
                #expect(chown(path, 1234, 1234) == 0)
            }

            for _ in 0..<2 {
                let file = try #require(try await download(session))
                #expect(file.deletingLastPathComponent().path.hasPrefix(path + "-"))
            }

            #expect(try elsewhere.isEmptyFolder)
            // The usual folder is used again as soon as it can be, for parts are looked for there.
            try FileManager.default.removeItem(at: folder.downloads)
            let file = try await download(session)
            #expect(file?.deletingLastPathComponent().path == path)
        }

        /// A file of a former process that has not been written to for so many seconds.
        private func leave(_ name: String, idle seconds: Double) throws {
            let url = folder.downloads.appendingPathComponent(name)
            try Data("left".utf8).write(to: url)
            let date = Date(timeIntervalSinceNow: -seconds)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: url.path)
        }

        @Test func `T-FIL-06 what processes left is removed when its time is over, and nothing else`() async throws {
            let (day, margin) = (86_400.0, 600.0)
            makeFolder(folder.downloads)
            func token() throws -> String { try FileToken.random() }
            let stays = try [
                token() + ".download": day - margin, token() + ".partial": 7 * day - margin, token() + ".tmp": 90 * day,
                "report.download": 90 * day, token().uppercased() + ".partial": 90 * day, token(): 90 * day,
            ]
            let goes = try [token() + ".download": day + margin, token() + ".partial": 7 * day + margin]
            let locked = try token() + ".download"
            for (name, age) in stays.merging(goes, uniquingKeysWith: max) { try leave(name, idle: age) }
            try leave(locked, idle: 90 * day)
            let writer = open(folder.downloads.appendingPathComponent(locked).path, O_RDWR)
            defer { close(writer) }
            #expect(flock(writer, LOCK_EX) == 0)
            let inside = try token() + ".partial"
            makeFolder(folder.downloads.appendingPathComponent(inside))

            _ = try await download(URLSession.downloading(to: folder))

            let kept = Set(stays.keys).union([locked, inside])
            try await eventually { Set(folder.leftovers) == kept }
        }

        @Test func `T-FIL-06 the time of a file is over a second after its lifetime`() throws {
            let now = Int64(Date().timeIntervalSince1970)
            let place = DownloadPlace(in: folder.url.path) { WallTime(seconds: now, nanoseconds: 0) }
            makeFolder(folder.downloads)
            var stays: Set<String> = []
            for (kind, lifetime) in [(".download", 86_400), (".partial", 604_800)] as [(String, Int64)] {
                for age in [lifetime, lifetime + 1] {
                    let name = try FileToken.random() + kind
                    if age == lifetime { stays.insert(name) }
                    let url = folder.downloads.appendingPathComponent(name)
                    try Data("left".utf8).write(to: url)
                    let date = Date(timeIntervalSince1970: Double(now - age))
                    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: url.path)
                }
            }
            _ = try place.folder()
            #expect(Set(folder.leftovers) == stays)
        }

        @Test func `T-FIL-06 the first download of each day sweeps the folder`() async throws {
            let seconds = Lock(Int64(Date().timeIntervalSince1970))
            let place = DownloadPlace(in: folder.url.path) {
                WallTime(seconds: seconds.withLock { $0 }, nanoseconds: 0)
            }
            _ = try place.folder()
            let old = try FileToken.random() + ".partial"
            try leave(old, idle: 8 * 86_400)

            seconds.withLock { $0 += 86_399 }
            _ = try place.folder()
            #expect(folder.leftovers == [old])
            seconds.withLock { $0 += 1 }
            _ = try place.folder()
            #expect(folder.leftovers == [])
            // The clock is set back.
            try leave(old, idle: 8 * 86_400)
            seconds.withLock { $0 -= 3600 }
            _ = try place.folder()
            #expect(folder.leftovers == [])
        }

        @Test func `the folder is closed with its session`() async throws {
            let path = folder.downloads.path
            try await OwnWorld.run({ [folder] in $0.temporaryFolder = folder.url }) { session in
                for _ in 0..<3 { _ = try await download(session) }
                #expect(Self.descriptors(of: path) == 1)
            }
            try await eventually { Self.descriptors(of: path) == 0 }
        }

        private static func descriptors(of path: String) -> Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return names.filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            }.count
        }
    }

    /// Small bodies, in virtual time: one job of the worker makes the file, writes it, and names it.
    struct SmallBodies {
        private static let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n"
        private static let all: [ServerStep] = [
            .expectRequest, .reply(head + "Content-Length: 9\r\n\r\nall of it"), .again,
        ]
        /// The first bytes are written before the others come.
        private static let halves: [ServerStep] = [
            .expectRequest, .reply(head + "Content-Length: 9\r\n\r\nall "), .delay(.seconds(1)), .reply("of it"),
            .again,
        ]

        private let folder: ScratchFolder
        private let outcomes = DownloadOutcomes()
        private let resumeData = Lock<[Data?]>([])
        private let url: URL

        init() throws {
            folder = try ScratchFolder()
            url = try #require(URL(string: "http://api.test/"))
        }

        private func world(_ scripts: [ServerStep]..., resourceTimeout: TimeInterval = 3600) -> VirtualWorld {
            let world = VirtualWorld()
            world.configure {
                settings($0)
                $0.timeoutIntervalForResource = resourceTimeout
            }
            world.scripts("api.test", scripts)
            return world
        }

        private func settings(_ configuration: URLSessionConfiguration) {
            configuration.temporaryFolder = folder.url
            configuration.timeoutIntervalForRequest = 5
        }

        private func begin(in world: VirtualWorld, after data: Data? = nil) -> URLSessionDownloadTask {
            let task =
                if let data {
                    world.session.downloadTask(withResumeData: data, completionHandler: outcomes.handler)
                } else {
                    world.session.downloadTask(with: url, completionHandler: outcomes.handler)
                }
            task.resume()
            return task
        }

        private var codes: [Int?] { outcomes.all.value.map(\.code) }

        private func expectWhole(_ count: Int = 1) {
            #expect(codes.count == count && outcomes.all.value.last?.contents == Data("all of it".utf8))
        }

        @Test func `one job makes the file, writes it and names it`() {
            let world = world(Self.all)
            world.workers.take(.seconds(2))
            _ = begin(in: world)
            world.advance(by: .milliseconds(1900))
            #expect(codes == [] && folder.leftovers.isEmpty)
            world.advance(by: .milliseconds(200))
            expectWhole()
            #expect(world.finish() == [])
        }

        @Test func `a delegate hears of the bytes, the file, the metrics and the end`() {
            let world = world(Self.all)
            world.workers.take(.seconds(2))
            let log = DownloadLog()
            let (session, _) = world.makeSession(delegate: log, settings)
            session.downloadTask(with: url).resume()
            world.run { log.steps.last == .completed(nil) }
            #expect(log.events.value == [.wrote(9, of: 9), .file(9), .metrics, .completed(nil)])
            #expect(log.contents.withLock { $0 } == Data("all of it".utf8))
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        @Test func `T-FIL-07 the file of a task that is cancelled meanwhile is removed`() {
            let world = world(Self.all)
            world.workers.take(.seconds(2))
            let task = begin(in: world)
            world.advance(by: .seconds(1))
            task.cancel()
            world.advance(by: .milliseconds(100))
            #expect(codes == [-999] && task.state == .completed)
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        @Test func `a task that is suspended meanwhile gets its file`() {
            let world = world(Self.all)
            world.workers.take(.seconds(2))
            let task = begin(in: world)
            world.advance(by: .seconds(1))
            task.suspend()
            world.advance(by: .seconds(5))
            task.resume()
            world.run { codes.count == 1 }
            expectWhole()
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        /// The job has named the file by the time that the worker is to save a part of it.
        @Test func `T-FIL-18 what is complete when the time is over is kept to be resumed, and is resumed`() throws {
            let complete = "HTTP/1.1 416 Range Not Satisfiable\r\nETag: \"1\"\r\nContent-Range: bytes */9\r\n"
            let world = world(
                Self.all,
                [.expectRequest, .reply(complete + "Content-Length: 0\r\n\r\n"), .again],
                resourceTimeout: 30
            )
            world.workers.take(.seconds(40))
            _ = begin(in: world)
            world.advance(by: .seconds(89))
            #expect(codes == [-1001])
            let data = try #require(outcomes.all.value.last?.resumeData)
            #expect(folder.leftovers.map { $0.hasSuffix(".partial") } == [true])

            world.workers.take(.zero)
            _ = begin(in: world, after: data)
            world.run { codes.count == 2 }

            expectWhole(2)
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        @Test func `T-FIL-09 another file that took the name of a complete one is neither kept nor removed`() throws {
            let world = world(Self.all, resourceTimeout: 30)
            world.workers.take(.seconds(40))
            _ = begin(in: world)
            world.advance(by: .seconds(50))
            #expect(codes == [])
            let file = folder.downloads.appendingPathComponent(try #require(folder.leftovers.first))
            try FileManager.default.moveItem(at: file, to: folder.file("moved"))
            try Data("another".utf8).write(to: file)

            world.advance(by: .seconds(39))

            #expect(codes == [-1001] && outcomes.all.value.first?.resumeData == nil)
            #expect(world.finish() == [])
            #expect(try Data(contentsOf: file) == Data("another".utf8))
        }

        // MARK: - The folder

        /// A file that has a name already is removed with its folder.
        @Test func `a file whose folder was removed while it was under way gets its name in the next`() throws {
            let world = world(Self.halves)
            _ = begin(in: world)
            world.advance(by: .milliseconds(500))
            #expect(FileManager.default.fileExists(atPath: folder.downloads.path))
            let hasName = !folder.leftovers.isEmpty
            try FileManager.default.removeItem(at: folder.downloads)

            world.run { codes.count == 1 }

            if hasName { #expect(codes == [-3005]) } else { expectWhole() }
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        @Test func `a part whose folder was removed while it was under way is kept in the next`() throws {
            let cut: [ServerStep] = Self.halves.dropLast(2) + [.close]
            let rest = "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Range: bytes 4-8/9\r\n"
            let world = world(cut, [.expectRequest, .reply(rest + "Content-Length: 5\r\n\r\nof it"), .again])
            _ = begin(in: world)
            world.advance(by: .milliseconds(500))
            guard folder.leftovers.isEmpty else { return }
            try FileManager.default.removeItem(at: folder.downloads)
            world.run { codes.count == 1 }

            _ = begin(in: world, after: try #require(outcomes.all.value.last?.resumeData))
            world.run { codes.count == 2 }

            expectWhole(2)
            #expect(outcomes.all.value.last?.status == 206)
            #expect(world.finish() == [])
        }

        @Test func `T-FIL-05 a link that takes the folder's place while a file is under way leads no file away`() throws
        {
            let world = world(Self.halves)
            _ = begin(in: world)
            world.advance(by: .milliseconds(500))
            let elsewhere = folder.file("elsewhere")
            try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
            let former = folder.file("former")
            try FileManager.default.moveItem(at: folder.downloads, to: former)
            try FileManager.default.createSymbolicLink(at: folder.downloads, withDestinationURL: elsewhere)

            world.run { codes.count == 1 }

            // It is in the folder that was judged, and removed from there.
            #expect(world.finish() == [])
            #expect(try elsewhere.isEmptyFolder && former.isEmptyFolder)
        }
    }
}

extension URL {
    fileprivate var isEmptyFolder: Bool {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).isEmpty }
    }
}

extension LoopbackTests.Alone {
    private static func download(in world: VirtualWorld) -> DownloadOutcome? {
        let outcomes = DownloadOutcomes()
        guard let url = URL(string: "http://api.test/") else { return nil }
        world.session.downloadTask(with: url, completionHandler: outcomes.handler).resume()
        world.run { !outcomes.all.value.isEmpty }
        return outcomes.all.value.first
    }

    private static func world(_ folder: ScratchFolder) -> VirtualWorld {
        let world = VirtualWorld()
        world.configure { $0.temporaryFolder = folder.url }
        let reply = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 9\r\n\r\nall of it"
        world.script("api.test", .expectRequest, .reply(reply), .again)
        return world
    }

    @Test func `T-FIL-03 a small body that cannot be stored fails once, and leaves nothing but its part`() async {
        await #expect(processExitsWith: .success) {
            let plan = [
                (CAF_CALL_PWRITE, ENOSPC, -3003), (CAF_CALL_LINK, EIO, -3005), (CAF_CALL_CLOSE, EIO, -3003),
            ]
            for (call, code, expected) in plan {
                let folder = try ScratchFolder()
                let world = Self.world(folder)
                #expect(Self.download(in: world)?.error == nil)
                FaultInjector.plan(.fails(code), of: call, 1)
                let outcome = try #require(Self.download(in: world))
                #expect(FaultInjector.hasFired && outcome.code == expected && outcome.url == nil)
                #expect(outcome.error?.loadFailure?.errno == code)
                #expect(world.finish() == [])
                #expect(folder.leftovers.count == (outcome.resumeData == nil ? 0 : 1))
                FaultInjector.stop()
            }
        }
    }

    @Test func `a file gets its name through /proc where the kernel does not name it by its descriptor`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let world = Self.world(folder)
            // What it says to a process without the right, and of a folder that was removed.
            FaultInjector.plan(.fails(ENOENT), of: CAF_CALL_LINK, 1)
            #expect(Self.download(in: world)?.contents == Data("all of it".utf8))
            #expect(FaultInjector.calls(CAF_CALL_LINK) == 2)
            FaultInjector.stop()
            FaultInjector.watch()
            #expect(Self.download(in: world)?.contents == Data("all of it".utf8))
            #expect(FaultInjector.calls(CAF_CALL_LINK) == 1)
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }
    }

    @Test func `a small download asks the system for nothing that is known`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let world = Self.world(folder)
            #expect(Self.download(in: world)?.contents == Data("all of it".utf8))
            FaultInjector.watch()
            #expect(Self.download(in: world)?.contents == Data("all of it".utf8))

            // It opens the file, looks at the folder and the file, and once more before it removes the file.
            let expected = [
                (CAF_CALL_OPEN, 1), (CAF_CALL_MAKE_FOLDER, 0), (CAF_CALL_FSTAT, 3), (CAF_CALL_INQUIRE, 0),
                (CAF_CALL_RANDOM, 1), (CAF_CALL_PWRITE, 1), (CAF_CALL_LINK, 1), (CAF_CALL_UNLINK, 1),
                (CAF_CALL_CLOSE, 1),
            ]
            for (call, count) in expected { #expect(FaultInjector.calls(call) == count, "\(call.rawValue)") }
            #expect(world.finish() == [])
        }
    }
}
