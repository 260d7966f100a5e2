import AFLoop
import Foundation
import Testing

@testable import AFState

@Suite("What stands at the end of a segment")
struct CacheFooterTests {
    private static let key: UInt64 = 0x1234_5678_9abc_def0
    private static let offset = 100 * CachePlace.unit

    private static func records(_ count: Int) -> [CacheRecord] {
        (0..<count).map { CacheRecord(tag: UInt64($0) << 40 | 7, offset: $0 * CachePlace.unit, payloadLength: $0 % 90) }
    }

    private static func segment(_ records: [CacheRecord]) -> [UInt8] {
        Array(repeating: 1, count: offset) + CacheFooter.encode(records, at: offset, key: key)
    }

    /// Tag, offset and length of each record.
    private func read(_ bytes: [UInt8], key: UInt64 = key) throws -> (start: Int?, entries: [[Int]]) {
        let scratch = try ScratchFolder()
        try Data(bytes).write(to: scratch.url.appendingPathComponent("segment"))
        let file = try Folder(path: scratch.url.path).openFile(named: "segment")
        var entries: [[Int]] = []
        let start = try CacheFooter.read(file, size: bytes.count, key: key) { entries.append([Int($0), $1, $2]) }
        return (start, entries)
    }

    // The first read has 16 KiB: 1022 records and the trailer.
    @Test(arguments: [0, 1, 2, 100, 1021, 1022, 1023, 3000])
    func `a footer says of each record what it is, however many there are`(count: Int) throws {
        let records = Self.records(count)
        let (start, entries) = try read(Self.segment(records))

        #expect(start == Self.offset)
        #expect(entries == records.map { [Int($0.tag), $0.offset, $0.length] })
        #expect(CacheFooter.length(of: count) == Self.segment(records).count - Self.offset)
    }

    @Test(arguments: [1, 1100])
    func `a footer that is cut, changed, or of another file is none`(count: Int) throws {
        let whole = Self.segment(Self.records(count))
        #expect(try read(whole, key: Self.key + 1).start == nil)
        #expect(try read(Array(whole.dropLast(CachePlace.unit))).start == nil)
        #expect(try read(whole + Array(repeating: 0, count: CachePlace.unit)).start == nil)
        for place in [
            Self.offset, Self.offset + 9, whole.count - 32, whole.count - 24, whole.count - 16, whole.count - 1,
        ] {
            var changed = whole
            changed[place] ^= 4
            let (start, entries) = try read(changed)
            #expect(start == nil && entries == [], "\(place)")
        }
        #expect(try read([]).start == nil && read(Array(whole.suffix(31))).start == nil)
    }
}
