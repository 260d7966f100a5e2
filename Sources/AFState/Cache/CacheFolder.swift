import AFLoop
import Glibc

/// The folder of a cache on disk. Each file has the name of its entry, and is complete or not there at all. Every
/// method may wait for the disk.
///
/// A file gets its name only when it is written, and replaces the one of that name in the same step. Nothing is synced:
/// a cache may be lost, and a file that a power failure left incomplete fails its checksum.
package struct CacheFolder {
    struct Found {
        let id: CacheEntryID
        let size: Int
        /// Nanoseconds since 1970.
        let used: Int64
    }

    /// Seconds after which a file without its final name belongs to a process that has died.
    private static let temporaryLifetime: Int64 = 3600
    /// Every incompatible format of these files has its own number.
    package static let name = "AFURLSession-cache-2"

    private let folder: Folder
    private let parent: String

    /// Opens the folder in `parent`, and makes both for this user alone where they are missing. A folder that other
    /// users could access is refused.
    init(in parent: String) throws(SystemCallError) {
        self.parent = parent
        folder = try CacheFolder.makeFolder(parent).ownFolder(named: CacheFolder.name)
        guard try folder.status().isPrivate else { throw SystemCallError(.open, code: EPERM) }
    }

    /// Whether the folder was removed or has lost its name. File systems report different errors for the use of a
    /// removed folder.
    var isGone: Bool {
        guard let there = try? Folder(path: parent).status(of: CacheFolder.name),
            let own = try? folder.status()
        else { return true }
        return there.identity != own.identity
    }

    /// Opens the folder only if it exists, to remove files in it.
    init(existingIn parent: String) throws(SystemCallError) {
        guard try Folder(path: parent).status(of: CacheFolder.name).isFolder else {
            throw SystemCallError(.open, code: ENOTDIR)
        }
        try self.init(in: parent)
    }

    /// Whether there is no such folder, and so no entry in it.
    static func isMissing(in parent: String) -> Bool {
        do throws(SystemCallError) {
            _ = try Folder(path: parent).status(of: CacheFolder.name)
            return false
        } catch {
            return error.code == ENOENT || error.code == ENOTDIR
        }
    }

    private static func makeFolder(_ path: String) throws(SystemCallError) -> Folder {
        do throws(SystemCallError) {
            return try Folder(path: path)
        } catch {
            let trimmed = path.utf8.last == UInt8(ascii: "/") ? String(path.dropLast()) : path
            guard error.code == ENOENT, let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { throw error }
            let parent = String(trimmed[..<slash])
            let name = String(trimmed[trimmed.utf8.index(after: slash)...])
            guard !name.isEmpty, name != ".", name != ".." else { throw error }
            return try makeFolder(parent.isEmpty ? "/" : parent).ownFolder(named: name)
        }
    }

    // MARK: - Files

    func write(_ bytes: [UInt8], as name: String) throws(SystemCallError) {
        let temporary = try CacheFolder.temporaryName()
        let (file, hasName) = try folder.makeFile(named: temporary)
        var isNamed = hasName
        do throws(SystemCallError) {
            try CacheFolder.fill(file, with: bytes)
            if !hasName { try file.link(as: temporary, in: folder) }
            isNamed = true
            try folder.replace(name, with: temporary)
            isNamed = false
            try file.close()
        } catch {
            if isNamed { try? folder.remove(temporary) }
            throw error
        }
    }

    private static func temporaryName() throws(SystemCallError) -> String {
        let digest = CacheDigest(of: try SystemRandom.bytes(16))
        return digest.text + ".tmp"
    }

    private static func fill(_ file: DiskFile, with bytes: [UInt8]) throws(SystemCallError) {
        var failure: SystemCallError?
        bytes.withUnsafeBytes { buffer in
            var written: Int64 = 0
            do throws(SystemCallError) {
                try file.write([buffer], at: 0, written: &written)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// All bytes of a file. Nil if it is not a private file of this user, or longer than `limit`.
    ///
    /// - Parameter marksUse: Whether the file counts as used now, also for other processes.
    func read(_ name: String, limit: Int, marksUse: Bool) throws(SystemCallError) -> [UInt8]? {
        let file = try folder.openFile(named: name)
        let status = try file.status()
        guard status.isRegular, status.isPrivate, status.size <= Int64(limit) else { return nil }
        if marksUse { try? file.touch() }
        var failure: SystemCallError?
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.size)) { buffer, count in
            do throws(SystemCallError) {
                count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// - Returns: Whether the name has no entry any more: a file that cannot be removed is emptied.
    @discardableResult
    func remove(_ name: String) -> Bool {
        do throws(SystemCallError) {
            try folder.remove(name)
            return true
        } catch {
            return error.code == ENOENT || (try? empty(name)) != nil
        }
    }

    private func empty(_ name: String) throws(SystemCallError) {
        let file = try folder.openFile(named: name)
        let status = try file.status()
        guard status.isRegular, status.isPrivate else { throw SystemCallError(.open, code: EPERM) }
        try file.truncate(to: 0)
    }

    // MARK: - Listing

    /// The entries, the latest used last. Unfinished files that other processes left behind are removed.
    ///
    /// - Parameter wall: Now, in seconds since 1970.
    func scan(wall: Int64) throws(SystemCallError) -> [Found] {
        var found: [Found] = []
        for name in try folder.listed() {
            let id = CacheEntryID(name: name)
            guard id != nil || name.hasSuffix(".tmp") else { continue }
            do throws(SystemCallError) {
                let status = try folder.status(of: name)
                guard status.isRegular else { continue }
                if let id {
                    found.append(Found(id: id, size: Int(clamping: status.size), used: status.modified))
                } else if status.modified / 1_000_000_000 < wall - CacheFolder.temporaryLifetime {
                    remove(name)
                }
            } catch {
                // A caller that replaces or removes the entry must know that it is there.
                if let id, error.code != ENOENT { found.append(Found(id: id, size: 0, used: .min)) }
            }
        }
        return found.sorted { $0.used < $1.used }
    }

    /// The doomed entries in the folder; other processes may have stored some that the index does not know.
    func entries(doomedBy dooms: CacheState.Dooms) throws(SystemCallError) -> [CacheEntryID] {
        guard dooms.isAll || !dooms.keys.isEmpty else { return [] }
        return try folder.listed().compactMap { CacheEntryID(name: $0) }.filter { dooms.contains($0) }
    }

    /// Removes the files without their final names. Their processes fail to publish them.
    func removeTemporary() {
        for name in folder.names where name.hasSuffix(".tmp") { remove(name) }
    }
}
