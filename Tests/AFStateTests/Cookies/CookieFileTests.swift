import AFBase
import AFFaults
import AFLoop
import AFURLTypes
import CAFLinux
import Foundation
import Glibc
import Testing

@testable import AFState

extension CookieRules {
    struct Files {
        let folder: ScratchFolder
        let file: URL

        init() throws {
            folder = try ScratchFolder()
            file = folder.file("cookies")
        }

        static func cookie(_ name: String, _ value: String = "v", order: UInt64 = 1) -> StoredCookie {
            let content = CookieContent(
                name: Array(name.utf8),
                value: Array(value.utf8),
                domain: "example.com",
                isHostOnly: false,
                path: Array("/".utf8),
                expires: 5_000_000_000,
                isSecure: true,
                isHTTPOnly: true,
                sameSite: .strict
            )
            return StoredCookie(content: content, created: 12, order: order, lastUse: order)
        }

        private func storage() -> HTTPCookieStorage {
            let source = PublicSuffixSource(CookieRules.suffixes)
            return HTTPCookieStorage(file: file, delay: .seconds(3600), source: source, clock: { 1000 })
        }

        private func receive(_ lines: String..., into storage: HTTPCookieStorage) throws {
            let question = try CookieRules.question("https://www.example.com/a/")
            storage.receive(lines.map { Array($0.utf8) }, for: question, now: 1000)
        }

        private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? [] }

        @Test func `T-COO-28 a cookie of a path with a semicolon comes back, and costs no other`() throws {
            let first = storage()
            try receive("a=1; Max-Age=1000", into: first)
            let question = try CookieRules.question("https://www.example.com/app;v=1/login")
            first.receive([Array("b=2; Max-Age=1000".utf8)], for: question, now: 1000)
            try first.flush()

            let second = storage()
            #expect(second.fileError == nil)
            #expect(Set((second.cookies ?? []).map(\.name)) == ["a", "b"])
        }

        @Test("stored cookies come back as they were, but for session cookies, T-COO-28, T-COO-31")
        func roundTrip() throws {
            let first = storage()
            try receive(
                "a=1; Max-Age=1000; Secure; HttpOnly; SameSite=Lax",
                "b=\u{E9}\u{301}; Max-Age=50; Domain=example.com; Path=/",
                "session=1",
                "c=; Max-Age=100; SameSite=None",
                "=nameless; Max-Age=100",
                into: first
            )
            first.setCookie(
                try #require(
                    HTTPCookie(properties: [
                        .name: "d", .value: "4", .domain: "::1", .path: "/",
                        .expires: Date(timeIntervalSince1970: 9999),
                        .version: "1", .comment: "why", .commentURL: "http://x.com/", .port: "80,443",
                    ])
                )
            )
            try first.flush()

            let second = storage()

