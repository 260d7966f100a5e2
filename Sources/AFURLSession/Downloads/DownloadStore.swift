import AFLoop
import Foundation

/// The file of one download. Used by one job at a time, away from the loop.
struct DownloadStore: Sendable {
    /// A file that was made.
    private struct Made: Sendable {
        let folder: DownloadFolder
        let file: DiskFile
        /// Its name while it is under way, where it needs one.
        var name: String?
    }

    private let parent: String
    private var made: Made?
    /// The complete file, until somebody else answers for it.
    private var published: PublishedFile?
    /// Bytes the file holds.
    private(set) var length: Int64 = 0

    init(in parent: String) {
        self.parent = parent
    }

    /// Writes to the end of the file, which is made for the first bytes.
    mutating func append(_ pieces: [LentBytes]) throws(FileFailure) {
        let made = try opened()
        var written: Int64 = 0
        defer { length += written }
        do throws(SystemCallError) {
            try made.file.write(pieces.map(\.bytes), at: length, written: &written)
        } catch {
            throw FileFailure(.write, in: made.folder.path, error)
        }
    }

    private mutating func opened() throws(FileFailure) -> Made {
        if let made { return made }
        let folder = try DownloadFolder(in: parent)
        do throws(SystemCallError) {
            let name = try DownloadFolder.randomToken() + DownloadFolder.Kind.underWay.rawValue
            let (file, hasName) = try folder.folder.makeFile(named: name)
            if hasName { try? file.lock() }
            let made = Made(folder: folder, file: file, name: hasName ? name : nil)
            self.made = made
            return made
        } catch {
            throw FileFailure(.create, in: folder.path, error)
        }
    }

    /// The download is complete: gives the file a name for its user.
    mutating func publish() throws(FileFailure) -> PublishedFile {
        let made = try opened()
        do throws(SystemCallError) {
            let name = try DownloadFolder.randomToken() + DownloadFolder.Kind.done.rawValue
            let identity = try made.file.status().identity
            try rename(made, to: name)
            self.made?.name = name
            try self.close(made)
            self.made = nil
            let file = PublishedFile(folder: made.folder, name: name, identity: identity)
            published = file
            return file
        } catch {
            throw FileFailure(error.call == .close ? .close : .name, in: made.folder.path, error)
        }
    }

    private func rename(_ made: Made, to name: String) throws(SystemCallError) {
        guard let former = made.name else { return try made.file.link(as: name, in: made.folder.folder) }
        try made.folder.folder.rename(former, to: name)
    }

    private func close(_ made: Made) throws(SystemCallError) {
        do throws(SystemCallError) {
            try made.file.close()
        } catch {
            guard error.code != EINTR else { return }
            throw error
        }
    }

    /// Nobody wants the file any more.
    mutating func discard() {
        published?.removeIfThere()
        published = nil
        guard let made else { return }
        if let name = made.name { try? made.folder.folder.remove(name) }
        try? made.file.close()
        self.made = nil
        length = 0
    }
}

/// A download that is complete, by the name its user gets.
struct PublishedFile: Sendable {
    private let folder: DownloadFolder
    private let name: String
    private let identity: FileStatus.Identity

    init(folder: DownloadFolder, name: String, identity: FileStatus.Identity) {
        self.folder = folder
        self.name = name
        self.identity = identity
    }

    var url: URL { URL(fileURLWithPath: "\(folder.path)/\(name)", isDirectory: false) }

    /// Removes the file, unless it was moved and something else has its name now.
    func removeIfThere() {
        guard let status = try? folder.folder.status(of: name), status.identity == identity else { return }
        try? folder.folder.remove(name)
    }
}
