import AFFaults
import Foundation
import Testing

@testable import AFState

private typealias Scene = CacheSegmentScene

@Suite("The cache's segments")
struct CacheSegmentTests {
    private let scene: CacheSegmentScene

    init() throws { scene = try CacheSegmentScene() }

    private func tags(_ numbers: Range<Int>, length: Int = 100) -> [UInt64] {
        numbers.map { Scene.tag($0, length: length) }
    }

    @Test("what is appended is read again, by this process and by the next")
    func roundTrip() throws {
        let folder = try scene.open()
        let lengths = [8, 9, 15, 16, 17, 4000, 4096, 5000, 100_000, 300_000]
        let records = lengths.enumerated().map { Scene.record(Scene.tag($0.offset, length: $0.element)) }
        let places = try folder.append(records) + folder.append(Scene.records(20..<21))
        for ((tag, payload), place) in zip(records, places) { #expect(try folder.read(place, tag: tag) == payload) }
        #expect(try folder.read(places[0], tag: 1) == nil)
        #expect(try scene.found() == (records.map(\.tag) + tags(20..<21)).sorted())
        #expect(try folder.append([(5, [])]).count == 1)
        #expect(try scene.open().load().count == 12)
        #expect(try folder.load().count == 12)
    }

    @Test("segments are no longer than they should be, and have footers once they are full")
    func sealing() throws {
        let folder = try scene.open()
        for number in 0..<100 { _ = try folder.append(Scene.records(number..<number + 1)) }
        let sizes = try scene.files.map { try scene.bytes(of: $0).count }
        #expect(sizes.count == 4 && sizes.allSatisfy { $0 <= 4096 + 16 * 30 + 32 }, "\(sizes)")
        let magic = Array("AFCFOOR3".utf8)
        let haveFooters = try scene.files.map { try scene.bytes(of: $0).suffix(32).starts(with: magic) }
        #expect(haveFooters == [true, true, true, false])
        #expect(try scene.found() == tags(0..<100))
        let usage = folder.usage
        #expect(usage == CacheFolder.Usage(bytes: scene.allocated, files: 4))
    }

    @Test("a process goes on with the segment of one that has ended, and with none of one that lives")
    func adoption() throws {
        for number in 0..<20 {
            let folder = try scene.open()
            if number % 2 == 0 { _ = try folder.load() }
            _ = try folder.append(Scene.records(number..<number + 1))
            #expect(scene.files.count == 1)
        }
        let living = [try scene.open(), try scene.open(), try scene.open()]
        for (number, folder) in living.enumerated() {
            _ = try folder.append(Scene.records(20 + number..<21 + number))
            #expect(scene.files.count == number + 1)
        }
        // What another process wrote there before is known from then on.
        let index = try living[2].load()
        #expect(try Scene.tags(living[2], index) == tags(0..<23))
    }

    @Test("a process tries the segments of sixteen others before it makes one", arguments: [15, 16])
    func adoptionLimit(living: Int) throws {
        var former: CacheFolder? = try scene.open()
        _ = try former?.append(Scene.records(0..<1))
        let others = try (1...living).map { _ in try scene.open() }
        for other in others { _ = try other.append(Scene.records(1..<2)) }
        // The oldest of all is free now.
        former = nil
        _ = try scene.open().append(Scene.records(2..<3))
        #expect(scene.files.count == (living < 16 ? living + 1 : living + 2))
        withExtendedLifetime(others) {}
    }

    @Test("a segment with no room for a record is sealed if more than half of it is full", arguments: [2016, 2032])
    func fullAdoption(length: Int) throws {
        var former: CacheFolder? = try scene.open()
        _ = try former?.append(Scene.records(0..<1, length: length))
        former = nil
        let folder = try scene.open()
        _ = try folder.append(Scene.records(1..<2, length: 2032))
        let first = try #require(scene.files.first)
        let isSealed = length > 2016
        #expect(try scene.bytes(of: first).count == 32 + length + (isSealed ? CacheFooter.length(of: 1) : 0))
        #expect(try scene.found().count == 2 && scene.files.count == 2)
        // The other one is left to shorter records.
        _ = try scene.open().append(Scene.records(2..<3))
        #expect(scene.files.count == (isSealed ? 3 : 2))
        withExtendedLifetime(folder) {}
    }

    @Test("a segment comes after all others, and with the last number beside them")
    func sequences() throws {
        let folder = try scene.open()
        for number in 0..<70 { _ = try folder.append(Scene.records(number..<number + 1)) }
        func sequences() -> [UInt64?] { scene.files.map { CacheSegment.Name($0)?.sequence } }
        #expect(sequences() == [1, 2, 3])
        let last = scene.folder.appendingPathComponent(CacheSegment.Name(sequence: .max, key: 0).text)
        try Data().write(to: last)
        chmod(last.path, 0o600)
        _ = try scene.open().append(Scene.records(100..<140))
        #expect(sequences() == [1, 2, 3, .max, .max])
        #expect(try scene.found() == tags(0..<70) + tags(100..<140))
        withExtendedLifetime(folder) {}
    }

    @Test("an adopter hears of what it has not read, and tells of it")
    func adoptedRecords() throws {
        let late = try scene.open()
        _ = try late.load()
        var former: CacheFolder? = try scene.open()
        _ = try former?.append(Scene.records(0..<3))
        former = nil
        let own = try late.append(Scene.records(3..<4))
        let changes = try late.refresh()
        #expect(changes.added.map(\.tag).sorted() == tags(0..<3) && changes.removed.isEmpty && own.count == 1)
        #expect(try scene.files.count == 1 && scene.found() == tags(0..<4))
    }

    @Test("a dead record is read by no process, and is not found again")
    func dead() throws {
        let (folder, other) = (try scene.open(), try scene.open())
        let places = try folder.append(Scene.records(0..<40))
        let known = try other.load()
        for number in [3, 35] { try folder.remove(places[number]) }
        // Also one in a segment of another process.
        let theirs = try #require(known.places(of: Scene.tag(7)).first)
        try other.remove(theirs)
        try other.remove(theirs)
        let left = tags(0..<40).filter { ![3, 7, 35].contains($0 >> 32) }
        #expect(try Scene.tags(other, known) == left && scene.found() == left)
        #expect(try folder.read(places[7], tag: Scene.tag(7)) == nil)
    }

    @Test("a process follows what others append, seal and remove")
    func following() throws {
        let (folder, other) = (try scene.open(), try scene.open())
        var index = try other.load()
        func follow() throws -> [UInt64] {
            let changes = try other.refresh()
            for segment in changes.removed { index.removeAll(inSegment: segment) }
            for entry in changes.added { index.insert(entry.tag, place: entry.place) }
            return try Scene.tags(other, index)
        }
        for number in 0..<70 {
            _ = try folder.append(Scene.records(number..<number + 1))
            if number % 3 == 0 { #expect(try follow() == tags(0..<number + 1)) }
        }
        #expect(try follow() == tags(0..<70) && index.count == 70)
        #expect(!folder.trim(to: 9000).isEmpty)
        let left = try follow()
        #expect(try left == scene.found() && left.count < 70 && left.count == index.count)
        #expect(try other.refresh().added.isEmpty)
    }

    @Test("what is appended after another process removed everything is not lost, T-CAC-14")
    func removedByOthers() throws {
        let (folder, other) = (try scene.open(), try scene.open())
        let places = try folder.append(Scene.records(0..<30))
        try other.removeAll()
        #expect(scene.files.isEmpty)
        #expect(try folder.read(places[29], tag: Scene.tag(29)) == nil)
        #expect(try folder.read(places[0], tag: Scene.tag(0)) == nil)
        try folder.remove(places[0])
        _ = try folder.append(Scene.records(40..<43))
        #expect(try scene.found() == tags(40..<43))
        #expect(Set(try folder.refresh().removed).isSuperset(of: places.map(\.segment)))
        // A file that could not be removed is emptied.
        let last = try #require(scene.files.last)
        try scene.write([], to: last)
        _ = try folder.append(Scene.records(50..<51))
        #expect(try scene.found() == tags(50..<51))
    }

    @Test("a segment of another process that was emptied is a new one")
    func emptiedByOthers() throws {
        let (folder, other) = (try scene.open(), try scene.open())
        _ = try folder.append(Scene.records(0..<3))
        let place = try #require(try other.load().places(of: Scene.tag(0)).first)
        try scene.write([], to: try #require(scene.files.first))
        let changes = try other.refresh()
        #expect(changes.removed == [place.segment] && changes.added.isEmpty && other.usage.files == 1)
    }

    @Test("the folder may be removed while it is used, and is made again, T-CAC-22")
    func removedFolder() throws {
        let folder = try scene.open()
        let places = try folder.append(Scene.records(0..<40))
        try FileManager.default.removeItem(at: scene.folder)
        #expect(folder.isGone && CacheFolder.isMissing(in: scene.path))
        #expect(throws: (any Error).self) { try folder.append(Scene.records(0..<1)) }
        #expect(try folder.read(places[0], tag: Scene.tag(0)) == nil)
        _ = folder.trim(to: 0)
        let next = try scene.open()
        #expect(folder.isGone && !next.isGone)
        _ = try next.append(Scene.records(5..<6))
        #expect(try scene.found() == tags(5..<6))
    }

    // MARK: - Damage

    /// A file of five records: the payload of the last holds the bytes of another record, and of a footer.
    private func smallSegment(isSealed: Bool) throws -> (name: String, bytes: [UInt8]) {
        let folder = try scene.open(segmentSize: isSealed ? 600 : 4096)
        let places = try folder.append(Scene.records(0..<4, length: 40))
        let name = try #require(scene.files.first)
        let copied = try scene.bytes(of: name)[80..<160]
        _ = try folder.append([(1, copied + [UInt8](repeating: 0, count: 16))])
        try folder.remove(places[2])
        if isSealed { _ = try folder.append(Scene.records(9..<10, length: 600)) }
        let others = scene.files.filter { $0 != name }
        for other in others { try FileManager.default.removeItem(at: scene.folder.appendingPathComponent(other)) }
        return (name, try scene.bytes(of: name))
    }

    /// Whatever stands in the file, nothing wrong comes out of it, and the folder can be used.
    private func check(_ bytes: [UInt8], in name: String, _ what: String) throws {
        try scene.write(bytes, to: name)
        let folder = try scene.open()
        let found = try Scene.tags(folder, try folder.load())
        #expect(Set(found).isSubset(of: [0, 1, 3].map { Scene.tag($0, length: 40) }), "\(what): \(found)")
        #expect(found.count == Set(found).count, "\(what)")
        let new = Scene.tag(77)
        let place = try #require(try folder.append([Scene.record(new)]).first)
        #expect(try Scene.read(new, place, in: folder) == new, "\(what)")
        let after = try scene.found()
        #expect(after.contains(new) && after.count <= found.count + 1, "\(what)")
        for other in scene.files where other != name {
            try FileManager.default.removeItem(at: scene.folder.appendingPathComponent(other))
        }
    }

    @Test("a flipped bit costs records and never makes one, T-CAC-18", arguments: [false, true])
    func flips(isSealed: Bool) throws {
        let (name, bytes) = try smallSegment(isSealed: isSealed)
        try check(bytes, in: name, "undamaged")
        for offset in bytes.indices {
            for change: UInt8 in [0x01, 0xff] {
                var damaged = bytes
                damaged[offset] ^= change
                try check(damaged, in: name, "\(offset) \(change)")
                guard isSealed, offset >= bytes.count - CacheFooter.length(of: 5) else { continue }
                // Without its footer a segment is read through.
                try scene.write(damaged, to: name)
                #expect(try scene.found().count == 3, "\(offset) \(change)")
            }
        }
    }

    @Test("a file that was cut short has the records before, T-CAC-18", arguments: [false, true])
    func cuts(isSealed: Bool) throws {
        let (name, bytes) = try smallSegment(isSealed: isSealed)
        for length in bytes.indices {
            try check(Array(bytes[..<length]), in: name, "\(length)")
            let zeros = [UInt8](repeating: 0, count: bytes.count - length)
            try check(bytes[..<length] + zeros, in: name, "\(length) and zeros")
        }
        try scene.write(bytes, to: name)
        #expect(try scene.found().count == 3)
        try check(bytes + bytes, in: name, "twice")
        try scene.write(Array(bytes[..<160]), to: name)
        #expect(try scene.found() == [0, 1].map { Scene.tag($0, length: 40) })
    }

    @Test("what a killed process left behind the last record is cut off, T-CAC-18")
    func tornEnd() throws {
        var folder: CacheFolder? = try scene.open()
        _ = try folder?.append(Scene.records(0..<2, length: 1000))
        folder = nil
        let name = try #require(scene.files.first)
        try scene.write(Array(try scene.bytes(of: name).dropLast(16)), to: name)
        let next = try scene.open()
        #expect(try next.load().count == 1)
        _ = try next.append(Scene.records(5..<6, length: 8))
        #expect(try scene.files == [name] && scene.bytes(of: name).count == 1040 + 48)
    }

    @Test("a file with another name has no records: each has checks of its own")
    func renamed() throws {
        let (name, bytes) = try smallSegment(isSealed: true)
        let other = CacheSegment.Name(sequence: 9, key: 9).text
        try FileManager.default.moveItem(
            at: scene.folder.appendingPathComponent(name),
            to: scene.folder.appendingPathComponent(other)
        )
        #expect(try scene.found().isEmpty && bytes.count > 400)
    }

    @Test("a record is read as it was written, and as dead once it is")
    func header() throws {
        let record = CacheRecord(tag: 7, offset: 32, payloadLength: 100)
        var bytes = record.header(key: 5)
        for isLive in [true, false] {
            let read = try #require(bytes.withUnsafeBytes { CacheRecord($0, at: 32, key: 5) })
            #expect(read.tag == record.tag && read.offset == record.offset && read.end == record.end)
            #expect(read.payloadLength == record.payloadLength && read.isLive == isLive && record.isLive)
            bytes[CacheRecord.stateOffset] = CacheRecord.dead
        }
    }

    @Test("only names as segments have them are segments")
    func names() {
        let name = CacheSegment.Name(sequence: 0xabc, key: .max)
        #expect(name.text == "0000000000000abc-ffffffffffffffff.seg" && CacheSegment.Name(name.text) == name)
        for text in ["", ".seg", "0000000000000ABC-ffffffffffffffff.seg", "0000000000000abc_ffffffffffffffff.seg"] {
            #expect(CacheSegment.Name(text) == nil)
        }
        #expect(CacheSegment.Name("0000000000000abc-ffffffffffffffff.tmp") == nil)
        #expect(CacheSegment.Name("0000000000000abc-fffffffffffffffff.seg") == nil)
        #expect(CacheSegment.Name(sequence: 1, key: 9) < CacheSegment.Name(sequence: 2, key: 0))
    }
}