            #expect(second.fileError == nil)
            #expect(second.cookies == first.cookies?.filter { !$0.isSessionOnly })
            #expect(second.cookies?.count == 5)
            #expect(second.cookies?.first?.isSecure == true)
            #expect(second.cookies?.first?.isHTTPOnly == true)
            #expect(names == ["cookies"])
            let bytes = try Data(contentsOf: file)
            #expect(bytes.starts(with: Data("AFcookie\u{1}".utf8)))
            #expect(bytes.range(of: Data("session".utf8)) == nil)
        }

        @Test("the file is for its owner alone, and is replaced, T-COO-28")
        func permissions() throws {
            let first = storage()
            try receive("a=1; Max-Age=1000", into: first)
            try first.flush()
            var status = stat()
            #expect(stat(file.path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            let inode = status.st_ino

            try receive("a=2; Max-Age=1000", into: first)
            try first.flush()

            #expect(stat(file.path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            #expect(status.st_ino != inode)
        }

        @Test("whatever is cut or changed is empty and never half, T-COO-28")
        func damage() throws {
            let cookies = (1...4).map { Files.cookie("n\($0)", "value \($0)", order: UInt64($0)) }
            let bytes = CookieFile.encode(cookies)
            #expect(try CookieFile.decode(bytes) == cookies)
            for count in 0..<bytes.count {
                #expect(throws: CookieFile.Flaw.self) { try CookieFile.decode(Array(bytes[..<count])) }
            }
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 1 << UInt8(index % 8)
                #expect(throws: CookieFile.Flaw.self) { try CookieFile.decode(changed) }
            }
            #expect(throws: CookieFile.Flaw.self) { try CookieFile.decode(bytes + [0]) }
            #expect(throws: CookieFile.Flaw.self) { try CookieFile.decode(bytes + bytes) }
        }

        @Test("no length or content that was made up is believed, T-COO-28")
        func forgery() throws {
            var dice = CookieDice(5)
            let bytes = CookieFile.encode([Files.cookie("name", "value")])
            for _ in 0..<4000 {
                // The sums are right, what they are of is not.
                var inner = Array(bytes[13..<(bytes.count - 8)])
                let record = 4..<(inner.count - 8)
                for _ in 0..<Int.random(in: 1...3, using: &dice) {
                    inner[Int.random(in: record, using: &dice)] = dice.pick([0, 0x0A, 0x3B, 0xFF, 0x7F, dice.next8])
                }
                let sum = FNV1a.of(inner[record])
                for place in 0..<8 {
                    inner[record.upperBound + place] = UInt8(truncatingIfNeeded: sum >> (8 * UInt64(place)))
                }
                let whole = Array(bytes[..<13]) + inner
                let total = FNV1a.of(whole)
                let forged = whole + (0..<8).map { UInt8(truncatingIfNeeded: total >> (8 * UInt64($0))) }
                guard let cookie = try? CookieFile.decode(forged).first else { continue }
                #expect(cookie.content.isHarmless)
            }
        }

        @Test("the error names what is there, which is left alone unless it was a cookie file, T-COO-28, T-FIL-29")
        func strangeFiles() throws {
            func error(after prepare: () throws -> Void) throws -> CookieFileError.Kind? {
                try? FileManager.default.removeItem(at: file)
                try prepare()
                let before = try? Data(contentsOf: file)
                let storage = storage()
                #expect(storage.cookies == [])
                let error = storage.fileError
                if let error {
                    #expect(error.description.contains("cookies"))
                    try receive("a=1; Max-Age=1000", into: storage)
                    if error.allowsWriting {
                        try storage.flush()
                        #expect(self.storage().cookies?.count == 1)
                    } else {
                        #expect(throws: CookieFileError.self) { try storage.flush() }
                        #expect((try? Data(contentsOf: file)) == before)
                    }
                }
                return error?.kind
            }
            func write(_ bytes: [UInt8], mode: mode_t = 0o600) throws {
                try Data(bytes).write(to: file)
                chmod(file.path, mode)
            }
            let good = CookieFile.encode([])
            #expect(try error {} == nil)
            #expect(try error { try write(good) } == nil)
            #expect(try error { try write(Array("# Netscape HTTP Cookie File\n".utf8)) } == .notACookieFile)
            #expect(try error { try write([]) } == .notACookieFile)
            #expect(try error { try write(Array("AFcookie\u{2}".utf8)) } == .otherVersion)
            #expect(try error { try write(good.dropLast()) } == .damaged)
            #expect(try error { try write(good, mode: 0o644) } == .notPrivate)
            #expect(
                try error { try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false) }
                    == .notRegular
            )
            #expect(try error { mkfifo(file.path, 0o600) } == .notRegular)
            let elsewhere = folder.file("elsewhere")
            try Data(good).write(to: elsewhere)
            #expect(
                try error { try FileManager.default.createSymbolicLink(at: file, withDestinationURL: elsewhere) }
                    == .notRegular
            )
            #expect(
                try error {
                    try write([])
                    truncate(file.path, 17 << 20)
                } == .tooLong
            )
            #expect(HTTPCookieStorage(fileURL: folder.file("no/such/folder")).fileError?.kind == .cannotOpen)
            #expect(HTTPCookieStorage(fileURL: try #require(URL(string: "http://x/y"))).fileError?.kind == .notAFileURL)
        }

        @Test func `changes gather and are written by themselves`() async throws {
            let source = PublicSuffixSource(CookieRules.suffixes)
            let storage = HTTPCookieStorage(file: file, delay: .milliseconds(1), source: source, clock: { 1000 })
            for number in 0..<40 { try receive("n\(number)=1; Max-Age=100", into: storage) }

            try await eventually { (try? CookieFileStore(path: file.path).read().count) == 40 }
            storage.removeCookies(since: .distantPast)
            try await eventually { (try? CookieFileStore(path: file.path).read().isEmpty) == true }
        }

        @Test func `files of a dead process are removed, those of a live one are not`() throws {
            let token = String(repeating: "0a", count: 16)
            for name in ["cookies.\(token).tmp", "cookies.x.tmp", "other.\(token).tmp"] {
                try Data("x".utf8).write(to: folder.file(name))
            }
            let live = try Folder(path: folder.url.path).openFile(named: "cookies.\(token).tmp")
            try live.lock()

            _ = storage()
            #expect(names.contains("cookies.\(token).tmp"))
            try live.close()
            _ = storage()

            #expect(Set(names) == ["cookies.x.tmp", "other.\(token).tmp"])
        }

        @Test func `too many for a file are cut by their use`() throws {
            let cookies = (1...3000).map {
                Files.cookie("\($0)", String(repeating: "v", count: 6000), order: UInt64($0))
            }

            let bytes = CookieFile.encode(cookies)

            #expect(bytes.count <= CookieFile.maximumLength)
            #expect(bytes.count > CookieFile.maximumLength - 7000)
        }
    }
}

