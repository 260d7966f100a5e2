import Foundation
import Testing

@testable import AFState

/// What the store does at its limits, and what it lets go of.
extension CacheTests.Store {
    private static let url = "http://a.test/1"

    private func bodies(_ entries: [CacheEntry]) -> Set<String> {
        Set(entries.map { String(decoding: $0.body, as: UTF8.self) })
    }

    // MARK: - Limits

    @Test func `eight MiB wait for the disk, and no more`() throws {
        let scene = try CacheScene(memory: 0, disk: 1 << 30)
        let overhead = try CacheScene.entry(Self.url, "").size
        let body = String(repeating: "x", count: 1 << 20 - overhead)
        for number in 0..<8 { #expect(scene.store.insert(try CacheScene.entry("http://a.test/\(number)", body))) }
        #expect(!scene.store.insert(try CacheScene.entry("http://a.test/8", "")))
        scene.store.catchUp()
        #expect(scene.store.insert(try CacheScene.entry("http://a.test/8", "")))
        #expect(try scene.get("http://a.test/7", from: scene.reopened()) == body)
    }

    @Test func `an entry longer than what is written at a time is written as well`() throws {
        let scene = try CacheScene(memory: 0, disk: 64 << 20)
        let body = String(repeating: "x", count: 3 << 20)
        try scene.put("http://a.test/0", "short")
        try scene.put(Self.url, body)
        #expect(try scene.get(Self.url, from: scene.reopened()) == body)
    }

    @Test func `a store without a disk has no room there, and none has less than nothing`() throws {
        let store = CacheScene.store(in: nil, memory: 1 << 20, disk: 1 << 20, CacheClocks())
        store.setDiskCapacity(1 << 30)
        #expect(store.diskCapacity == 0 && store.bodyLimit < 1 << 20 / 20)
        store.setMemoryCapacity(-1)
        #expect(store.memoryCapacity == 0 && store.bodyLimit == 0)
        // Nor does anything stay behind that only a disk could know.
        store.catchUp()
        #expect(store.isSurelyEmpty && !store.mayHoldOutdated && store.work == .nothing)
        let scene = try CacheScene()
        scene.store.setDiskCapacity(-1)
        #expect(scene.store.diskCapacity == 0)
    }

    @Test func `a thousand files of a former layout go at a time, once a minute`() throws {
        let scene = try CacheScene()
        let former = scene.scratch.file("AFURLSession-cache-2")
        try FileManager.default.createDirectory(
            at: former,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        for number in 0..<1_102 {
            let name = String(repeating: "0", count: 28) + "\(1_000 + number)-" + String(repeating: "0", count: 32)
            try Data().write(to: former.appendingPathComponent(name))
        }
        var left: [Int?] = []
        for _ in 0..<3 {
            try scene.put(Self.url, "one")
            left.append(try? FileManager.default.contentsOfDirectory(atPath: former.path).count)
            scene.clocks.advance(by: 60)
        }
        #expect(left == [1_002, 2, nil])
    }

    // MARK: - What another process has

    @Test func `what another process stored later takes the place of what waits for the disk`() throws {
        let scene = try CacheScene()
        #expect(scene.store.diskUsage == 0)
        let other = scene.reopened()
        scene.store.insert(try CacheScene.entry(Self.url, "old"))
        other.insert(try CacheScene.entry(Self.url, "new", at: 1))
        other.catchUp()
        // The store looks at the folder again, where another process may have stored this one.
        let key = try CacheTests.request(Self.url).key
        scene.store.forget(try CacheTests.request("http://a.test/2").key)

        let found = scene.store.load(key) { $0.max { $0.head.responseTime < $1.head.responseTime } }
        #expect(bodies([try #require(found)]) == ["new"] && bodies(scene.store.known(of: key)) == ["new"])
        scene.store.catchUp()
        #expect(scene.store.withState { $0.disk.count } == 1)
        #expect(try scene.get(Self.url, from: scene.reopened()) == "new")
    }

    @Test func `what was written over is gone from the disk at once`() throws {
        let scene = try CacheScene()
        try scene.put(Self.url, "old")
        try scene.put(Self.url, "new", at: 1)
        let next = scene.reopened()
        #expect(next.diskUsage > 0 && next.withState { $0.disk.count } == 1)
    }

    // MARK: - Two that cross

    @Test func `a response does not take the place of one that came later, unless it is an update of that`() throws {
        let store = CacheScene.store(in: nil, memory: 1 << 20, disk: 0, CacheClocks())
        let late = try CacheScene.entry(Self.url, "late", at: 8)
        #expect(store.insert(late, ticket: store.ticket))
        // Both were under way at the same time.
        let asked = try CacheTests.request(Self.url)
        let head = CacheTests.head([("ETag", "\"1\"")], for: asked, at: 7, delay: 5)
        let early = CacheEntry(head: head, body: Data("early".utf8), mayGoToDisk: false)

        #expect(!store.insert(early, ticket: store.ticket) && bodies(store.known(of: asked.key)) == ["late"])
        #expect(store.insert(early, ticket: store.ticket, inPlaceOf: late))
        #expect(bodies(store.known(of: asked.key)) == ["early"])
        // What it would update is gone.
        #expect(!store.insert(late, ticket: store.ticket, inPlaceOf: late))
        #expect(store.insert(late) && bodies(store.known(of: asked.key)) == ["late"])
    }

    // MARK: - Forgetting

    @Test func `removing everything counts for a URL that was removed before`() throws {
        let scene = try CacheScene()
        scene.store.forget(try CacheTests.request(Self.url).key)
        let ticket = scene.store.ticket
        scene.store.forgetAll()
        #expect(!scene.store.insert(try CacheScene.entry(Self.url, "late"), ticket: ticket))
    }

    @Test func `forgetting the answer leaves the others of its URL, also on disk`() throws {
        let scene = try CacheScene()
        for mode in ["a", "b"] {
            let asked = try CacheTests.request(Self.url, ["X-Mode": mode])
            let stored = CacheTests.head([("Vary", "X-Mode"), ("ETag", "\"1\"")], for: asked)
            scene.store.insert(CacheEntry(head: stored, body: Data(mode.utf8), mayGoToDisk: true))
        }
        scene.store.catchUp()
        let key = try CacheTests.request(Self.url).key

        #expect(scene.store.forgetAnswer(key) { $0.first { $0.body == Data("a".utf8) } })
        #expect(bodies(scene.store.known(of: key)) == ["b"])
        #expect(!scene.store.forgetAnswer(key) { _ in nil })
        scene.store.catchUp()
        var found: Set<String> = []
        _ = scene.reopened().load(key) { entries in
            found = bodies(entries)
            return nil
        }
        #expect(found == ["b"])
    }

    @Test(arguments: [false, true])
    func `an answer that only the disk knows is forgotten with all of its URL`(isIndexed: Bool) throws {
        let scene = try CacheScene()
        try scene.put(Self.url, "one")
        let next = scene.reopened()
        if isIndexed { #expect(next.diskUsage > 0) }
        #expect(next.forgetAnswer(try CacheTests.request(Self.url).key) { $0.first })
        next.catchUp()
        #expect(try scene.get(Self.url, from: next) == nil && scene.get(Self.url, from: scene.reopened()) == nil)
    }

    @Test func `a program that no longer acts for one user begins anew, and no other choice does that`() throws {
        let scene = try CacheScene()
        try scene.put(Self.url, "one")
        for option in [CacheOptions.guessesLifetimes, .keepsUsersOnDisk] {
            scene.store.choose(option, isChosen: true)
            scene.store.choose(option, isChosen: false)
            scene.store.choose(.servesOneUser, isChosen: false)
            #expect(try scene.get(Self.url) == "one")
        }
        scene.store.choose(.servesOneUser, isChosen: true)
        #expect(try scene.get(Self.url) == "one" && scene.store.options == .servesOneUser)
        scene.store.choose(.servesOneUser, isChosen: false)
        #expect(try scene.get(Self.url) == nil && scene.store.options == [])
    }

    // MARK: - Objects of the program

    private final class Presented: PresentedResponse {}

    private static func entry(_ mode: String = "", _ body: String = "x", at seconds: Int64 = 0) throws -> CacheEntry {
        let asked = try CacheTests.request(url, ["X-Mode": mode])
        let head = CacheTests.head([("Vary", "X-Mode"), ("ETag", "\"1\"")], for: asked, at: seconds)
        return CacheEntry(head: head, body: Data(body.utf8), presented: Presented(), mayGoToDisk: true)
    }

    /// Their ends may call the store, whose lock is taken.
    @Test(arguments: ["replaced", "too long", "URL", "entry", "time", "all", "room", "variants"], [false, true])
    func `an object of the program outlives the lock, however its entry goes`(way: String, hasDisk: Bool) throws {
        var state = CacheState(memoryCapacity: 1 << 16, diskCapacity: 1 << 16, hasDisk: hasDisk)
        func insert(_ entry: CacheEntry) {
            _ = state.insert(entry, ticket: nil, inPlaceOf: nil) { _ in false }
        }
        let entry = try Self.entry()
        insert(entry)
        #expect(state.trash.isEmpty)
        switch way {
        case "replaced": insert(try Self.entry())
        case "too long": insert(try Self.entry("", String(repeating: "x", count: 1 << 13)))
        case "URL": state.forget(entry.head.key)
        case "entry": state.forget(entry.id)
        case "time": state.forget(since: entry.head.responseTime)
        case "all": state.forgetAll()
        case "room": state.setMemoryCapacity(0)
        default: for number in 1...CacheState.variantLimit { insert(try Self.entry("\(number)")) }
        }
        #expect(state.trash.contains { $0 === entry } && state.memory[entry.id] !== entry)
    }
}
