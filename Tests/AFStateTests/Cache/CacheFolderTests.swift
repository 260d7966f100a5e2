import AFLoop
import Foundation
import Glibc
import Testing

@testable import AFState

private typealias Scene = CacheSegmentScene

@Suite("The cache's folder")
struct CacheFolderTests {
    private let scene: CacheSegmentScene

    init() throws { scene = try CacheSegmentScene() }

    // MARK: - How much it takes

    @Test(
        "a full cache takes at most a tenth more than its limit, and few files, T-CAC-20",
        arguments: [1 << 20, 20 << 20],
        [100, 1, 20]
    )
    func full(limit: Int, kind: Int) throws {
        let folder = try scene.open(capacity: limit, segmentSize: nil)
        // 100 bytes; half a segment and one more; a twentieth of the limit.
        let length = kind == 100 ? 100 : kind == 1 ? folder.segmentSize / 2 + 1 : limit / 20
        let each = max(1, min(400, 100_000 / length))
        var (index, number, most) = (try folder.load(), 0, 0)
        while number * length < limit * 2 {
            let batch = (number..<number + each).map { Scene.tag($0, length: length) }
            // What stands in them does not matter here.
            let payload = [UInt8](repeating: 7, count: length)
            for (tag, place) in zip(batch, try folder.append(batch.map { ($0, payload) })) {
                index.insert(tag, place: place)
            }
            for segment in folder.trim(to: limit) { index.removeAll(inSegment: segment) }
            number += each
            if number / each % 16 == 0 {
                most = max(most, scene.allocated)
                #expect(scene.files.count <= 2000)
            }
        }
        most = max(most, scene.allocated)
        #expect(most <= limit * 11 / 10 && most > limit * 3 / 4, "\(most) of \(limit)")
        #expect(folder.usage == CacheFolder.Usage(bytes: scene.allocated, files: scene.files.count))
        #expect(scene.files.count <= 70)
        // The last ones are there, and the first ones are not.
        #expect(index.mayHold(Scene.tag(number - 1, length: length)) && !index.mayHold(Scene.tag(0, length: length)))
        let loaded = try scene.open(capacity: limit, segmentSize: nil).load()
        #expect(Set(loaded.entries.map(\.tag)) == Set(index.entries.map(\.tag)))
    }

    @Test("there are never more files than a limit, however short they are")
    func files() throws {
        let folder = try scene.open(capacity: 1 << 40, segmentSize: 64)
        #expect(folder.fileLimit == 2000)
        folder.fileLimit = 20
        for number in 0..<50 { _ = try folder.append(Scene.records(number..<number + 1, length: 8)) }
        #expect(folder.trim(to: 1 << 40).count == 30 && scene.files.count == 20)
        #expect(try scene.found(segmentSize: 64) == (30..<50).map { Scene.tag($0, length: 8) })
    }

    @Test("segments suit the limit")
    func sizes() throws {
        let folder = try scene.open(segmentSize: nil)
        let sizes = [0: 1 << 16, 1 << 20: 1 << 16, 20 << 20: 20 << 15, 1 << 30: 1 << 22, 1 << 40: 1 << 25]
        for (capacity, size) in sizes {
            folder.capacity = capacity
            #expect(folder.segmentSize == size)
        }
        folder.capacity = 9 << 30
        #expect(folder.segmentSize == (9 << 30) / 1500)
    }

    @Test("the oldest segments go first, our own before those of living processes")
    func trimming() throws {
        let (folder, other) = (try scene.open(), try scene.open())
        _ = try other.append(Scene.records(0..<5))
        let places = try folder.append(Scene.records(10..<110))
        #expect(scene.files.count == 5)
        for number in [0, 30, 60] {
            let removed = folder.trim(to: folder.usage.bytes - 1)
            #expect(removed == [places[number].segment])
        }
        #expect(try scene.files.count == 2 && scene.found().filter { $0 >> 32 < 5 }.count == 5)
        #expect(folder.trim(to: folder.usage.bytes).isEmpty)
        _ = folder.trim(to: folder.usage.bytes - 1)
        #expect(try scene.files.count == 1 && scene.found() == (0..<5).map { Scene.tag($0) })
        _ = try folder.append(Scene.records(200..<201))
        #expect(try scene.found().count == 6)
        _ = folder.trim(to: 0)
        #expect(scene.files.isEmpty)
        _ = try other.append(Scene.records(300..<301))
        #expect(try scene.found().count == 1)
    }

