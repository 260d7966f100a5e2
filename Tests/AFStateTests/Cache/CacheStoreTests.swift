import AFLoop
import AFWire
import Foundation
import Glibc
import Testing

@testable import AFState

extension CacheTests {
    struct Store {
        private let scene: CacheScene

        init() throws {
            scene = try CacheScene()
        }

        @Test func `what is stored is found, in memory and by the next one on disk`() throws {
            try scene.put("http://a.test/1", "one")
            try scene.put("http://a.test/2", "two")

            #expect(try scene.get("http://a.test/1") == "one")
            let next = scene.reopened()
            #expect(try scene.get("http://a.test/2", from: next) == "two")
            #expect(try scene.get("http://a.test/3", from: next) == nil)
            #expect(scene.store.isConsistent() && next.isConsistent())
        }

        @Test func `an entry comes back as it was written`() throws {
            let asked = try request("http://a.test/x", ["Accept": "b"])
            let stored = head(
                [("Vary", "Accept, X-None"), ("ETag", "\"1\""), ("Set-Cookie", "a"), ("Set-Cookie", "b")],
                status: 203,
                for: asked,
                partition: .verified(by: [1, 2, 3]),
                isDecoded: true
            )
            let entry = CacheEntry(head: stored, body: Data([0, 1, 255]), userInfo: Data([7]), mayGoToDisk: true)
            let bytes = CacheEntryCoding.encode(entry)
            let read = try #require(CacheEntryCoding.decode(bytes, for: stored.key, options: []))

            // A cookie is a secret.
            #expect(read.head.headers == headers([("Vary", "Accept, X-None"), ("ETag", "\"1\"")]))
            #expect(read.head.responseMonotonic == nil && CacheEntryCoding.responseTime(bytes) == stored.responseTime)
            #expect(CacheEntryCoding.decode(bytes, for: try request("http://a.test/y").key, options: []) == nil)
            #expect(read.head.key == stored.key && read.head.partition == stored.partition)
            #expect(read.head.vary == stored.vary && read.head.status == 203 && read.head.isDecoded)
            #expect(read.head.responseTime == stored.responseTime && read.head.requestTime == stored.requestTime)
            #expect(read.body == entry.body && read.userInfo == entry.userInfo && read.id == entry.id)
        }

        @Test(arguments: ["public, max-age=9", "max-age=9"], [[:], ["X-User": "ann"]])
        func `an entry comes back for whom it was, also without the cookie that said so`(
            control: String,
            fields: [String: String]
        ) throws {
            let asked = try request("http://a.test/x", fields)
            let own = CachePartition(.clear, for: asked.identities.byAnyField)
            for cookie in [[], [("Set-Cookie", "a=b")]] {
                let stored = head(
                    [("Cache-Control", control)] + cookie,
                    for: asked,
                    partition: own,
                    options: .keepsUsersOnDisk
                )
                let bytes = CacheEntryCoding.encode(CacheEntry(head: stored, body: Data(), mayGoToDisk: true))
                let read = CacheEntryCoding.decode(bytes, for: asked.key, options: [])
                #expect(read?.head.partition == stored.partition)
                #expect(stored.partition == (cookie.isEmpty && control.hasPrefix("public") ? own.shared : own))
            }
        }

        private func decoded(_ bytes: [UInt8]) throws -> CacheEntry? {
            CacheEntryCoding.decode(bytes, for: try request("http://a.test/1").key, options: [])
        }

