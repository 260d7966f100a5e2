import AFLoop
import Foundation
import Glibc
import Testing

@testable import AFState
@testable import AFURLTypes

@Suite("Where a cache is that was told no folder")
struct CacheHomeTests {
    private static let name = CacheHome.name(ofProgramAt: "/opt/tool") ?? ""

    private static func home(
        cacheHome: String? = nil,
        home: String? = nil,
        ofUser: String? = nil,
        program: String? = "/opt/tool",
        owners: [String: CacheHome.Owner] = [
            "/home/ann": .thisUser, "/home/bob": .other, "/root": .thisUser, "": .thisUser,
        ]
    ) -> Result<CacheHome, CacheHome.Refusal> {
        Result { () throws(CacheHome.Refusal) in
            try CacheHome(
                in: CacheHome.Surroundings(
                    cacheHome: cacheHome,
                    home: home,
                    homeOfUser: { ofUser },
                    program: program,
                    owner: { owners[$0] ?? .none }
                )
            )
        }
    }

    /// `XDG_CACHE_HOME`, `HOME`, the home of the user's entry; the folder, without the program's own, and how many levels
    /// may be made.
    private static let places: [(cacheHome: String?, home: String?, ofUser: String?, caches: String, levels: Int)] = [
        (nil, "/home/ann", nil, "/home/ann/.cache", 2),
        (nil, "/home/ann/", "/root", "/home/ann/.cache", 2),
        ("/var/tmp/ann", "/home/ann", "/root", "/var/tmp/ann", 2),
        ("/var/tmp/ann//", nil, nil, "/var/tmp/ann", 2),
        // The caller of the program has named the folder, whatever the homes are.
        ("/a/b/c", "/nonexistent", "/nonexistent", "/a/b/c", 2),
        ("/", nil, nil, "", 2),
        ("", "/home/ann", nil, "/home/ann/.cache", 2),
        ("caches", "/home/ann", nil, "/home/ann/.cache", 2),
        (nil, nil, "/root", "/root/.cache", 2),
        (nil, "", "/root", "/root/.cache", 2),
        (nil, ".", "/root", "/root/.cache", 2),
        (nil, "home/ann", "/root", "/root/.cache", 2),
        (nil, "/", "/root", "/root/.cache", 2),
        (nil, "//", "/root/", "/root/.cache", 2),
    ]

    @Test(arguments: places.indices)
    func `the folder is in that for caches, or in the user's home, and little above it may be made`(row: Int) {
        let row = Self.places[row]
        let home = Self.home(cacheHome: row.cacheHome, home: row.home, ofUser: row.ofUser)
        #expect((try? home.get())?.path == "\(row.caches)/\(Self.name)")
        #expect((try? home.get())?.levels == row.levels)
        #expect((try? home.get())?.former == ["\(row.caches)/tool"])
    }

    private static let refusals: [(home: String?, ofUser: String?, refusal: CacheHome.Refusal)] = [
        (nil, nil, .noHome),
        ("", "", .noHome),
        ("relative", "/", .noHome),
        ("/", nil, .noHome),
        (nil, "/nonexistent", .missingHome("/nonexistent")),
        // What HOME names counts, even if it is wrong: another home may be on another disk.
        ("/nonexistent", "/root", .missingHome("/nonexistent")),
        ("/home/bob", "/root", .foreignHome("/home/bob")),
        (nil, "/home/bob", .foreignHome("/home/bob")),
    ]

    @Test(arguments: refusals.indices)
    func `there is no folder without a home of the user's own`(row: Int) {
        let row = Self.refusals[row]
        #expect(Self.home(home: row.home, ofUser: row.ofUser) == .failure(row.refusal))
    }

    @Test func `there is no folder for a program without a path`() {
        for program in [nil, "", "/", " (deleted)"] as [String?] {
            #expect(Self.home(home: "/home/ann", program: program) == .failure(.unknownProgram), "\(program ?? "nil")")
        }
    }

    @Test func `the list of users is not asked as long as the environment says where to go`() throws {
        let asked = Watched(0)
        for (cacheHome, home) in [("/x", nil), (nil, "/home/ann")] as [(String?, String?)] {
            _ = try CacheHome(
                in: CacheHome.Surroundings(
                    cacheHome: cacheHome,
                    home: home,
                    homeOfUser: {
                        asked.change { $0 += 1 }
                        return nil
                    },
                    program: "/opt/tool",
                    owner: { _ in .thisUser }
                )
            )
        }
        #expect(asked.value == 0)
    }

