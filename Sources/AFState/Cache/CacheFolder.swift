import AFLoop
import Glibc

/// The folder of a cache on disk: segments with many records each, of this user alone. Every method may wait for the
/// disk, and all of them are called under one lock; any number of processes use the folder at a time.
///
/// Records are only appended, by the one process that has locked their segment, and marked as dead in place, by any. So
/// whatever a process is killed at, it leaves complete records, and at the end of one file perhaps a part of one. Nothing
/// is synced: a cache may be lost, and what a power failure left of a payload fails the checksum that its owner puts
/// there.
package final class CacheFolder {
    /// What became known since the last time. Remove first, then add: a number may be used again.
    struct Changes {
        var added: [CacheDiskIndex.Entry] = []
        var removed: [UInt16] = []
    }

    struct Usage: Equatable {
        /// What the disk gives away.
        let bytes: Int
        let files: Int
    }

    /// The segment to which this process appends; it is locked as long as the file is open.
    struct Active {
        let number: UInt16
        let file: DiskFile
        var records: [CacheRecord]
    }

    /// Every incompatible format of these files has its own number.
    package static let name = "AFURLSession-cache-3"
    /// The longest payload that can be stored.
    static let payloadLimit = CachePlace.lengthLimit - 64

    let folder: Folder
    private let home: CacheHome
    /// For how many bytes the segments are meant.
    var capacity: Int
    /// The oldest segments are removed if there are more.
    var fileLimit = 2000
    private let fixedSegmentSize: Int?
    var segments: [UInt16: CacheSegment] = [:]
    private(set) var numbers: [CacheSegment.Name: UInt16] = [:]
    private var lastNumber: UInt16 = 0
    var active: Active?
    var unreported = Changes()
    /// What former revisions have left is looked for in these.
    lazy var formerHomes = [home.path] + home.former

    /// Opens the folder in its home, and makes it for this user alone where it is missing. A folder that other users
    /// could access is refused.
    ///
    /// - Parameter segmentSize: Nil for one that suits the capacity.
    init(in home: CacheHome, capacity: Int, segmentSize: Int? = nil) throws(SystemCallError) {
        self.home = home
        self.capacity = capacity
        fixedSegmentSize = segmentSize
        folder = try CacheFolder.makeFolder(home.path, levels: home.levels).ownFolder(named: CacheFolder.name)
        guard try folder.status().isPrivate else { throw SystemCallError(.open, code: EPERM) }
        _ = removeFormerLayouts(atMost: 100)
    }

    /// Opens the folder only if it exists, to remove what is in it.
    convenience init(existingIn home: CacheHome, capacity: Int) throws(SystemCallError) {
        _ = try Folder(path: home.path).folder(named: CacheFolder.name)
        try self.init(in: CacheHome(path: home.path, levels: 0, former: home.former), capacity: capacity)
    }

    private static func makeFolder(_ path: String, levels: Int) throws(SystemCallError) -> Folder {
        do throws(SystemCallError) {
            return try Folder(path: path)
        } catch {
            let trimmed = path.utf8.last == UInt8(ascii: "/") ? String(path.dropLast()) : path
            guard error.code == ENOENT, levels > 0, let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else {
                throw error
            }
            let parent = String(trimmed[..<slash])
            let name = String(trimmed[trimmed.utf8.index(after: slash)...])
            guard !name.isEmpty, name != ".", name != ".." else { throw error }
            return try makeFolder(parent.isEmpty ? "/" : parent, levels: levels - 1).ownFolder(named: name)
        }
    }

    /// Whether the folder was removed or has lost its name. File systems report different errors for the use of a
    /// removed folder.
    var isGone: Bool {
        guard let there = try? Folder(path: home.path).status(of: CacheFolder.name),
            let own = try? folder.status()
        else { return true }
        return there.identity != own.identity
    }

    /// Whether there is no such folder, and so no record in it.
    static func isMissing(in parent: String) -> Bool {
        do throws(SystemCallError) {
            _ = try Folder(path: parent).status(of: CacheFolder.name)
            return false
        } catch {
            return error.code == ENOENT || error.code == ENOTDIR
        }
    }

    /// How long a segment becomes, unless a single record is longer. There are at most 1,500 segments in a full cache,
    /// so that those of a very large one are longer than 4 MiB.
    var segmentSize: Int {
        fixedSegmentSize ?? min(max(capacity / 32, 1 << 16), max(1 << 22, min(capacity / 1500, 1 << 25)))
    }

    /// What the file system has left for this user.
    func freeSpace() throws(SystemCallError) -> Int64 { try folder.freeSpace() }

    // MARK: - Following other processes

    /// All records of the folder. Some of them may be dead.
    func load() throws(SystemCallError) -> CacheDiskIndex {
        for number in Array(segments.keys) where number != active?.number { drop(number) }
        unreported = Changes()
        if let active { unreported.added = active.records.compactMap { entry($0, in: active.number) } }
        try look()
        defer { unreported = Changes() }
        return CacheDiskIndex(unreported.added)
    }

    /// What other processes appended and removed since the last time, and what ``append(_:)`` wrote before it failed.
    func refresh() throws(SystemCallError) -> Changes {
        try look()
        defer { unreported = Changes() }
        return unreported
    }

    /// Looks which segments there are, and at those that may have grown.
    func look() throws(SystemCallError) {
        var present: Set<CacheSegment.Name> = []
        for text in try folder.listed() {
            guard let name = CacheSegment.Name(text) else { continue }
            present.insert(name)
            if let number = numbers[name] { try follow(number) } else { try take(name) }
        }
        for (name, number) in numbers where !present.contains(name) { lose(number) }
    }

    private func take(_ name: CacheSegment.Name) throws(SystemCallError) {
        guard let file = try openForReading(name) else { return }
        let status = try file.status()
        guard status.isRegular, status.isPrivate, let number = add(name) else { return }
        do throws(SystemCallError) {
            try read(number, file: file, status: status)
        } catch {
            drop(number)
            throw error
        }
    }

    private func follow(_ number: UInt16) throws(SystemCallError) {
        guard let segment = segments[number], !segment.isSealed, active?.number != number else { return }
        let there = try unlessGone { () throws(SystemCallError) in try folder.status(of: segment.name.text) }
        guard let there else { return lose(number) }
        segments[number]?.allocated = Int(there.allocated)
        guard there.size != segment.size else { return }
        guard let file = try openForReading(segment.name) else { return lose(number) }
        let status = try file.status()
        guard status.isRegular, status.isPrivate, status.size >= segment.end else {
            // It was emptied, since it could not be removed, or damaged.
            lose(number)
            return try take(segment.name)
        }
        try read(number, file: file, status: status)
    }

    /// Nil if another process has removed the segment.
    private func openForReading(_ name: CacheSegment.Name) throws(SystemCallError) -> DiskFile? {
        try unlessGone { () throws(SystemCallError) in try folder.openFileForReading(named: name.text) }
    }

    /// Takes note of the records behind those that are known.
    ///
    /// - Parameter body: Gets each record of an unsealed segment, also the known ones if there is a body at all.
    func read(
        _ number: UInt16,
        file: DiskFile,
        status: FileStatus,
        body: ((CacheRecord) -> Void)? = nil
    ) throws(SystemCallError) {
        guard var segment = segments[number] else { return }
        let size = Int(clamping: status.size)
        // Taken out and put back: there may be many.
        var added: [CacheDiskIndex.Entry] = []
        swap(&added, &unreported.added)
        let known = added.count
        var isRead = false
        defer {
            if !isRead { added.removeSubrange(known...) }
            swap(&added, &unreported.added)
        }
        let footer = try CacheFooter.read(file, size: size, key: segment.name.key) { tag, offset, length in
            guard offset >= segment.end, let place = CachePlace(segment: number, offset: offset, length: length) else {
                return
            }
            added.append(CacheDiskIndex.Entry(tag: tag, place: place))
        }
        let start = body == nil ? segment.end : 0
        let end =
            if let footer { footer } else {
                try CacheRecord.scan(file, from: start, to: size, key: segment.name.key) { record in
                    body?(record)
                    guard record.isLive, record.offset >= segment.end else { return }
                    if let entry = entry(record, in: number) { added.append(entry) }
                }
            }
        segment.isSealed = footer != nil
        (segment.end, segment.size, segment.allocated) = (max(segment.end, end), size, Int(status.allocated))
        segments[number] = segment
        isRead = true
    }

    func entry(_ record: CacheRecord, in number: UInt16) -> CacheDiskIndex.Entry? {
        CachePlace(segment: number, offset: record.offset, length: record.length)
            .map { CacheDiskIndex.Entry(tag: record.tag, place: $0) }
    }

    // MARK: - Numbers

    /// - Returns: The number of a new segment; nil if there are too many files.
    func add(_ name: CacheSegment.Name) -> UInt16? {
        guard segments.count < Int(UInt16.max) - 1 else { return nil }
        repeat { lastNumber &+= 1 } while lastNumber == 0 || segments[lastNumber] != nil
        segments[lastNumber] = CacheSegment(name: name)
        numbers[name] = lastNumber
        return lastNumber
    }

    func drop(_ number: UInt16) {
        guard let segment = segments.removeValue(forKey: number) else { return }
        numbers[segment.name] = nil
        if active?.number == number { active = nil }
        unreported.added.removeAll { $0.place.segment == number }
    }

    /// Another process has removed the segment.
    func lose(_ number: UInt16) {
        drop(number)
        unreported.removed.append(number)
    }
}
