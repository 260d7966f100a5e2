import AFFaults
import AFLoop
import CAFLinux
import Foundation
import Glibc
import Testing

@testable import AFState

private typealias Scene = CacheSegmentScene

/// Disks that fail, processes that die. Each in a process of its own.
@Suite("The cache's segments, and disks and processes that fail")
struct CacheSegmentFaultTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let killsAll = environment["AFNET_KILLS"] == "all"

    /// What a test does, and what was promised to it.
    private struct Work {
        let scene: CacheSegmentScene
        /// Appended for sure, and not to be read any more for sure. What is in neither may be there.
        var present: Set<UInt64> = []
        var dead: Set<UInt64> = []
        /// Told of each of these, as `+ tag` or `- tag`.
        var journal: Int32?

        private func tell(_ sign: String, _ tag: UInt64) {
            guard let journal else { return }
            let line = "\(sign) \(tag)\n"
            #expect(Glibc.write(journal, line, line.utf8.count) == line.utf8.count)
        }

        /// Whatever fails is left out.
        mutating func play() {
            for round in 0..<2 {
                guard let folder = try? scene.open(segmentSize: 512) else { continue }
                let index = try? folder.load()
                if round == 1, let entry = index?.entries.first(where: { present.contains($0.tag) }) {
                    remove(entry.tag, entry.place, folder)
                }
                var places: [(UInt64, CachePlace)] = []
                for number in 0..<4 {
                    let first = round * 100 + number * 10
                    let batch = Scene.records(first..<first + 5, length: number == 2 ? 100 : 40)
                    guard let new = try? folder.append(batch) else { continue }
                    places += zip(batch.map(\.tag), new)
                    for (tag, _) in batch {
                        tell("+", tag)
                        present.insert(tag)
                    }
                }
                for (tag, place) in places.prefix(3) + places.suffix(1) { remove(tag, place, folder) }
                _ = try? folder.refresh()
                for (tag, place) in places {
                    guard let bytes = try? folder.read(place, tag: tag) else { continue }
                    #expect(bytes == Scene.payload(tag) && !dead.contains(tag))
                }
            }
        }

        private mutating func remove(_ tag: UInt64, _ place: CachePlace, _ folder: CacheFolder) {
            present.remove(tag)
            guard (try? folder.remove(place)) != nil else { return }
            tell("-", tag)
            dead.insert(tag)
        }

        func check(_ what: String) throws {
            let found = Set(try scene.found())
            #expect(present.subtracting(found).isEmpty, "\(what): lost \(present.subtracting(found))")
            #expect(found.isDisjoint(with: dead), "\(what): came back")
            let (folder, new) = (try scene.open(), Scene.tag(999))
            let place = try #require(try folder.append([Scene.record(new)]).first)
            #expect(try Scene.read(new, place, in: folder) == new, "\(what)")
            #expect(Set(try scene.found()) == found.union([new]), "\(what)")
        }
    }

    private static let calls = [
        CAF_CALL_OPEN, CAF_CALL_MAKE_FOLDER, CAF_CALL_FSTAT, CAF_CALL_PREAD, CAF_CALL_PWRITE, CAF_CALL_TRUNCATE,
        CAF_CALL_RANDOM, CAF_CALL_LOCK, CAF_CALL_READ_FOLDER, CAF_CALL_UNLINK, CAF_CALL_CLOSE,
    ]

    @Test(
        "a call that fails loses nothing that was promised, and leaves nothing open, T-CAC-22, T-CAC-23",
        arguments: [ENOSPC, EIO, EACCES, EMFILE, EROFS, ENOENT]
    )
    func faults(code: Int32) async {
        await #expect(processExitsWith: .success) { [code = code as Int32] in
            let before = LeakCheck.now
            // A file that is open is there, whatever a call says of it; one that is not may be gone.
            let ofNames = [CAF_CALL_OPEN, CAF_CALL_UNLINK]
            for call in CacheSegmentFaultTests.calls where code != ENOENT || !ofNames.contains(call) {
                let count = try await FaultInjector.enumerate(.fails(code), of: call) { ordinal in
                    var work = Work(scene: try CacheSegmentScene())
                    work.play()
                    #expect(FaultInjector.badCloses == 0)
                    FaultInjector.spare()
                    try work.check("\(call) \(ordinal)")
                }
                let isReached = ![CAF_CALL_TRUNCATE, CAF_CALL_UNLINK].contains(call)
                #expect(count > 0 || !isReached, "\(call)")
            }
            #expect(before.excess() == nil)
        }
    }

    @Test("a write that fails half-way leaves complete records only, also if they cannot be cut off, T-CAC-22")
    func halfWritten() async {
        await #expect(processExitsWith: .success) {
            for length in [1, 31, 32, 100, 144, 145, 500] {
                for cannotTruncate in [false, true] {
                    let scene = try CacheSegmentScene()
                    let folder = try scene.open()
                    _ = try folder.append(Scene.records(0..<2))
                    // The first call takes so many bytes, the second one fails.
                    HalfWrites.begin(length, cannotTruncate: cannotTruncate)
                    #expect(throws: SystemCallError(.pwrite, code: ENOSPC)) {
                        try folder.append(Scene.records(2..<6))
                    }
                    HalfWrites.end()
                    let complete = (2..<6).prefix(length / 144).map { Scene.tag($0) }
                    let size = try scene.bytes(of: try #require(scene.files.first)).count
                    #expect(size == (cannotTruncate ? 288 + length : (2 + complete.count) * 144))
                    #expect(try folder.refresh().added.map(\.tag) == complete)
                    let before = [0, 1].map { Scene.tag($0) } + complete
                    #expect(try scene.found() == before)
                    _ = try folder.append(Scene.records(7..<9))
                    #expect(try scene.found() == before + [7, 8].map { Scene.tag($0) })
                    let isTorn = cannotTruncate && length % 144 != 0
                    #expect(scene.files.count == 1 || isTorn, "\(length)")
                }
            }
        }
    }

    @Test("a record of which nothing can be read now is not gone, T-CAC-22")
    func nothingRead() async {
        await #expect(processExitsWith: .success) {
            let (scene, tag) = (try CacheSegmentScene(), Scene.tag(1))
            let folder = try scene.open()
            let place = try #require(try folder.append([Scene.record(tag)]).first)
            for call in [{ try folder.remove(place) }, { _ = try folder.read(place, tag: tag) }] {
                FaultInjector.plan(.answers(0), of: CAF_CALL_PREAD, 1)
                #expect(throws: SystemCallError(.pread, code: EIO)) { try call() }
            }
            FaultInjector.stop()
            #expect(try Scene.read(tag, place, in: folder) == tag)
            try folder.remove(place)
            #expect(try scene.found().isEmpty)
        }
    }

    @Test("a segment that cannot be removed is emptied, if it is a file of ours alone, T-CAC-22, T-CAC-25")
    func emptied() async {
        await #expect(processExitsWith: .success) {
            for kind in ["own", "exposed", "pipe"] {
                let scene = try CacheSegmentScene()
                let folder = try scene.open()
                _ = try folder.append(Scene.records(0..<2))
                let path = scene.folder.path + "/" + (try #require(scene.files.first))
                if kind == "exposed" { chmod(path, 0o644) }
                if kind == "pipe" {
                    unlink(path)
                    mkfifo(path, 0o600)
                }
                FaultInjector.failNext(CAF_CALL_UNLINK, with: EIO)
                if kind == "own" {
                    try folder.removeAll()
                } else {
                    #expect(throws: SystemCallError(.unlink, code: EIO)) { try folder.removeAll() }
                }
                FaultInjector.stop()
                var status = stat()
                #expect(stat(path, &status) == 0 && status.st_size == (kind == "exposed" ? 288 : 0), "\(kind)")
            }
        }
    }

    @Test("a batch that fails in its second segment tells of what the first one has, T-CAC-22")
    func secondSegment() async {
        await #expect(processExitsWith: .success) {
            let scene = try CacheSegmentScene()
            let folder = try scene.open()
            // The first part, the footer of its segment, the second part.
            FaultInjector.plan(.fails(EIO), of: CAF_CALL_PWRITE, 3)
            #expect(throws: SystemCallError(.pwrite, code: EIO)) { try folder.append(Scene.records(0..<40)) }
            FaultInjector.stop()
            #expect(try folder.refresh().added.map(\.tag) == (0..<28).map { Scene.tag($0) })
            #expect(try folder.refresh().added.isEmpty && scene.found().count == 28)
        }
    }

    @Test("short writes and reads lose nothing, T-CAC-22", arguments: [1, 7, 100])
    func short(length: Int) async {
        await #expect(processExitsWith: .success) { [length = length as Int] in
            for call in [CAF_CALL_PWRITE, CAF_CALL_PREAD] {
                let count = try await FaultInjector.enumerate(.isShort(length), of: call, limit: 60) { ordinal in
                    var work = Work(scene: try CacheSegmentScene())
                    work.play()
                    #expect(work.present.count == 31 && work.dead.count == 9, "\(ordinal)")
                    try work.check("\(call) \(ordinal)")
                }
                #expect(count > 10)
            }
        }
    }

    // MARK: - Kills

    /// - Returns: False if it was over before that call.
    private static func dies(in scene: CacheSegmentScene, atCall call: Int) async -> Bool {
        let path = scene.path
        let result = await #expect(processExitsWith: .failure) { [path = path as String, call = call as Int] in
            var work = Work(scene: CacheSegmentScene(at: path))
            work.journal = Glibc.open(path + "/journal", O_WRONLY | O_CREAT | O_APPEND, 0o600)
            FaultInjector.die(atCall: call)
            work.play()
            exit(9)
        }
        return result?.exitStatus == .signal(SIGKILL)
    }

    @Test("a process killed in front of any call leaves what it was told is stored, T-CAC-18")
    func kills() async throws {
        let calls = CacheSegmentFaultTests.killsAll ? Array(1...1000) : (0..<8).map { _ in .random(in: 1...100) }
        var count = 0
        for call in calls {
            let scene = try CacheSegmentScene()
            guard await CacheSegmentFaultTests.dies(in: scene, atCall: call) else { break }
            count += 1
            var work = Work(scene: scene)
            let lines = (try? String(contentsOf: scene.file("journal"), encoding: .utf8)) ?? ""
            for line in lines.split(separator: "\n") {
                let tag = try #require(UInt64(line.dropFirst(2)))
                if line.first == "+" { work.present.insert(tag) } else { work.dead.insert(tag) }
            }
            // One more may have been about to be told of.
            let last = Set(work.dead).union(try scene.found())
            work.present.formIntersection(last)
            #expect(lines.split(separator: "\n").count { $0.first == "+" } - work.present.count <= 1, "call \(call)")
            work.present.subtract(work.dead)
            try work.check("call \(call)")
        }
        #expect(CacheSegmentFaultTests.killsAll ? (100..<1000).contains(count) : count == calls.count)
    }

    // MARK: - Several processes

    private static let processes = environment["AFNET_CACHE_PROCESSES"].flatMap { Int($0) } ?? 6

    private static func run(_ number: Int, in path: String, trims: Bool) async {
        await #expect(processExitsWith: .success) {
            [path = path as String, number = number as Int, trims = trims as Bool] in
            var dice = SeededGenerator(seed: UInt64(number))
            let scene = CacheSegmentScene(at: path)
            let folder = try scene.open(capacity: 100_000)
            var index = try folder.load()
            var (next, own, dead) = (number * 100_000, Set<UInt64>(), Set<UInt64>())
            for step in 0..<400 {
                switch dice.pick(0...9) {
                case 0..<6:
                    let batch = Scene.records(next..<next + dice.pick(1...4), length: dice.pick([8, 100, 1000]))
                    next += batch.count
                    for ((tag, _), place) in zip(batch, try folder.append(batch)) {
                        index.insert(tag, place: place)
                        own.insert(tag)
                    }
                case 6..<8:
                    let changes = try folder.refresh()
                    for segment in changes.removed { index.removeAll(inSegment: segment) }
                    for entry in changes.added { index.insert(entry.tag, place: entry.place) }
                case 8:
                    guard let tag = own.randomElement(using: &dice) else { continue }
                    for place in index.places(of: tag) { try folder.remove(place) }
                    own.remove(tag)
                    dead.insert(tag)
                default:
                    for segment in trims ? folder.trim(to: 100_000) : [] { index.removeAll(inSegment: segment) }
                    for entry in index.entries.prefix(50) {
                        if let tag = try Scene.read(entry.tag, entry.place, in: folder) {
                            #expect(!dead.contains(tag))
                        }
                    }
                }
                if trims, number == 0, step % 150 == 149 { try folder.removeAll() }
            }
            let found = Set(try scene.found())
            #expect(found.isDisjoint(with: dead) && (trims || own.isSubset(of: found)))
        }
    }

    @Test("six processes use one folder, and find only what one of them stored, T-CAC-24", arguments: [false, true])
    func processes(trims: Bool) async throws {
        let scene = try CacheSegmentScene()
        let path = scene.path
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<CacheSegmentFaultTests.processes {
                group.addTask { await CacheSegmentFaultTests.run(number, in: path, trims: trims) }
            }
        }
        let folder = try scene.open(capacity: 100_000)
        #expect(try Scene.tags(folder, try folder.load()).isEmpty == false)
        if trims {
            _ = folder.trim(to: 100_000)
            #expect(scene.allocated <= 110_000)
        }
    }
}

/// Lets a write take some bytes, and all later ones fail. One at a time, in a process of its own.
private enum HalfWrites {
    nonisolated(unsafe) fileprivate static var writes = 0
    nonisolated(unsafe) fileprivate static var length = 0
    nonisolated(unsafe) fileprivate static var cannotTruncate = false

    static func begin(_ length: Int, cannotTruncate: Bool) {
        (writes, HalfWrites.length, HalfWrites.cannotTruncate) = (0, length, cannotTruncate)
        caf_set_hook { HalfWrites.answer($0) }
    }

    static func end() { caf_set_hook(nil) }

    private static func answer(_ call: UnsafeMutablePointer<caf_intercepted_call>?) -> Bool {
        guard let call else { return false }
        if call.pointee.call == CAF_CALL_TRUNCATE, cannotTruncate {
            call.pointee.result = -Int(EIO)
            return true
        }
        guard call.pointee.call == CAF_CALL_PWRITE else { return false }
        writes += 1
        if writes == 1 {
            call.pointee.length = min(call.pointee.length, length)
            return false
        }
        call.pointee.result = -Int(ENOSPC)
        return true
    }
}
