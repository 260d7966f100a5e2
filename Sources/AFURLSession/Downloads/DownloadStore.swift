import AFBase
import AFLoop
import AFTransport
import Glibc

/// The file of one download. One job at a time uses it, away from the loop.
struct DownloadStore: Sendable {
    /// A file that was made.
    private struct Made: Sendable {
        var folder: DownloadFolder
        let file: DiskFile
        /// What all its names begin with.
        let token: String
        /// Its name; nil while the file system needs none.
        var name: String?
    }

    /// How many bytes at the end of a part are checked again.
    private static let checkedTail: Int64 = 64 << 10

    private let place: DownloadPlace
    private var made: Made?
    /// The complete file, until another owner is responsible for it.
    private var published: PublishedFile?
    /// How many bytes the file has.
    private(set) var length: Int64 = 0
    /// The part that was kept last.
    private var kept: Made?
    /// Bytes could not be stored, so bytes after them cannot be stored either.
    private var failure: FileFailure?

    init(in place: DownloadPlace) {
        self.place = place
    }

    /// Writes to the end of the file, and makes the file for the first bytes.
    mutating func append(_ pieces: [LentBytes]) throws(FileFailure) {
        if let failure { throw failure }
        do throws(FileFailure) {
            try write(pieces, to: opened())
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func write(_ pieces: [LentBytes], to made: Made) throws(FileFailure) {
        var written: Int64 = 0
        defer { length += written }
        do throws(SystemCallError) {
            try made.file.write(pieces.map(\.bytes), at: length, written: &written)
        } catch {
            throw FileFailure(.write, at: made.folder.path, cause: error)
        }
    }

    private mutating func opened() throws(FileFailure) -> Made {
        if let made { return made }
        let folder = try place.folder()
        do throws(SystemCallError) {
            let token = try FileToken.random()
            let name = token + DownloadFolder.Kind.underWay.rawValue
            let (file, hasName) = try folder.folder.makeFile(named: name)
            if hasName { try? file.lock() }
            let made = Made(folder: folder, file: file, token: token, name: hasName ? name : nil)
            self.made = made
            return made
        } catch {
            throw FileFailure(.create, at: folder.path, cause: error)
        }
    }

    /// Completes the download: gives the file the name under which its receiver gets it.
    mutating func publish() throws(FileFailure) -> PublishedFile {
        var made = try opened()
        do throws(SystemCallError) {
            let identity = try made.file.status().identity
            try name(&made, as: .done)
            try made.file.close()
            self.made = nil
            let file = PublishedFile(folder: made.folder, token: made.token, identity: identity)
            published = file
            return file
        } catch {
            throw FileFailure(error.call == .close ? .close : .name, at: made.folder.path, cause: error)
        }
    }

    private mutating func name(_ made: inout Made, as kind: DownloadFolder.Kind) throws(SystemCallError) {
        let name = made.token + kind.rawValue
        if let former = made.name {
            try made.folder.folder.rename(former, to: name)
        } else {
            try link(&made, as: name)
        }
        made.name = name
        self.made = made
    }

    /// A file without a name outlives its folder. If that was removed, the file gets its name in the next one.
    private func link(_ made: inout Made, as name: String) throws(SystemCallError) {
        do throws(SystemCallError) {
            try made.file.link(as: name, in: made.folder.folder)
        } catch {
            guard error.code == ENOENT, let next = try? place.folder() else { throw error }
            try made.file.link(as: name, in: next.folder)
            made.folder = next
        }
    }

    /// Removes the file.
    mutating func discard() {
        published?.removeIfThere()
        published = nil
        guard let made else { return }
        if let name = made.name { try? made.folder.folder.remove(name) }
        try? made.file.close()
        self.made = nil
        length = 0
        failure = nil
    }
}

// MARK: - Parts

extension DownloadStore {
    /// Keeps the written bytes to be resumed later. Nil, and nothing is kept, if there are none, the disk fails, or
    /// `describe` returns nil. A complete file whose receiver has not got it is kept too.
    ///
    /// - Parameters:
    ///   - limit: Bytes beyond it are dropped.
    ///   - describe: Describes the part for resuming it.
    mutating func keep<Description>(
        upTo limit: Int64? = nil,
        describe: (KeptPart) -> Description?
    ) -> Description? {
        let description = (try? makePart(upTo: limit)).flatMap(describe)
        if description == nil { discard() }
        kept = made
        made = nil
        published = nil
        length = 0
        return description
    }

    /// Removes the part that was kept.
    mutating func discardPart() {
        if let kept, let name = kept.name { try? kept.folder.folder.remove(name) }
        kept = nil
    }

    private mutating func makePart(upTo limit: Int64?) throws(SystemCallError) -> KeptPart? {
        guard var made = try takenBack() else { return nil }
        if let limit, limit < length {
            try made.file.truncate(to: limit)
            length = limit
        }
        guard length > 0 else { return nil }
        let digest = try DownloadStore.digest(of: made.file, length: length)
        try name(&made, as: .partial)
        let modified = try made.file.status().modified
        try made.file.close()
        return KeptPart(token: made.token, length: length, modified: modified, digest: digest)
    }

    /// The file, even if it is complete already.
    private func takenBack() throws(SystemCallError) -> Made? {
        guard made == nil, let published else { return made }
        return Made(
            folder: published.folder,
            file: try published.reopened(),
            token: published.token,
            name: published.name
        )
    }

    /// Opens a part that was kept, to resume it. False, and the part is unchanged, if it is missing or was changed, or
    /// if another task has resumed it already.
    mutating func reopen(_ record: ResumeRecord) -> Bool {
        (try? opened(record)) ?? false
    }

    private mutating func opened(_ record: ResumeRecord) throws -> Bool {
        let folder = try place.folder()
        let name = record.token + DownloadFolder.Kind.partial.rawValue
        let file = try folder.folder.openFile(named: name)
        try file.lock()
        let status = try file.status()
        guard status.isRegular, status.isPrivate, status.size == record.point.offset,
            status.modified == record.modified,
            try DownloadStore.digest(of: file, length: status.size) == record.digest
        else { return false }
        let taken = record.token + DownloadFolder.Kind.underWay.rawValue
        try folder.folder.rename(name, to: taken)
        // Another process may have replaced the file since it was opened.
        guard (try? folder.folder.status(of: taken).identity) == status.identity else {
            try? folder.folder.rename(taken, to: name)
            return false
        }
        made = Made(folder: folder, file: file, token: record.token, name: taken)
        length = status.size
        return true
    }

    private static func digest(of file: DiskFile, length: Int64) throws(SystemCallError) -> UInt64 {
        let start = max(0, length - checkedTail)
        var bytes = [UInt8](repeating: 0, count: Int(length - start))
        var failure: SystemCallError?
        var count = 0
        bytes.withUnsafeMutableBytes { buffer in
            do throws(SystemCallError) { count = try file.read(into: buffer, at: start) } catch { failure = error }
        }
        if let failure { throw failure }
        guard count == bytes.count else { throw SystemCallError(.pread, code: EIO) }
        return FNV1a.of(bytes)
    }
}