    @Test func `each program has a name of its own, also after its file was replaced`() throws {
        let paths = ["/opt/a/tool", "/opt/b/tool", "/opt/a/tool2", "/opt/a/.tool", "/opt/a/to ol", "/opt/a/to\u{7}ol"]
        let names = try paths.map { try #require(CacheHome.name(ofProgramAt: $0)) }
        #expect(Set(names).count == paths.count)
        #expect(names[0].hasPrefix("tool-") && names[0].utf8.count == 5 + 12)
        #expect(names[3].hasPrefix("_.tool-") && names[4].hasPrefix("to_ol-") && names[5].hasPrefix("to_ol-"))
        #expect(CacheHome.name(ofProgramAt: "/opt/a/tool (deleted)") == names[0])
        // As it must be for all versions of a program.
        #expect(names[0] == "tool-3ff44461b43b")
        let long = try #require(CacheHome.name(ofProgramAt: "/opt/" + String(repeating: "n", count: 255)))
        #expect(long.utf8.count == 64 + 1 + 12)
    }

    @Test func `what a program names is in its folder, or anywhere it says`() throws {
        let home = try Self.home(home: "/home/ann").get()
        #expect(home.folder(at: "") == home && home.folder(at: "/") == home)
        let inner = home.folder(at: "pictures//small/")
        #expect(inner.path == "\(home.path)/pictures/small" && inner.levels == home.levels + 2)
        #expect(inner.former == ["/home/ann/.cache/pictures/small"])
        #expect(CacheHome(namedByProgram: "/a/b").path == "/a/b" && CacheHome(namedByProgram: "/a/b").levels == .max)
    }

    // MARK: - In a process

    @Test func `a process without a home in its environment takes that of its user`() async {
        await #expect(processExitsWith: .success) {
            let entry = try #require(getpwuid(geteuid()))
            let home = String(cString: entry.pointee.pw_dir)
            unsetenv("XDG_CACHE_HOME")
            setenv("HOME", "", 1)
            switch CacheHome.ofThisProgram {
            case .success(let found): #expect(found.path.hasPrefix("\(home)/.cache/"))
            case .failure(let refusal): #expect([.missingHome(home), .foreignHome(home)].contains(refusal))
            }
        }
    }

