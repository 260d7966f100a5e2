import AFFaults
import AFLoop
import CAFLinux
import Foundation
import Glibc
import Testing

@testable import AFState

extension CacheTests {
    /// Disks that fail, processes that die. Each in a process of its own.
    struct Faults {
        private static func openFiles() -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
        }

        @Test(
            "a failing disk changes nothing but where things are kept, and leaves nothing, T-CAC-22, T-CAC-23",
            arguments: [ENOSPC, EIO, EACCES, EMFILE, EROFS]
        )
        func faults(code: Int32) async {
            await #expect(processExitsWith: .success) { [code = code as Int32] in
                let calls = [
                    CAF_CALL_OPEN, CAF_CALL_MAKE_FOLDER, CAF_CALL_FSTAT, CAF_CALL_PREAD, CAF_CALL_PWRITE,
                    CAF_CALL_LOCK, CAF_CALL_TRUNCATE, CAF_CALL_UNLINK, CAF_CALL_RANDOM, CAF_CALL_CLOSE,
                ]
                for call in calls {
                    try await FaultInjector.enumerate(.fails(code), of: call, limit: 40) { ordinal in
                        let scene = try CacheScene(memory: 1 << 20, disk: 1 << 20)
                        try scene.put("http://a.test/1", "one")
                        try scene.put("http://a.test/2", "two")
                        scene.store.forget(try CacheTests.request("http://a.test/2").key)
                        scene.store.catchUp()
                        // In memory everything is as it should be.
                        #expect(try scene.get("http://a.test/1") == "one")
                        #expect(try scene.get("http://a.test/2") == nil)
                        do {
                            let next = scene.reopened()
                            let found = try scene.get("http://a.test/1", from: next)
                            #expect(found == nil || found == "one", "\(call) \(ordinal)")
                        }
                        #expect(FaultInjector.badCloses == 0)
                        // After its pause the disk is used again.
                        scene.clocks.advance(by: 120)
                        FaultInjector.stop()
                        try scene.put("http://a.test/3", "three")
                        #expect(try scene.get("http://a.test/3", from: scene.reopened()) == "three")
                        #expect(scene.store.isConsistent(), "\(call) \(ordinal)")
                    }
                }
            }
        }

        @Test("a removed entry does not come back from a disk that failed, T-CAC-22, T-CAC-34")
        func removed() async {
            await #expect(processExitsWith: .success) {
                let calls = [
                    CAF_CALL_UNLINK, CAF_CALL_PREAD, CAF_CALL_FSTAT, CAF_CALL_OPEN, CAF_CALL_PWRITE, CAF_CALL_RENAME,
                ]
                for call in calls {
                    for all in [false, true] {
                        try await FaultInjector.enumerate(.fails(EIO), of: call, limit: 60) { ordinal in
                            let scene = try CacheScene()
                            try scene.put("http://a.test/1", "one")
                            let next = scene.reopened()
                            let key = try CacheTests.request("http://a.test/1").key
                            _ = try scene.get("http://a.test/1", from: next)
                            if all { next.forgetAll() } else { _ = next.forgetAnswer(key) { $0.first } }
                            next.catchUp()
                            let found = try scene.get("http://a.test/1", from: scene.reopened())
                            #expect(found == nil, "\(call) \(ordinal)")
                        }
                    }
                }
            }
        }

        @Test("a replaced entry does not come back from a disk that failed, T-CAC-11, T-CAC-22")
        func replaced() async {
            await #expect(processExitsWith: .success) {
                let calls = [
                    CAF_CALL_OPEN, CAF_CALL_FSTAT, CAF_CALL_PWRITE, CAF_CALL_LINK, CAF_CALL_RENAME, CAF_CALL_UNLINK,
                    CAF_CALL_RANDOM, CAF_CALL_CLOSE,
                ]
                var faults = calls.map { ($0, FaultInjector.Fault.fails(ENOSPC)) }
                // What a call says of an open file does not mean that there is none, or that it is shorter.
                faults += [(CAF_CALL_FSTAT, .fails(ENOENT))]
                faults += [.fails(ENOENT), .answers(0)].map { (CAF_CALL_PREAD, $0) }
                for (call, fault) in faults {
                    try await FaultInjector.enumerate(fault, of: call, limit: 60) { ordinal in
                        let scene = try CacheScene()
                        try scene.put("http://a.test/1", "old")
                        // The disk may be off from here on.
                        try scene.put("http://a.test/2", "other")
                        try scene.put("http://a.test/1", "new", at: 1)
                        #expect(try scene.get("http://a.test/1") == "new")
                        let found = try scene.get("http://a.test/1", from: scene.reopened())
                        #expect(found == nil || found == "new", "\(call) \(ordinal)")
                    }
                }
            }
        }

        @Test("an entry that cannot be removed now is removed when the disk is back, T-CAC-22")
        func removedLater() throws {
            let scene = try CacheScene()
            try scene.put("http://a.test/1", "one")
            let file = try #require(scene.files.first)
            let (place, aside) = (scene.folder.appendingPathComponent(file), scene.scratch.file("aside"))
            try FileManager.default.moveItem(at: place, to: aside)
            // No unlink removes it, and nothing empties it.
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)

            scene.store.forgetAll()
            scene.store.catchUp()
            try FileManager.default.removeItem(at: place)
            try FileManager.default.moveItem(at: aside, to: place)

            #expect(try scene.get("http://a.test/1") == nil)
            scene.clocks.advance(by: 120)
            scene.store.catchUp()
            #expect(try scene.get("http://a.test/1") == nil)
            #expect(try scene.get("http://a.test/1", from: scene.reopened()) == nil)
        }

        @Test("a folder that cannot be made stores nothing, and fails no request, T-CAC-22")
        func missing() throws {
            let scene = try CacheScene()
            let file = scene.scratch.file("file")
            try Data().write(to: file)
            let store = CacheScene.store(in: file.path + "/cache", memory: 1 << 20, disk: 1 << 20, scene.clocks)

            store.insert(try CacheScene.entry("http://a.test/1", "one"))
            store.catchUp()
            #expect(try CacheScene.get("http://a.test/1", from: store) == "one")
            store.forgetAll()
            store.catchUp()

            #expect(store.isSurelyEmpty && !store.withState { $0.mayHoldOutdated })
        }

        @Test("a close that is interrupted is one, T-CAC-22")
        func interruptedClose() async {
            await #expect(processExitsWith: .success) {
                let count = try await FaultInjector.enumerate(.fails(EINTR), of: CAF_CALL_CLOSE, limit: 40) { ordinal in
                    let scene = try CacheScene()
                    try scene.put("http://a.test/1", "one")
                    try scene.put("http://a.test/2", "two")
                    let next = scene.reopened()
                    #expect(try scene.get("http://a.test/1", from: next) == "one", "\(ordinal)")
                    #expect(try scene.get("http://a.test/2", from: next) == "two", "\(ordinal)")
                }
                #expect(count > 0)
            }
        }

        @Test("short writes and reads lose nothing, T-CAC-22", arguments: [1, 7, 100])
        func short(length: Int) async {
            await #expect(processExitsWith: .success) { [length = length as Int] in
                for call in [CAF_CALL_PWRITE, CAF_CALL_PREAD] {
                    await FaultInjector.enumerate(.isShort(length), of: call, limit: 10) { _ in
                        do {
                            let scene = try CacheScene()
                            try scene.put("http://a.test/1", String(repeating: "abc", count: 1000))
                            let found = try scene.get("http://a.test/1", from: scene.reopened())
                            #expect(found == String(repeating: "abc", count: 1000))
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
        }

        @Test("a failed write leaves no descriptor open, T-CAC-23")
        func descriptors() async {
            await #expect(processExitsWith: .success) {
                func useOnce() throws {
                    let scene = try CacheScene()
                    try scene.put("http://a.test/1", "one")
                    _ = try scene.get("http://a.test/1", from: scene.reopened())
                }
                try useOnce()
                let before = Faults.openFiles()
                for call in [CAF_CALL_PWRITE, CAF_CALL_LINK, CAF_CALL_RENAME, CAF_CALL_FSTAT, CAF_CALL_PREAD] {
                    try await FaultInjector.enumerate(.fails(EIO), of: call, limit: 20) { _ in try useOnce() }
                }
                // The cache's thread closes a file behind the answer.
                try await eventually { Faults.openFiles() <= before }
            }
        }

        // MARK: Kills

        /// What the process does that is killed.
        static func work(in folder: String) throws {
            let store = CacheScene.store(in: folder, memory: 0, disk: 60_000, CacheClocks())
            for round in 0..<3 {
                for number in 0..<5 {
                    let url = "http://a.test/\(number)"
                    store.insert(try CacheScene.entry(url, "\(url) \(round)" + String(repeating: "x", count: 2000)))
                    store.catchUp()
                }
                store.forget(try CacheTests.request("http://a.test/1").key)
                store.catchUp()
                store.setDiskCapacity(round == 1 ? 8000 : 60_000)
            }
            store.forgetAll()
            store.catchUp()
        }

        /// Others each time, out of those that there are on any file system. A failure names its call.
        private static var fewCalls: [Int] {
            (0..<(number("AFNET_CACHE_KILLS") ?? 8)).map { _ in .random(in: 1...70) }
        }

        /// - Returns: False if it was over before that call.
        private static func dies(in folder: String, atCall call: Int) async -> Bool {
            let result = await #expect(processExitsWith: .failure) { [folder = folder as String, call = call as Int] in
                FaultInjector.die(atCall: call)
                try Faults.work(in: folder)
                exit(9)
            }
            return result?.exitStatus == .signal(SIGKILL)
        }

        @Test("a process killed in front of any call leaves a store that serves nothing wrong, T-CAC-18")
        func kills() async throws {
            var count = 0
            let calls = CacheTests.killsAll ? Array(1...1000) : Faults.fewCalls
            for call in calls {
                let scene = try CacheScene(memory: 0)
                guard await Faults.dies(in: scene.scratch.url.path, atCall: call) else { break }
                count += 1
                let next = scene.reopened(memory: 0)
                #expect(next.diskUsage >= 0 && next.isConsistent())
                for number in 0..<5 {
                    let url = "http://a.test/\(number)"
                    guard let body = try scene.get(url, from: next) else { continue }
                    #expect(body.hasPrefix(url + " ") && body.utf8.count == url.utf8.count + 2002, "call \(call)")
                }
                next.insert(try CacheScene.entry("http://a.test/0", "again"))
                next.catchUp()
                #expect(try scene.get("http://a.test/0", from: scene.reopened()) == "again")
            }
            #expect(CacheTests.killsAll ? (70..<1000).contains(count) : count == calls.count)
            print("killed: the cache at \(count) calls")
        }

        // MARK: Several processes

        private static let rounds = number("AFNET_CACHE_OPERATIONS").map { $0 / 80 } ?? 150
        private static let processes = number("AFNET_CACHE_PROCESSES") ?? 2

        private static func runProcess(_ number: Int, in path: String, _ rounds: Int) async {
            await #expect(processExitsWith: .success) {
                [path = path as String, rounds = rounds as Int, number = number as Int] in
                let store = CacheScene.store(in: path, memory: 3000, disk: 60_000, CacheClocks())
                CacheTests.exercise(store, seed: UInt64(number + 1), rounds: rounds)
            }
        }

        @Test("several processes in one folder find only what one of them stored, T-CAC-24")
        func processes() async throws {
            let scratch = try ScratchFolder()
            let (path, rounds) = (scratch.url.path, Faults.rounds)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Faults.processes {
                    group.addTask { await Faults.runProcess(number, in: path, rounds) }
                }
            }
            let store = CacheScene.store(in: path, memory: 1 << 20, disk: 60_000, CacheClocks())
            for number in 0..<12 {
                let url = "http://a.test/\(number)"
                guard let body = try CacheScene.get(url, from: store) else { continue }
                #expect(body.hasPrefix(url + " "))
            }
            #expect(store.isConsistent())
        }
    }
}