    @Test("a record is old if it is in the older half of a full cache")
    func age() throws {
        let folder = try scene.open(capacity: 40_000)
        let places = try folder.append(Scene.records(0..<100))
        #expect(!places.contains(where: folder.isOld))
        let more = try folder.append(Scene.records(100..<300))
        #expect(folder.isOld(places[0]) && !folder.isOld(more[199]))
        let old = (places + more).filter(folder.isOld).count
        #expect((100...160).contains(old))
    }

    @Test("what the disk has left is known")
    func space() throws {
        let free = try scene.open().freeSpace()
        var system = statvfs()
        #expect(statvfs(scene.path, &system) == 0)
        let expected = Int64(system.f_bavail) * Int64(system.f_frsize)
        #expect(free > 0 && abs(free - expected) < expected / 4 + (1 << 28))
    }

    @Test("a segment has a number that no other has, and is refused when all are taken")
    func numbers() throws {
        let folder = try scene.open()
        let kept = try #require(folder.add(CacheSegment.Name(sequence: 0, key: 0)))
        var given: Set<UInt16> = []
        // Those of segments that are gone come again.
        for key in UInt64(1)...70_000 {
            let number = try #require(folder.add(CacheSegment.Name(sequence: 1, key: key)))
            given.insert(number)
            folder.drop(number)
        }
        #expect(given.count == 65_534 && !given.contains(0) && !given.contains(kept))
        for key in UInt64(1)...65_533 { _ = folder.add(CacheSegment.Name(sequence: 2, key: key)) }
        #expect(folder.segments.count == 65_534 && folder.add(CacheSegment.Name(sequence: 3, key: 0)) == nil)
        #expect(folder.usage == CacheFolder.Usage(bytes: 0, files: 65_534))
        folder.drop(kept)
        #expect(folder.add(CacheSegment.Name(sequence: 3, key: 0)) != nil)
    }

    // MARK: - Where it is

