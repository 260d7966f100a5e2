import AFFaults
import CAFLinux
import Glibc

/// A folder, and files to move into it, on its own file system or on another one.
private struct Moving: Sendable {
    static let old = Data("old".utf8)
    static let new = pattern(2_500_000)

    let folder: ScratchFolder
    let origins: ScratchFolder

    init(from parent: URL? = nil) throws {
        folder = try ScratchFolder()
        origins = try ScratchFolder(in: parent ?? folder.url.deletingLastPathComponent())
    }

    private static let sharedMemory = URL(fileURLWithPath: "/dev/shm")

    /// Another file system than that of temporary files; nil without one.
    static let elsewhere: URL? = {
        guard let there = device(of: sharedMemory), there != device(of: FileManager.default.temporaryDirectory),
            access(sharedMemory.path, W_OK) == 0
        else { return nil }
        return sharedMemory
    }()

    private static func device(of folder: URL) -> UInt? {
        var status = stat()
        return stat(folder.path, &status) == 0 ? status.st_dev : nil
    }

    /// Where files may come from.
    static let parents: [URL?] = elsewhere == nil ? [nil] : [nil, elsewhere]

    var place: URL { folder.file("place") }

    func makeFile() throws -> URL {
        let file = origins.file("file")
        try Moving.new.write(to: file)
        chmod(file.path, 0o600)
        return file
    }

    /// What is in the folder, hidden or not.
    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() } }

    var permissions: mode_t? {
        var status = stat()
        return lstat(place.path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }
}

private func code(_ body: () throws -> Void) -> CocoaError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? CocoaError)?.code
    }
}

extension DownloadTests {
    struct Moves {
        @Test func `a download is moved`() async throws {
            let server = try TestServer()
            server.route("GET", "/", .data(Moving.new))
            let moving = try Moving()
            let (session, url, destination) = (URLSession.loopback(), server.url("/"), moving.place)

            let (file, _) = try await session.download(from: url)
            try FileManager.default.moveDownload(at: file, to: destination)

            #expect(try Data(contentsOf: destination) == Moving.new)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }

        @Test(arguments: Moving.parents)
        func `T-FIL-01, 02 an existing file stays, or is replaced if the caller asks for that`(parent: URL?) throws {
            let moving = try Moving(from: parent)
            let (file, place) = (try moving.makeFile(), moving.place)
            try Moving.old.write(to: place)

            let error = #expect(throws: CocoaError.self) { try FileManager.default.moveDownload(at: file, to: place) }
            #expect(error?.code == .fileWriteFileExists && error?.userInfo[NSFilePathErrorKey] as? String == file.path)
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == Int(EEXIST))
            #expect(try Data(contentsOf: place) == Moving.old && Data(contentsOf: file) == Moving.new)
            #expect(try moving.names == ["place"])

            try FileManager.default.moveDownload(at: file, to: place, replacing: true)
            #expect(try Data(contentsOf: place) == Moving.new)
            #expect(try moving.names == ["place"] && !FileManager.default.fileExists(atPath: file.path))
            #expect(moving.permissions == 0o600)
        }

        @Test(arguments: Moving.parents)
        func `T-FIL-01 a link or a folder of that name is not followed, nor filled`(parent: URL?) throws {
            for isReplaced in [false, true] {
                let moving = try Moving(from: parent)
                let (file, victim) = (try moving.makeFile(), moving.folder.file("victim"))
                try FileManager.default.createSymbolicLink(at: moving.place, withDestinationURL: victim)
                let error = code {
                    try FileManager.default.moveDownload(at: file, to: moving.place, replacing: isReplaced)
                }
                #expect(error == (isReplaced ? nil : .fileWriteFileExists))
                #expect(!FileManager.default.fileExists(atPath: victim.path))
                let shelf = moving.folder.file("shelf")
                try FileManager.default.createDirectory(at: shelf, withIntermediateDirectories: false)
                let other = try moving.makeFile()
                #expect(
                    code { try FileManager.default.moveDownload(at: other, to: shelf, replacing: isReplaced) }
                        == .fileWriteFileExists
                )
                #expect(try FileManager.default.contentsOfDirectory(atPath: shelf.path) == [])
                #expect(try moving.names == ["place", "shelf"])
            }
        }

