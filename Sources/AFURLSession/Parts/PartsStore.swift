import AFLoop
import AFState
import AFTLS
import AFTransport
import AFURLTypes
import Foundation
import Glibc

/// The file of a download in parts. One job at a time uses it, away from the loop.
///
/// Until it is complete, it stands beside the file that was asked for, as `<name>.parts`, with its record behind the bytes
/// (`PartsRecord`). It gets that name when its record is there, and is locked as long as a download uses it.
struct PartsStore: Sendable {
    /// The extension of a file that is not complete.
    static let suffix = ".parts"

    /// Of the file that was asked for.
    private let path: String
    private var folder: Folder?
    private var file: DiskFile?
    private var hasName = false
    /// The number of the record that was written last.
    private var number: UInt64 = 0

    init(path: String) {
        self.path = path
    }

    private var place: (folder: String, name: String) {
        ((path as NSString).deletingLastPathComponent, (path as NSString).lastPathComponent)
    }

    private var partName: String { place.name + PartsStore.suffix }

    private func checked<Value>(
        _ fault: FileFailure.Fault,
        _ work: () throws(SystemCallError) -> Value
    ) throws(PartsFailure) -> Value {
        do throws(SystemCallError) {
            return try work()
        } catch {
            throw .file(FileFailure(fault, at: path, cause: error))
        }
    }

    // MARK: - Opening

    /// Opens what an earlier download has left, or makes a file.
    ///
    /// - Returns: From where the download goes on; nil if it begins anew.
    mutating func open(from source: [UInt8]) throws(PartsFailure) -> PartsRecord? {
        let (path, name) = (place.folder, partName)
        let folder = try checked(.openFolder) { () throws(SystemCallError) in try Folder(path: path) }
        self.folder = folder
        while let found = try openedEarlier(in: folder) {
            try lock(found)
            // The download that had it locked may just have ended.
            guard try isPresent(found, in: folder) else { continue }
            let record = try record(of: found)
            (file, hasName) = (found, true)
            if let record, record.source == source, record.boot == nil || record.boot == PartsStore.boot {
                return record
            }
            try checked(.write) { () throws(SystemCallError) in try found.truncate(to: 0) }
            number = 0
            return nil
        }
        (file, hasName) = try checked(.create) { () throws(SystemCallError) in try folder.makeFile(named: name) }
        if let file { try lock(file) }
        return nil
    }

    private func openedEarlier(in folder: Folder) throws(PartsFailure) -> DiskFile? {
        do throws(SystemCallError) {
            return try folder.openFile(named: partName)
        } catch {
            guard error.code == ENOENT else { throw .file(FileFailure(.create, at: path, cause: error)) }
            return nil
        }
    }

    private func lock(_ file: DiskFile) throws(PartsFailure) {
        do throws(SystemCallError) {
            try file.lock()
        } catch {
            guard error.code == EWOULDBLOCK else { throw .file(FileFailure(.create, at: path, cause: error)) }
            throw .inUse(path: path)
        }
    }

    private func isPresent(_ file: DiskFile, in folder: Folder) throws(PartsFailure) -> Bool {
        try checked(.create) { () throws(SystemCallError) in
            let status = try file.status()
            return (try? folder.status(of: partName).identity) == status.identity
        }
    }

    /// Nil if the file is empty.
    private mutating func record(of file: DiskFile) throws(PartsFailure) -> PartsRecord? {
        let status = try checked(.create) { () throws(SystemCallError) in try file.status() }
        guard status.isRegular else { throw .taken(path: path + PartsStore.suffix) }
        guard status.size > 0 else { return nil }
        let start = status.size - 2 * Int64(PartsRecord.slotSize)
        guard start >= 0 else { throw .taken(path: path + PartsStore.suffix) }
        let slots = try checked(.create) { () throws(SystemCallError) in
            try file.bytes(at: start, count: 2 * PartsRecord.slotSize)
        }
        guard let (record, number) = PartsRecord.latest(in: slots), record.total == start else {
            throw .taken(path: path + PartsStore.suffix)
        }
        self.number = number
        return record
    }

    /// Tells one start of the system from another; if the system does not say, one process from another.
    private static let boot: [UInt8] =
        (try? DiskFile(reading: "/proc/sys/kernel/random/boot_id").bytes(at: 0, count: 36))
        ?? Array(((try? FileToken.random()) ?? "").utf8)