// MARK: - Crashes

/// Writes generations of cookies: all of a generation carry its number.
private struct Generations {
    static let count = 12
    let store: CookieFileStore

    init(_ path: String) {
        store = CookieFileStore(path: path)
    }

    func write(_ number: Int) throws {
        try store.write(
            (0..<Generations.count).map {
                CookieRules.Files.cookie(
                    "n\($0)",
                    "\(number)|" + String(repeating: "x", count: number % 7 * 300),
                    order: UInt64($0 + 1)
                )
            }
        )
    }

    /// Which generation there is; nil if none was written, and an error for anything but a whole one.
    func read() throws -> Int? {
        let cookies = try store.read()
        guard let first = cookies.first else { return nil }
        try #require(cookies.count == Generations.count)
        let number = try #require(
            Int(String(decoding: first.content.value.prefix { $0 != UInt8(ascii: "|") }, as: UTF8.self))
        )
        #expect(cookies.allSatisfy { $0.content.value == first.content.value })
        return number
    }
}

/// Ends the process at a chosen system call.
private enum Executioner {
    static let left = Lock(Int.max)

    static func arm(after calls: Int) {
        left.withLock { $0 = calls }
        caf_set_hook { _ in
            if Executioner.left.withLock({ left in
                left -= 1; return left == 0
            }) {
                kill(getpid(), SIGKILL)
            }
            return false
        }
    }
}

extension CookieRules.Alone {
    /// `./dev kills` asks for every call, and for a hundred moments.
    private static let isLong = ProcessInfo.processInfo.environment["AFNET_KILLS"] == "all"