        @Test(arguments: Moving.parents)
        func `T-FIL-23 an impossible destination is an error, and the file stays`(parent: URL?) throws {
            let moving = try Moving(from: parent)
            let file = try moving.makeFile()
            let root = moving.folder.url
            let cases: [(URL?, CocoaError.Code)] = [
                (root.appendingPathComponent("no/such"), .fileNoSuchFile),
                (root.appendingPathComponent(String(repeating: "x", count: 256)), .fileWriteInvalidFileName),
                (root.appendingPathComponent(String(repeating: "x/", count: 3000) + "y"), .fileWriteInvalidFileName),
                (URL(string: "\(root.absoluteString)/a%FF"), .fileWriteInvalidFileName),
                (URL(string: "http://h.test\(root.path)/x"), .fileWriteInvalidFileName),
                (URL(fileURLWithPath: "/"), .fileWriteFileExists), (URL(fileURLWithPath: "/proc/x"), .fileNoSuchFile),
            ]
            for (place, expected) in cases {
                let place = try #require(place)
                let found = code { try FileManager.default.moveDownload(at: file, to: place) }
                #expect(found == expected || place.path == "/proc/x" && found != nil, "\(place.lastPathComponent)")
            }
            #expect(try Data(contentsOf: file) == Moving.new && moving.names == [])
            let missing = moving.origins.file("missing")
            #expect(code { try FileManager.default.moveDownload(at: missing, to: moving.place) } == .fileNoSuchFile)
            let pipe = moving.origins.file("pipe")
            #expect(mkfifo(pipe.path, 0o600) == 0)
            let found = code { try FileManager.default.moveDownload(at: pipe, to: moving.place) }
            #expect(found == (parent == nil ? nil : .fileWriteInvalidFileName))
        }
    }
}