    // MARK: - Writing

    /// Makes the file as long as it will be, and gives it its name.
    mutating func prepare(_ record: PartsRecord) throws(PartsFailure) {
        guard let file, let folder else { return }
        let length = record.total + 2 * Int64(PartsRecord.slotSize)
        try checked(.write) { () throws(SystemCallError) in
            try file.truncate(to: length)
            try file.allocate(length)
        }
        try save(record)
        try name(file, in: folder)
    }

    private mutating func name(_ file: DiskFile, in folder: Folder) throws(PartsFailure) {
        guard !hasName else { return }
        let name = partName
        try checked(.name) { () throws(SystemCallError) in try file.link(as: name, in: folder) }
        hasName = true
    }

    func write(_ pieces: [LentBytes], at offset: Int64) throws(PartsFailure) {
        guard let file else { return }
        var written: Int64 = 0
        try checked(.write) { () throws(SystemCallError) in
            try file.write(pieces.map(\.bytes), at: offset, written: &written)
        }
    }

    /// Writes down what is missing.
    ///
    /// - Parameter isOnDisk: Whether the system has nothing left to write.
    mutating func save(_ record: PartsRecord, isOnDisk: Bool = false) throws(PartsFailure) {
        var record = record
        record.boot = isOnDisk ? nil : PartsStore.boot
        guard let file, let bytes = record.encoded(number: number + 1) else { return }
        number += 1
        let offset = record.total + Int64(number % 2) * Int64(PartsRecord.slotSize)
        var written: Int64 = 0
        let failure = bytes.withUnsafeBytes { bytes in
            do throws(SystemCallError) {
                try file.write([bytes], at: offset, written: &written)
                return SystemCallError?.none
            } catch {
                return error
            }
        }
        if let failure { throw .file(FileFailure(.write, at: path, cause: failure)) }
    }

    // MARK: - The end

    /// Leaves the file for another download, which may come after the next start of the system.
    mutating func leave(_ record: PartsRecord?) {
        defer { close() }
        guard number > 0 else { return discard() }
        guard hasName, let record, let file, (try? save(record)) != nil, (try? file.sync()) != nil else { return }
        try? save(record, isOnDisk: true)
    }

    /// Completes the file, and gives it its name. A file that has that name already is replaced. If that fails, another
    /// download may give it its name; a file with another digest is removed.
    ///
    /// - Parameter record: Says that nothing is missing. Nil if the file has none.
    mutating func publish(
        length: Int64,
        digest expected: FileDigest?,
        record: PartsRecord?
    ) throws(PartsFailure) {
        guard let file, let folder else { return }
        do throws(PartsFailure) {
            if let expected { try verify(file, length: length, against: expected) }
            try checked(.write) { () throws(SystemCallError) in try file.truncate(to: length) }
            try name(file, in: folder)
            let (partName, name) = (partName, place.name)
            try checked(.name) { () throws(SystemCallError) in try folder.replace(name, with: partName) }
        } catch {
            if case .digest = error { discard() } else { restore(record, of: file, length: length) }
            throw error
        }
        hasName = false
        self.file = nil
        try checked(.close) { () throws(SystemCallError) in try file.close() }
    }

    /// The record may have gone with the end of the file.
    private mutating func restore(_ record: PartsRecord?, of file: DiskFile, length: Int64) {
        try? file.truncate(to: length + 2 * Int64(PartsRecord.slotSize))
        leave(record)
    }

    private func verify(_ file: DiskFile, length: Int64, against expected: FileDigest) throws(PartsFailure) {
        let digest = MessageDigest(sha: expected.bits)
        var offset: Int64 = 0
        while offset < length {
            let bytes = try checked(.read) { () throws(SystemCallError) in
                try file.bytes(at: offset, count: Int(min(length - offset, 1 << 20)))
            }
            guard !bytes.isEmpty else { break }
            digest?.add(bytes)
            offset += Int64(bytes.count)
        }
        let found = digest?.finish().flatMap { FileDigest($0) }
        guard found == expected else { throw .digest(expected: expected, found: found) }
    }

    /// Removes what there is of the file. Another can be opened.
    mutating func discard() {
        if hasName { try? folder?.remove(partName) }
        close()
    }

    private mutating func close() {
        try? file?.close()
        (file, hasName, number) = (nil, false, 0)
    }
}