    @Test("T-COO-28 killed at any call, a writer leaves the old file or the new one")
    func killedAtCalls() async throws {
        let folder = try ScratchFolder()
        let path = folder.file("cookies").path
        let generations = Generations(path)
        for call in Self.isLong ? Array(1...14) : Array((1...8).shuffled().prefix(3)) {
            try generations.write(1)
            // A write has eight calls at least; the last ones depend on the file system.
            let end: ExitTest.Condition = call <= 8 ? .signal(SIGKILL) : .failure
            await #expect(processExitsWith: end) { [path = path as String, call = call as Int] in
                Executioner.arm(after: call)
                try? Generations(path).write(2)
                exit(9)
            }
            let found = try generations.read()
            #expect(found == 1 || found == 2, "call \(call)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            #expect(names == ["cookies"], "call \(call)")
        }
    }

    @Test("T-COO-28 killed at any moment, a writer leaves a file that is whole")
    func killedAtMoments() async throws {
        let folder = try ScratchFolder()
        let path = folder.file("cookies").path
        let generations = Generations(path)
        var dice = CookieDice(UInt64(getpid()))
        var last = 0
        for _ in 0..<(Self.isLong ? 100 : 3) {
            let microseconds = Int.random(in: 200...40_000, using: &dice)
            await #expect(processExitsWith: .failure) {
                [path = path as String, microseconds = microseconds as Int, last = last as Int] in
                let writer = Thread {
                    for number in (last + 1)... { try? Generations(path).write(number) }
                }
                writer.start()
                caf_sleep_nanoseconds(Int64(microseconds) * 1000)
                kill(getpid(), SIGKILL)
            }
            let found = try generations.read() ?? 0
            #expect(found >= last)
            last = found
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { $0 == "cookies" })
    }

    @Test("T-COO-28 a file of which the disk gives out only a part is let alone")
    func shortReading() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let generations = Generations(folder.file("cookies").path)
            try generations.write(1)
            let count = await FaultInjector.enumerate(.answers(0), of: CAF_CALL_PREAD) { _ in
                do throws(CookieFileError) {
                    let found = try generations.store.read()
                    #expect(found.count == Generations.count)
                } catch {
                    #expect(error.kind == .cannotRead && !error.allowsWriting)
                }
            }
            #expect(count > 0)
        }
    }

    @Test("T-COO-28 any call that fails is an error, and leaves the old file or the new one")
    func failingCalls() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let generations = Generations(folder.file("cookies").path)
            let plan: [(caf_call, [Int32])] = [
                (CAF_CALL_OPEN, [EMFILE, EACCES, ENOSPC, EROFS, EOPNOTSUPP]),
                (CAF_CALL_PWRITE, [ENOSPC, EDQUOT, EFBIG, EIO]),
                (CAF_CALL_SYNC, [EIO, ENOSPC]), (CAF_CALL_LINK, [ENOSPC, EIO]), (CAF_CALL_RENAME, [ENOSPC, EIO]),
                (CAF_CALL_RANDOM, [ENOSYS]), (CAF_CALL_FSTAT, [EIO]), (CAF_CALL_PREAD, [EIO]), (CAF_CALL_UNLINK, [EIO]),
            ]
            var number = 1
            try generations.write(number)
            for (call, codes) in plan {
                for code in codes {
                    try await FaultInjector.enumerate(.fails(code), of: call, limit: 20) { ordinal in
                        var hasFailed = false
                        do { try generations.write(number + 1) } catch { hasFailed = true }
                        do { _ = try generations.store.read() } catch let error as CookieFileError {
                            #expect([.cannotRead, .cannotOpen].contains(error.kind))
                        }
                        // The fault happens once: if it does in the first reading, not in the second.
                        let found = try (try? generations.read()) ?? generations.read()
                        #expect(
                            found == number + 1 || (hasFailed && found == number),
                            "call \(ordinal) of \(call), \(code)"
                        )
                        number = found ?? number
                    }
                }
            }
            for fault in [.isShort(1), .isShort(100), .fails(EINTR)] as [FaultInjector.Fault] {
                try await FaultInjector.enumerate(fault, of: CAF_CALL_PWRITE, limit: 8) { _ in
                    number += 1
                    try generations.write(number)
                    #expect(try generations.read() == number)
                }
            }
            #expect(FaultInjector.badCloses == 0)
        }
    }
}
