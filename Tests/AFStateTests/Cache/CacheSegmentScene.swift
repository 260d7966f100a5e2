import AFBase
import Foundation
import Testing

@testable import AFState

/// A folder of segments, and records of which each tells whether it is genuine.
struct CacheSegmentScene {
    /// Removed with the scene; nil if another process has made it.
    private let scratch: ScratchFolder?
    let path: String
    var folder: URL { file(CacheFolder.name) }

    init() throws {
        let scratch = try ScratchFolder()
        (self.scratch, path) = (scratch, scratch.url.path)
    }

    init(at path: String) { (scratch, self.path) = (nil, path) }

    func file(_ name: String) -> URL { URL(fileURLWithPath: path).appendingPathComponent(name) }

    func open(capacity: Int = 1 << 20, segmentSize: Int? = 4096) throws -> CacheFolder {
        try CacheFolder(in: CacheHome(path: path, levels: 1), capacity: capacity, segmentSize: segmentSize)
    }

    /// The names of the segments, the oldest first.
    var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

    func bytes(of name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appendingPathComponent(name))) }

    /// Changes a file in place, as damage does.
    func write(_ bytes: [UInt8], to name: String) throws {
        let file = try FileHandle(forWritingTo: folder.appendingPathComponent(name))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    /// What the disk gives away.
    var allocated: Int {
        files.reduce(0) { sum, name in
            var status = stat()
            let isThere = stat(folder.appendingPathComponent(name).path, &status) == 0
            return isThere ? sum + Int(status.st_blocks) * 512 : sum
        }
    }

    // MARK: - Records

    /// A tag that says how long the payload is.
    static func tag(_ number: Int, length: Int = 100) -> UInt64 { UInt64(number) << 32 | UInt64(length) }

    /// As entries of the cache are: with a check at the end.
    static func payload(_ tag: UInt64) -> [UInt8] {
        let count = max(Int(tag & 0xffff_ffff) - 8, 0)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: (tag >> 32) &+ UInt64($0)) }
        return bytes + check(bytes, tag)
    }

    private static func check(_ bytes: [UInt8], _ tag: UInt64) -> [UInt8] {
        let check = bytes.reduce(tag &* 0x9e37_79b9_7f4a_7c15) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return (0..<8).map { UInt8(truncatingIfNeeded: check >> (8 * UInt64($0))) }
    }

    static func record(_ tag: UInt64) -> (tag: UInt64, payload: [UInt8]) { (tag, payload(tag)) }

    static func records(_ numbers: Range<Int>, length: Int = 100) -> [(tag: UInt64, payload: [UInt8])] {
        numbers.map { record(tag($0, length: length)) }
    }

    /// The tags of the records that a folder has. One that is damaged is none, as for the cache itself.
    static func tags(_ folder: CacheFolder, _ index: CacheDiskIndex) throws -> [UInt64] {
        try index.entries.compactMap { try read($0.tag, $0.place, in: folder) }.sorted()
    }

    /// - Returns: The tag if the record is there.
    static func read(_ tag: UInt64, _ place: CachePlace, in folder: CacheFolder) throws -> UInt64? {
        guard let bytes = try folder.read(place, tag: tag), bytes.count >= 8 else { return nil }
        guard bytes.suffix(8).elementsEqual(check(Array(bytes.dropLast(8)), tag)) else { return nil }
        #expect(bytes == payload(tag), "\(tag)")
        return tag
    }

    /// What a process finds that opens the folder now.
    func found(segmentSize: Int? = 4096) throws -> [UInt64] {
        let folder = try open(segmentSize: segmentSize)
        return try CacheSegmentScene.tags(folder, try folder.load())
    }
}