extension LoopbackTests.Alone {
    /// Any call, once: each leaves the place as it was or as it should be, and nothing beside it.
    @Test func `T-FIL-02, 27 whatever fails while a file is moved, no half of it is seen and nothing is left`() async {
        await #expect(processExitsWith: .success) {
            let plan: [(caf_call, [FaultInjector.Fault])] = [
                (CAF_CALL_OPEN, [.fails(EMFILE), .fails(EACCES), .fails(EOPNOTSUPP), .fails(EDQUOT)]),
                (CAF_CALL_PWRITE, [.fails(ENOSPC), .fails(EDQUOT), .fails(EIO), .isShort(70_001), .fails(EINTR)]),
                (CAF_CALL_PREAD, [.fails(EIO), .isShort(4_097), .answers(0)]),
                (CAF_CALL_SYNC, [.fails(EIO), .fails(EDQUOT)]),
                (CAF_CALL_LINK, [.fails(ENOSPC), .fails(EPERM)]), (CAF_CALL_RENAME, [.fails(EIO), .fails(EXDEV)]),
                (CAF_CALL_FSTAT, [.fails(EIO)]), (CAF_CALL_RANDOM, [.fails(ENOSYS)]), (CAF_CALL_UNLINK, [.fails(EIO)]),
            ]
            for (call, faults) in plan {
                for fault in faults {
                    for (parent, isReplaced) in Moving.parents.flatMap({ [($0, false), ($0, true)] }) {
                        try await FaultInjector.enumerate(fault, of: call, limit: 30) { ordinal in
                            let what = Comment(rawValue: "\(parent?.path ?? "-") \(call.rawValue) \(ordinal) \(fault)")
                            let moving = try Moving(from: parent)
                            let file = try moving.makeFile()
                            if isReplaced { try Moving.old.write(to: moving.place) }
                            let failure = code {
                                try FileManager.default.moveDownload(at: file, to: moving.place, replacing: isReplaced)
                            }
                            let contents = try? Data(contentsOf: moving.place)
                            #expect(contents == (failure == nil ? Moving.new : isReplaced ? Moving.old : nil), what)
                            #expect(try moving.names.filter { $0 != "place" } == [], what)
                            #expect(failure == nil || (try? Data(contentsOf: file)) == Moving.new, what)
                        }
                    }
                }
            }
            #expect(FaultInjector.badCloses == 0)
        }
    }

    @Test func `T-FIL-25 a process killed in front of any call leaves the old file or the new one`() async throws {
        var ends: [Data] = []
        for call in 1...24 {
            let moving = try Moving(from: Moving.elsewhere)
            try Moving.old.write(to: moving.place)
            let (file, place) = (try moving.makeFile().path, moving.place.path)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [file = file as String, place = place as String, call = call as Int] in
                FaultInjector.die(atCall: call)
                let (file, place) = (URL(fileURLWithPath: file), URL(fileURLWithPath: place))
                try FileManager.default.moveDownload(at: file, to: place, replacing: true)
                // It was over before: all the same.
                kill(getpid(), SIGKILL)
            }
            let contents = try Data(contentsOf: moving.place)
            #expect(contents == Moving.old || contents == Moving.new, "call \(call)")
            #expect(contents == Moving.new || (try? Data(contentsOf: URL(fileURLWithPath: file))) == Moving.new)
            ends.append(contents)
        }
        // Every call was one of them: from the one on that gives the name, it is the new file.
        #expect(ends.first == Moving.old && ends.last == Moving.new)
        #expect(ends.drop { $0 == Moving.old }.allSatisfy { $0 == Moving.new })
    }

    @Test func `T-FIL-27 files of downloads are their owner's alone, whatever folder and mask say`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("GET", "/", .data(Moving.new))
            for (mask, mode) in [(0, 0o777), (0o077, 0o2777), (0, 0o3777)] as [(mode_t, mode_t)] {
                for parent in Moving.parents {
                    let moving = try Moving()
                    let gathering = try ScratchFolder(in: parent ?? moving.folder.url)
                    for folder in [moving.folder.url, gathering.url] {
                        #expect(chmod(folder.path, mode) == 0)
                        DefaultRights.giveEverything(in: folder.path)
                    }
                    let session = URLSession.downloading(to: gathering)
                    let former = umask(mask)
                    defer { umask(former) }

                    let (file, _) = try await session.download(from: server.url("/"))
                    try FileManager.default.moveDownload(at: file, to: moving.place)

                    #expect(moving.permissions == 0o600, "\(String(mask, radix: 8)) \(String(mode, radix: 8))")
                    session.invalidateAndCancel()
                }
            }
        }
    }

    @Test func `T-FIL-23 a relative path means what it meant when its URL was made`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("*", "/", .data(Moving.new))
            let moving = try Moving()
            #expect(chdir(moving.folder.url.path) == 0)
            let gathering = URL(fileURLWithPath: "a b/ü")
            try FileManager.default.createDirectory(at: gathering, withIntermediateDirectories: true)
            try Moving.new.write(to: moving.folder.file("sent"))
            let (place, sent) = (URL(fileURLWithPath: "place"), URL(fileURLWithPath: "sent"))
            let session = URLSession.loopback { $0.temporaryFolder = gathering }
            #expect(chdir("/") == 0)

            let (file, _) = try await session.download(from: server.url("/"))
            #expect(file.path.hasPrefix(moving.folder.file("a b/ü").path))
            try FileManager.default.moveDownload(at: file, to: place)
            _ = try await session.upload(for: URLRequest("PUT", server.url("/")), fromFile: sent)

            #expect(try Data(contentsOf: moving.place) == Moving.new)
            #expect(server.requests.last?.bodyByteCount == Moving.new.count)
            session.invalidateAndCancel()
        }
    }
}