    @Test func `a process finds its folder in the one for caches, and makes no home`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            unsetenv("XDG_CACHE_HOME")
            setenv("HOME", scratch.file("missing").path, 1)
            #expect(CacheHome.ofThisProgram == .failure(.missingHome(scratch.file("missing").path)))
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20)
            let named = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, diskPath: "pictures")
            for cache in [cache, named] {
                try CacheHomeTests.store(in: cache)
                #expect(cache.currentDiskUsage == 0 && cache.currentMemoryUsage > 0)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == [])
        }
    }

    @Test func `two programs of one name keep their responses in folders of their own`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            unsetenv("XDG_CACHE_HOME")
            setenv("HOME", scratch.url.path, 1)
            let home = try CacheHome.ofThisProgram.get()
            try CacheHomeTests.store(in: URLCache(memoryCapacity: 0, diskCapacity: 1 << 20))
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file(".cache").path)
            #expect(names.map { scratch.file(".cache/\($0)").path } == [home.path])
            for folder in [scratch.file(".cache").path, home.path] {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
            }
        }
    }

    @Test func `what former revisions have left in their folders of both caches is removed`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            unsetenv("XDG_CACHE_HOME")
            setenv("HOME", scratch.url.path, 1)
            let program = try #require(CacheHome.ofThisProgram.get().former.first)
            let former = [program, scratch.file(".cache/com.alamofire.imagedownloader").path].map { path in
                URL(fileURLWithPath: path).appendingPathComponent("AFURLSession-cache-2")
            }
            for folder in former {
                let rights: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
                let files = FileManager.default
                try files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: rights)
                try Data("a".utf8).write(to: folder.appendingPathComponent(String(repeating: "a", count: 32)))
            }
            try CacheHomeTests.store(in: URLCache(memoryCapacity: 0, diskCapacity: 1 << 20))
            let pictures = "com.alamofire.imagedownloader"
            try CacheHomeTests.store(in: URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, diskPath: pictures))
            for folder in former { #expect(!FileManager.default.fileExists(atPath: folder.path), "\(folder)") }
        }
    }

    private static func store(in cache: URLCache, _ fields: [String: String] = [:]) throws {
        let url = try #require(URL(string: "http://a.test/"))
        var request = URLRequest(url: url)
        request.allHTTPHeaderFields = fields
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "max-age=60"])
        )
        cache.storeCachedResponse(CachedURLResponse(response: response, data: Data("a".utf8)), for: request)
    }

    // MARK: - The warning

    @Test func `a cache without a folder says so once, with the reason and what to write`() {
        let texts = Watched<[String]>([])
        let warning = MissingCacheFolderWarning { text in texts.change { $0.append(text) } }
        warning.say(why: .missingHome("/nonexistent"))
        warning.say(why: .noHome)
        #expect(texts.value.count == 1)
        for word in ["AFNetworking: ", "memory", "/nonexistent", "configuration.urlCache = URLCache(", "directory:"] {
            #expect(texts.value.first?.contains(word) == true, "\(word)")
        }
        #expect(texts.value.first?.filter { $0 == "\n" }.count == 1 && texts.value.first?.hasSuffix("\n") == true)
    }

    @Test func `each reason is told in words of its own`() {
        let refusals: [CacheHome.Refusal] = [
            .noHome, .missingHome("/h"), .foreignHome("/h"), .unknownProgram,
            .unusable("/h", .init(.mkdir, code: EROFS)),
        ]
        let texts = Watched<Set<String>>([])
        for refusal in refusals {
            MissingCacheFolderWarning { text in texts.change { _ = $0.insert(text) } }.say(why: refusal)
        }
        #expect(texts.value.count == refusals.count)
    }

    /// What a process writes to standard error meanwhile.
    private static func words(of body: () throws -> Void) throws -> String {
        let pipe = Pipe()
        let original = dup(STDERR_FILENO)
        dup2(pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
        defer { dup2(original, STDERR_FILENO) }
        try body()
        // A sign of the end, since reading waits for one.
        try pipe.fileHandleForWriting.write(contentsOf: Data(".".utf8))
        return String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    }

    @Test func `a folder that cannot be used is told once there is something to write`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            let file = scratch.file("file")
            try Data().write(to: file)
            let told = try CacheHomeTests.words {
                let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: file)
                _ = cache.cachedResponse(for: URLRequest(url: scratch.url))
                _ = cache.currentDiskUsage
                try FileHandle.standardError.write(contentsOf: Data("looked. ".utf8))
                for _ in 1...3 { try CacheHomeTests.store(in: cache) }
                #expect(cache.currentMemoryUsage > 0)
            }
            #expect(told.hasPrefix("looked. AFNetworking: URLCache keeps") && told.contains(file.path), "\(told)")
            #expect(told.components(separatedBy: "AFNetworking: ").count == 2, "\(told)")
        }
    }

    @Test func `only a response that a folder would keep has the process warned`() async {
        await #expect(processExitsWith: .success) {
            unsetenv("XDG_CACHE_HOME")
            setenv("HOME", "/nonexistent", 1)
            let silent = try CacheHomeTests.words {
                let scratch = try ScratchFolder()
                try CacheHomeTests.store(in: URLCache(memoryCapacity: 1 << 20, diskCapacity: 0))
                try CacheHomeTests.store(
                    in: URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: scratch.url)
                )
                let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20)
                _ = cache.cachedResponse(for: URLRequest(url: scratch.url))
                try CacheHomeTests.store(in: cache, ["Authorization": "Bearer a"])
            }
            #expect(silent == ".")
            let told = try CacheHomeTests.words {
                for _ in 1...3 {
                    try CacheHomeTests.store(in: URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20))
                }
            }
            #expect(told.hasPrefix("AFNetworking: URLCache") && told.contains("/nonexistent"), "\(told)")
            #expect(told.components(separatedBy: "AFNetworking: ").count == 2, "\(told)")
        }
    }

    @Test func `a process with a usual home hears nothing`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            unsetenv("XDG_CACHE_HOME")
            setenv("HOME", scratch.url.path, 1)
            let words = try CacheHomeTests.words {
                try CacheHomeTests.store(in: URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20))
            }
            #expect(words == ".")
        }
    }
}