    @Test("only so many folders are made as are asked for")
    func parents() throws {
        let deep = scene.path + "/a/b"
        for (path, levels) in [(deep, 0), (deep, 1), (deep + "/", 1), (deep + "/c", 2), (scene.path + "/a", 0)] {
            #expect(throws: SystemCallError(.open, code: ENOENT)) {
                try CacheFolder(in: CacheHome(path: path, levels: levels), capacity: 0)
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.path).isEmpty)
        #expect(throws: SystemCallError(.open, code: ENOENT)) {
            try CacheFolder(existingIn: CacheHome(path: scene.path, levels: 1), capacity: 0)
        }
        #expect(CacheFolder.isMissing(in: deep))
        _ = try CacheFolder(in: CacheHome(path: deep, levels: 2), capacity: 0)
        #expect(!CacheFolder.isMissing(in: deep))
        for path in [deep, scene.path + "/a", deep + "/" + CacheFolder.name] {
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o700)
        }
        _ = try CacheFolder(existingIn: CacheHome(path: deep, levels: 2), capacity: 0)
    }

    @Test("a folder that others may use is refused, and so is a link, T-CAC-25")
    func foreignFolder() throws {
        _ = try scene.open()
        chmod(scene.folder.path, 0o755)
        #expect(throws: SystemCallError(.open, code: EPERM)) { try scene.open() }
        try FileManager.default.removeItem(at: scene.folder)
        let other = scene.file("other")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(at: scene.folder, withDestinationURL: other)
        #expect(throws: (any Error).self) { try scene.open() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path).isEmpty)
    }

    @Test("links, folders, FIFOs and files that others may use are no segments, T-CAC-25")
    func foreignFiles() throws {
        let folder = try scene.open()
        let places = try folder.append(Scene.records(0..<60))
        let (first, last) = (try #require(scene.files.first), try #require(scene.files.last))
        let (bytes, aside) = (try scene.bytes(of: first), scene.file("aside"))
        try FileManager.default.moveItem(at: scene.folder.appendingPathComponent(first), to: aside)
        try FileManager.default.createSymbolicLink(
            at: scene.folder.appendingPathComponent(first),
            withDestinationURL: aside
        )
        #expect(try folder.read(places[0], tag: Scene.tag(0)) == nil)
        try folder.remove(places[0])
        let (pipe, inner) = (CacheSegment.Name(sequence: 9, key: 1).text, CacheSegment.Name(sequence: 9, key: 2).text)
        mkfifo(scene.folder.path + "/" + pipe, 0o600)
        mkdir(scene.folder.path + "/" + inner, 0o700)
        let left = try scene.found()
        #expect(left.count < 60 && left.count > 20)
        chmod(scene.folder.path + "/" + last, 0o644)
        #expect(try folder.read(try #require(places.last), tag: Scene.tag(59)) == nil)
        #expect(try scene.found().count < left.count)
        // None of them is removed for another's sake, and none is written to.
        let next = try scene.open()
        _ = try next.load()
        _ = try next.append(Scene.records(70..<71))
        _ = next.trim(to: 0)
        #expect(scene.files == [first, last, pipe, inner])
        #expect(try Array(Data(contentsOf: aside)) == bytes)
    }

    // MARK: - Former layouts

    @Test("what former layouts left is removed, a part at a time, and nothing else")
    func formerLayouts() throws {
        let digits = String(repeating: "0123456789abcdef", count: 2)
        let manager = FileManager.default
        for name in ["AFURLSession-cache", "AFURLSession-cache-1", "AFURLSession-cache-2"] {
            mkdir(scene.file(name).path, 0o700)
            for number in 0..<150 {
                let entry = digits.dropLast(3) + "\(100 + number)-" + digits
                try Data().write(to: scene.file("\(name)/\(entry)"))
            }
            try Data().write(to: scene.file("\(name)/\(digits).tmp"))
        }
        try Data().write(to: scene.file("AFURLSession-cache-1/notes"))
        try manager.createSymbolicLink(
            at: scene.file("AFURLSession-cache-1/ffff\(digits.dropFirst(4))-\(digits)"),
            withDestinationURL: scene.file("AFURLSession-cache-1/notes")
        )
        let folder = try scene.open()
        func left(_ name: String) -> Int {
            (try? manager.contentsOfDirectory(atPath: scene.file(name).path).count) ?? -1
        }
        #expect(left("AFURLSession-cache") == 51 && left("AFURLSession-cache-2") == 151)
        var calls = 0
        while folder.removeFormerLayouts(atMost: 40) { calls += 1 }
        #expect((9...12).contains(calls), "\(calls)")
        #expect(["AFURLSession-cache", "AFURLSession-cache-2"].allSatisfy { left($0) == -1 })
        #expect(left("AFURLSession-cache-1") == 2 && !folder.removeFormerLayouts(atMost: 40))
    }

    private func formerName(_ number: Int) -> String {
        String(repeating: "a", count: 29) + "\(100 + number)-" + String(repeating: "b", count: 32)
    }

    @Test("a former folder goes with the last of its files, and until then more are left")
    func formerLayoutInParts() throws {
        let former = scene.file("AFURLSession-cache-2")
        mkdir(former.path, 0o700)
        for number in 0..<105 { try Data().write(to: former.appendingPathComponent(formerName(number))) }
        // This removes a hundred.
        let folder = try scene.open()
        func left() -> Int? { try? FileManager.default.contentsOfDirectory(atPath: former.path).count }
        #expect(left() == 5)
        #expect(folder.removeFormerLayouts(atMost: 1) && left() == 4)
        #expect(folder.removeFormerLayouts(atMost: 3) && left() == 1)
        #expect(!folder.removeFormerLayouts(atMost: 2) && left() == nil)
    }

    @Test("links with the names of former files are not come back for")
    func formerLinks() throws {
        let former = scene.file("AFURLSession-cache-2")
        mkdir(former.path, 0o700)
        for number in 0..<103 {
            let file = former.appendingPathComponent(formerName(number))
            if number < 100 { try Data().write(to: file) } else { symlink("nowhere", file.path) }
        }
        let folder = try scene.open()
        var calls = 0
        while calls < 10, folder.removeFormerLayouts(atMost: 3) { calls += 1 }
        #expect(calls <= 3)
    }

    @Test("a former folder that is a link, or that others may use, is left alone")
    func foreignFormer() throws {
        let entry = String(repeating: "a", count: 32) + "-" + String(repeating: "b", count: 32)
        mkdir(scene.file("other").path, 0o700)
        try Data().write(to: scene.file("other/\(entry)"))
        try FileManager.default.createSymbolicLink(
            at: scene.file("AFURLSession-cache-2"),
            withDestinationURL: scene.file("other")
        )
        mkdir(scene.file("AFURLSession-cache").path, 0o755)
        try Data().write(to: scene.file("AFURLSession-cache/\(entry)"))
        let folder = try scene.open()
        #expect(!folder.removeFormerLayouts(atMost: 10))
        for name in ["other", "AFURLSession-cache"] {
            #expect(FileManager.default.fileExists(atPath: scene.file("\(name)/\(entry)").path))
        }
    }
}
