import AFBase
import AFLoop
import AFTransport
import Glibc

/// The file of one download. One job at a time uses it, away from the loop.
struct DownloadStore: Sendable {
    /// A file that was made.
    private struct Made: Sendable {
        let folder: DownloadFolder
        let file: DiskFile
        /// The name of the file under way; nil if the file system needs none.
        var name: String?
    }

    /// How many bytes at the end of a part are checked again.
    private static let checkedTail: Int64 = 64 << 10

    private let parent: String
    private var made: Made?
    /// The complete file, until another owner is responsible for it.
    private var published: PublishedFile?
    /// How many bytes the file has.
    private(set) var length: Int64 = 0
    /// The name of the part that was resumed.
    private var token: String?
    /// The part that was kept last.
    private var kept: Made?
    /// Bytes could not be stored, so bytes after them cannot be stored either.
    private var failure: FileFailure?

    init(in parent: String) {
        self.parent = parent
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
        let folder = try DownloadFolder(in: parent)
        do throws(SystemCallError) {
            let name = try FileToken.random() + DownloadFolder.Kind.underWay.rawValue
            let (file, hasName) = try folder.folder.makeFile(named: name)
            if hasName { try? file.lock() }
            let made = Made(folder: folder, file: file, name: hasName ? name : nil)
            self.made = made
            return made
        } catch {
            throw FileFailure(.create, at: folder.path, cause: error)
        }
    }

    /// Completes the download: gives the file the name under which its receiver gets it.
    mutating func publish() throws(FileFailure) -> PublishedFile {
        let made = try opened()
        do throws(SystemCallError) {
            let name = try FileToken.random() + DownloadFolder.Kind.done.rawValue
            let identity = try made.file.status().identity
            try rename(made, to: name)
            self.made?.name = name
            try made.file.close()
            self.made = nil
            let file = PublishedFile(folder: made.folder, name: name, identity: identity)
            published = file
            return file
        } catch {
            throw FileFailure(error.call == .close ? .close : .name, at: made.folder.path, cause: error)
        }
    }

    private func rename(_ made: Made, to name: String) throws(SystemCallError) {
        guard let former = made.name else { return try made.file.link(as: name, in: made.folder.folder) }
        try made.folder.folder.rename(former, to: name)
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
        token = nil
        failure = nil
    }
}

// MARK: - Parts

extension DownloadStore {
    /// Keeps the written bytes to be resumed later. Nil, and nothing is kept, if there are none, the disk fails, or
    /// `describe` returns nil.
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
        length = 0
        token = nil
        return description
    }

    /// Removes the part that was kept.
    mutating func discardPart() {
        if let kept, let name = kept.name { try? kept.folder.folder.remove(name) }
        kept = nil
    }

    private mutating func makePart(upTo limit: Int64?) throws(SystemCallError) -> KeptPart? {
        guard let made else { return nil }
        if let limit, limit < length {
            try made.file.truncate(to: limit)
            length = limit
        }
        guard length > 0 else { return nil }
        var token = self.token ?? ""
        if token.isEmpty { token = try FileToken.random() }
        let digest = try DownloadStore.digest(of: made.file, length: length)
        let name = token + DownloadFolder.Kind.partial.rawValue
        try rename(made, to: name)
        self.made?.name = name
        let modified = try made.file.status().modified
        try made.file.close()
        return KeptPart(token: token, length: length, modified: modified, digest: digest)
    }

    /// Opens a part that was kept, to resume it. False, and the part is unchanged, if it is missing or was changed, or
    /// if another task has resumed it already.
    mutating func reopen(_ record: ResumeRecord) -> Bool {
        (try? opened(record)) ?? false
    }

    private mutating func opened(_ record: ResumeRecord) throws -> Bool {
        let folder = try DownloadFolder(in: parent)
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
        made = Made(folder: folder, file: file, name: taken)
        length = status.size
        token = record.token
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