        @Test("an entry that was changed or cut anywhere is none, T-CAC-17")
        func damage() throws {
            let bytes = CacheEntryCoding.encode(try CacheScene.entry("http://a.test/1", "content"))
            for length in 0..<bytes.count { #expect(try decoded(Array(bytes[..<length])) == nil) }
            for index in bytes.indices {
                for bit in 0..<8 {
                    var damaged = bytes
                    damaged[index] ^= 1 << UInt8(bit)
                    #expect(try decoded(damaged) == nil)
                }
            }
            #expect(try decoded(bytes + [0]) == nil && decoded(bytes) != nil)
        }

        @Test("an entry with a right checksum and anything else wrong is none, T-CAC-17")
        func forged() throws {
            let bytes = CacheEntryCoding.encode(try CacheScene.entry("http://a.test/1", "content"))
            var random = SeededBytes(seed: 17)
            for _ in 0..<3000 {
                var forged = Array(bytes.dropLast(32))
                for _ in 0...random.number(below: 3) {
                    forged[random.number(below: forged.count)] = UInt8(random.number(below: 256))
                }
                forged += [UInt8](CacheTests.digest(forged))
                // Whatever it is, it is read without a trap, and within bounds.
                if let entry = try decoded(forged) { #expect(entry.body.count <= forged.count) }
            }
            var huge = Array(bytes.dropLast(32))
            for index in 32..<44 { huge[index] = 0xFF }
            #expect(try decoded(huge + CacheTests.digest(huge)) == nil)
            // Of another version, and with something behind it.
            let whole = Array(bytes.dropLast(32))
            for (index, byte) in "AFCACHE2".utf8.enumerated() where byte != bytes[index] {
                let other = whole[..<index] + [byte] + whole[(index + 1)...]
                #expect(try decoded(other + CacheTests.digest(Array(other))) == nil)
            }
            #expect(try decoded(whole + [0] + CacheTests.digest(whole + [0])) == nil)
            #expect(try decoded(whole + CacheTests.digest(whole)) != nil)
        }

        @Test(
            "a damaged file is a miss, and gone, T-CAC-17",
            arguments: ["empty", "cut", "flipped", "foreign", "other"]
        )
        func damagedFile(kind: String) throws {
            try scene.put("http://a.test/1", "content")
            let file = scene.folder.appendingPathComponent(try #require(scene.files.first))
            var bytes = try Data(contentsOf: file)
            switch kind {
            case "empty": bytes = Data()
            case "cut": bytes.removeLast(40)
            case "flipped": bytes[bytes.count / 2] ^= 4
            case "foreign": bytes.replaceSubrange(7..<8, with: [UInt8(ascii: "1")])
            default: bytes = Data(CacheEntryCoding.encode(try CacheScene.entry("http://a.test/2", "other")))
            }
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: bytes)
            try handle.close()

            let next = scene.reopened()
            #expect(try scene.get("http://a.test/1", from: next) == nil)
            #expect(next.isConsistent())
            next.insert(try CacheScene.entry("http://a.test/1", "again"))
            next.catchUp()
            #expect(try scene.get("http://a.test/1", from: scene.reopened()) == "again")
        }

        @Test("no URL can say how a file is called, nor is in one, T-CAC-16")
        func names() throws {
            let urls = [
                "http://a.test/../../etc/passwd", "http://a.test/%00", "http://a.test/CON", "http://a.test/%2e%2e%2f",
                "http://a.test/" + String(repeating: "x", count: 5000), "http://a.test/a@2x.png", "http://a.test/é",
                "http://a.test/?access_token=canary-8231",
            ]
            for url in urls { try scene.put(url, "body") }
            for url in urls { #expect(try scene.get(url, from: scene.reopened()) == "body") }
            for name in scene.files {
                #expect(name.utf8.allSatisfy { "0123456789abcdef-.seg".utf8.contains($0) }, "\(name)")
                let bytes = try Data(contentsOf: scene.folder.appendingPathComponent(name))
                for text in ["a.test", "passwd", "canary", "xxxx"] { #expect(bytes.range(of: Data(text.utf8)) == nil) }
            }
            #expect(!scene.files.isEmpty)
        }

        @Test("a reader keeps what it reads, a writer for a removed URL writes nothing, T-CAC-19")
        func removal() throws {
            try scene.put("http://a.test/1", "one")
            let key = try request("http://a.test/1").key
            let reader = scene.store.glance(at: key) { $0.first }
            let ticket = scene.store.ticket
            scene.store.forget(key)
            scene.store.catchUp()

            guard case .found(let entry) = reader else { throw CancellationError() }
            #expect(entry.body == Data("one".utf8))
            #expect(!scene.store.insert(try CacheScene.entry("http://a.test/1", "late"), ticket: ticket))
            scene.store.catchUp()
            #expect(try scene.get("http://a.test/1") == nil)
            #expect(try scene.get("http://a.test/1", from: scene.reopened()) == nil)
        }

        @Test("a file that vanished is a miss, T-CAC-19")
        func vanished() throws {
            try scene.put("http://a.test/1", "one")
            let next = scene.reopened()
            #expect(next.diskUsage > 0)
            for name in scene.files {
                try FileManager.default.removeItem(at: scene.folder.appendingPathComponent(name))
            }
            #expect(try scene.get("http://a.test/1", from: next) == nil && next.isConsistent())
        }

        @Test("an entry of more than a twentieth is not stored, one of exactly that is, T-CAC-21")
        func limits() throws {
            let entry = try CacheScene.entry("http://a.test/1", String(repeating: "x", count: 3000))
            let exact = CacheScene.store(in: nil, memory: entry.size * 20, disk: 0, CacheClocks())
            let small = CacheScene.store(in: nil, memory: entry.size * 20 - 1, disk: 0, CacheClocks())
            let none = CacheScene.store(in: nil, memory: 0, disk: 0, CacheClocks())

            #expect(exact.insert(entry) && !small.insert(entry) && !none.insert(entry))
            #expect(exact.memoryUsage == entry.size && small.memoryUsage == 0 && none.memoryUsage == 0)
            #expect(exact.bodyLimit >= 3000 && none.bodyLimit == 0)
            #expect(CacheScene.store(in: nil, memory: -5, disk: -5, CacheClocks()).memoryCapacity == 0)
        }

        @Test("less room lets go of what was used longest ago, T-CAC-21")
        func shrinking() throws {
            let scene = try CacheScene(memory: 1 << 20, disk: 1 << 20)
            for number in 0..<20 {
                try scene.put("http://a.test/\(number)", String(repeating: "x", count: 10_000))
                scene.clocks.advance(by: 1)
            }
            #expect(try scene.get("http://a.test/0") != nil)
            scene.store.setMemoryCapacity(220_000)
            scene.store.setMemoryCapacity(40_000)
            #expect(scene.store.memoryUsage <= 40_000 && scene.store.memoryUsage > 20_000)
            scene.store.setDiskCapacity(50_000)
            #expect(scene.store.diskUsage <= 50_000 && scene.store.isConsistent())
            scene.store.setDiskCapacity(0)
            scene.store.setMemoryCapacity(0)
            #expect(scene.files.isEmpty && scene.store.isSurelyEmpty && scene.store.isConsistent())
        }

        @Test("what is used stays on a full disk, also for the next process, T-CAC-20", arguments: [0, 1 << 20])
        func recency(memory: Int) throws {
            let scene = try CacheScene(memory: memory, disk: 400_000)
            for number in 0..<100 {
                try scene.put("http://a.test/\(number)", String(repeating: "x", count: 10_000))
                #expect(try scene.get("http://a.test/0") != nil, "after \(number)")
                scene.store.catchUp()
            }
            let next = scene.reopened(memory: 0, disk: 400_000)
            #expect(try scene.get("http://a.test/0", from: next) != nil)
            #expect(try scene.get("http://a.test/1", from: next) == nil)
            #expect(try scene.get("http://a.test/99", from: next) != nil)
            #expect(next.diskUsage <= 440_000 && scene.store.isConsistent())
        }

        @Test("removing everything leaves no survivor, T-CAC-34")
        func clearing() throws {
            try scene.put("http://a.test/1", "one")
            let early = scene.store.ticket
            scene.store.insert(try CacheScene.entry("http://a.test/3", "pending"))
            scene.store.forgetAll()
            let late = scene.store.ticket

            #expect(!scene.store.insert(try CacheScene.entry("http://a.test/2", "two"), ticket: early))
            #expect(scene.store.insert(try CacheScene.entry("http://a.test/4", "four"), ticket: late))
            scene.store.catchUp()
            #expect(scene.files.count == 1)
            let next = scene.reopened()
            for number in 1...3 { #expect(try scene.get("http://a.test/\(number)", from: next) == nil) }
            #expect(try scene.get("http://a.test/4", from: next) == "four")
        }

        @Test func `T-CAC-14 what another process has stored is outdated too, though the folder was empty`() throws {
            #expect(scene.store.diskUsage == 0 && !scene.store.mayHoldOutdated)
            let other = scene.reopened()
            for number in 1...2 {
                other.insert(try CacheScene.entry("http://a.test/\(number)", "other's"))
                other.catchUp()
            }

            // The disk need not follow at once: nothing here is read from it.
            #expect(try !scene.store.forget(request("http://a.test/1").key))
            try scene.put("http://a.test/3", "own")
            scene.clocks.advance(by: 100)
            try scene.put("http://a.test/3", "own")

            #expect(try scene.get("http://a.test/1") == nil)
            #expect(try scene.get("http://a.test/2") == "other's")
        }

        @Test func `a response is stored again after thousands of URLs were removed`() throws {
            #expect(scene.store.diskUsage == 0)
            let early = scene.store.ticket
            for number in 1...1_001 {
                let isHurried = try scene.store.forget(request("http://a.test/\(number)").key)
                #expect(isHurried == (number > 500))
            }
            let late = scene.store.ticket

            #expect(!scene.store.insert(try CacheScene.entry("http://a.test/other", "early"), ticket: early))
            #expect(scene.store.insert(try CacheScene.entry("http://a.test/1", "late"), ticket: late))
        }

        @Test func `entries since a time are removed, on disk as well`() throws {
            for number in 0..<6 {
                try scene.put("http://a.test/\(number)", "\(number)", at: Int64(number * 10))
            }
            let next = scene.reopened()
            next.removeAll(since: start + 30)
            for number in 0..<6 {
                #expect(try scene.get("http://a.test/\(number)", from: next) == (number < 3 ? "\(number)" : nil))
            }
            #expect(next.isConsistent())
        }

        @Test("files are ours alone, T-CAC-25")
        func modes() throws {
            let scene = try CacheScene(in: try ScratchFolder())
            let nested = CacheScene.store(
                in: scene.scratch.file("a/b").path,
                memory: 1 << 20,
                disk: 1 << 20,
                scene.clocks
            )
            nested.insert(try CacheScene.entry("http://a.test/1", "one"))
            nested.catchUp()
            func mode(_ path: String) throws -> Int {
                let attributes = try FileManager.default.attributesOfItem(atPath: scene.scratch.file(path).path)
                return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
            }
            let folder = "a/b/" + CacheFolder.name
            let names = try FileManager.default.contentsOfDirectory(atPath: scene.scratch.file(folder).path)
            #expect(names.count == 1)
            #expect(try mode("a") == 0o700 && mode("a/b") == 0o700 && mode(folder) == 0o700)
            #expect(try mode("\(folder)/\(names[0])") == 0o600)
        }

        @Test("a folder or file of others is not used, T-CAC-25", arguments: ["open", "link", "file"])
        func strangers(kind: String) throws {
            let elsewhere = scene.scratch.file("elsewhere")
            try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
            switch kind {
            case "open":
                try FileManager.default.createDirectory(at: scene.folder, withIntermediateDirectories: false)
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scene.folder.path)
            case "link": try FileManager.default.createSymbolicLink(at: scene.folder, withDestinationURL: elsewhere)
            default: try Data().write(to: scene.folder)
            }
            try scene.put("http://a.test/1", "one")
            // In memory it is all the same.
            #expect(try scene.get("http://a.test/1") == "one")
            #expect(scene.files.isEmpty && scene.store.diskUsage == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
        }

        @Test("a link in place of an entry is not followed, T-CAC-25")
        func plantedLink() throws {
            try scene.put("http://a.test/1", "one")
            let file = scene.folder.appendingPathComponent(try #require(scene.files.first))
            let target = scene.scratch.file("target")
            try FileManager.default.moveItem(at: file, to: target)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
            let content = try Data(contentsOf: target)

            let next = scene.reopened()
            #expect(try scene.get("http://a.test/1", from: next) == nil)
            next.insert(try CacheScene.entry("http://a.test/1", "two"))
            next.catchUp()
            #expect(try scene.get("http://a.test/1", from: scene.reopened()) == "two")
            #expect(try Data(contentsOf: target) == content)
        }

        @Test("an entry that others may write or read is not used, T-CAC-25", arguments: [0o660, 0o602, 0o640, 0o604])
        func exposedEntry(mode: Int) throws {
            try scene.put("http://a.test/1", "one")
            let file = scene.folder.appendingPathComponent(try #require(scene.files.first))
            #expect(try scene.get("http://a.test/1", from: scene.reopened()) == "one")

            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)

            #expect(try scene.get("http://a.test/1", from: scene.reopened()) == nil)
        }

        @Test("an entry that must stay in memory is never on disk, T-CAC-26")
        func memoryOnly() throws {
            let canary = "canary-8231"
            scene.store.insert(try CacheScene.entry("http://a.test/1", canary, mayGoToDisk: false))
            scene.store.insert(try CacheScene.entry("http://a.test/2", canary, partition: .unnamed(1, [])))
            scene.store.catchUp()
            #expect(try scene.get("http://a.test/1") == canary && scene.files.isEmpty)
        }

        @Test func `an entry on disk is replaced by one that may not go there`() throws {
            try scene.put("http://a.test/1", "old")
            scene.store.insert(try CacheScene.entry("http://a.test/1", "new", mayGoToDisk: false))
            scene.store.catchUp()
            #expect(try scene.get("http://a.test/1") == "new")
            #expect(try scene.get("http://a.test/1", from: scene.reopened()) == nil)
        }

        @Test("a folder that was removed is made again, T-CAC-22")
        func removedFolder() throws {
            try scene.put("http://a.test/1", "one")
            try FileManager.default.removeItem(at: scene.folder)
            try scene.put("http://a.test/2", "two")
            #expect(scene.files.count == 1 && scene.store.isConsistent())
            let next = scene.reopened()
            try FileManager.default.removeItem(at: scene.scratch.url)
            #expect(try scene.get("http://a.test/2", from: next) == nil)
            try scene.put("http://a.test/3", "three")
            #expect(scene.files.count == 1)
        }

        @Test func `at most sixteen answers are kept for one URL`() throws {
            for number in 0..<40 {
                let asked = try request("http://a.test/1", ["X-Mode": "\(number)"])
                let stored = head([("Vary", "X-Mode"), ("ETag", "\"1\"")], for: asked)
                scene.store.insert(CacheEntry(head: stored, body: Data("\(number)".utf8), mayGoToDisk: true))
            }
            scene.store.catchUp()
            #expect(scene.store.withState { $0.disk.count } == CacheState.variantLimit)
            #expect(scene.store.isConsistent())
            let next = scene.reopened()
            #expect(next.diskUsage > 0 && next.withState { $0.disk.count } == CacheState.variantLimit)
        }

        @Test func `a disk that is nearly full is read, and not filled`() throws {
            try scene.put("http://a.test/1", "one")
            let home = CacheHome(path: scene.scratch.url.path, levels: 0)
            let careful = CacheStore(memoryCapacity: 1 << 20, diskCapacity: 4 << 20, home: home, keepsFree: .max)
            let size = careful.diskUsage
            #expect(try scene.get("http://a.test/1", from: careful) == "one")
            careful.insert(try CacheScene.entry("http://a.test/2", "two"))
            careful.insert(try CacheScene.entry("http://a.test/1", "new", at: 1))
            careful.catchUp()
            #expect(careful.diskUsage == size)
            #expect(try scene.get("http://a.test/2", from: careful) == "two")
            // What the new one would have replaced is outdated.
            for number in 1...2 { #expect(try scene.get("http://a.test/\(number)", from: scene.reopened()) == nil) }
        }

        @Test("two stores in one folder see what the other did, sooner or later, T-CAC-24")
        func twoStores() throws {
            let one = try CacheScene()
            let other = one.reopened()
            try one.put("http://a.test/1", "one")
            #expect(try one.get("http://a.test/1", from: other) == "one")
            try one.put("http://a.test/2", "two")
            for (seconds, found) in [(Int64(59), nil), (1, "two")] {
                one.clocks.advance(by: seconds)
                other.insert(try CacheScene.entry("http://a.test/3", "three"))
                other.catchUp()
                #expect(try one.get("http://a.test/2", from: other) == found)
            }
            other.forget(try request("http://a.test/2").key)
            other.catchUp()
            #expect(try one.get("http://a.test/2", from: one.reopened()) == nil)
            #expect(other.isConsistent())
        }

        @Test("many threads at once find only what was stored, T-CAC-20, T-CAC-24")
        func threads() async throws {
            let scene = try CacheScene(memory: 60_000, disk: 200_000)
            let stores = [scene.store, scene.reopened(memory: 60_000, disk: 200_000)]
            let rounds = number("AFNET_CACHE_OPERATIONS").map { $0 / 80 } ?? 150
            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<8 {
                    let store = stores[thread % 2]
                    group.addTask { CacheTests.exercise(store, seed: UInt64(thread + 1), rounds: rounds) }
                }
            }
            for store in stores { store.catchUp() }
            #expect(stores[0].memoryUsage <= 60_000 && stores[1].memoryUsage <= 60_000)
        }
    }

    /// Does one thing after the other, and checks that what is found was stored for that URL.
    static func exercise(_ store: CacheStore, seed: UInt64, rounds: Int) {
        var random = SeededBytes(seed: seed)
        for round in 0..<rounds {
            let url = "http://a.test/\(random.number(below: 12))"
            do {
                switch random.number(below: 10) {
                case 0..<4:
                    let length = random.number(below: 2000)
                    let body = "\(url) \(seed) \(round) " + String(repeating: "x", count: length)
                    store.insert(try CacheScene.entry(url, body))
                    if random.number(below: 2) == 0 { store.catchUp() }
                case 4..<8:
                    guard let body = try CacheScene.get(url, from: store) else { continue }
                    #expect(body.hasPrefix(url + " "))
                case 8:
                    store.forget(try request(url).key)
                    store.catchUp()
                default:
                    guard random.number(below: 20) == 0 else { continue }
                    store.forgetAll()
                    store.catchUp()
                }
            } catch {
                Issue.record(error)
            }
        }
    }
}
