import AFLoop
import Glibc

/// The cookie file on disk. Every method may wait for the disk: never call one on the network thread.
///
/// The file is never changed: a new one is written beside it, synced, and takes its name. If a process or the machine
/// dies at any moment, the old file or the new one is there. When two processes share a file, the last that writes
/// wins.
struct CookieFileStore: Sendable {
    let path: String
    private let folderPath: String
    private let name: String

    init(path: String) {
        self.path = path
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        folderPath = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    }

    // MARK: - Reading

    /// The cookies of the file; none if there is no file yet.
    func read() throws(CookieFileError) -> [StoredCookie] {
        guard !name.isEmpty, name != ".", name != ".." else { throw CookieFileError(.notRegular, at: path) }
        let (folder, file) = try open()
        removeLeftovers(in: folder)
        guard let file else { return [] }
        let bytes = try bytes(of: file)
        do throws(CookieFile.Flaw) {
            return try CookieFile.decode(bytes)
        } catch {
            switch error {
            case .notACookieFile: throw CookieFileError(.notACookieFile, at: path)
            case .otherVersion: throw CookieFileError(.otherVersion, at: path)
            case .damaged: throw CookieFileError(.damaged, at: path)
            }
        }
    }

    private func open() throws(CookieFileError) -> (Folder, DiskFile?) {
        do throws(SystemCallError) {
            let folder = try Folder(path: folderPath)
            do throws(SystemCallError) {
                return (folder, try folder.openFileForReading(named: name))
            } catch {
                if error.code == ENOENT { return (folder, nil) }
                throw error
            }
        } catch {
            throw CookieFileError(error.code == ELOOP ? .notRegular : .cannotOpen, at: path, cause: error)
        }
    }

    private func bytes(of file: DiskFile) throws(CookieFileError) -> [UInt8] {
        let status = try reading { () throws(SystemCallError) in try file.status() }
        if let kind = CookieFileStore.objection(to: status) { throw CookieFileError(kind, at: path) }
        let bytes = try reading { () throws(SystemCallError) in try file.readAll(Int(status.size)) }
        // This is not reported as `damaged`, which would allow replacing the file: the rest may be readable the next
        // time.
        guard bytes.count == Int(status.size) else { throw CookieFileError(.cannotRead, at: path) }
        return bytes
    }

    private func reading<Value>(_ body: () throws(SystemCallError) -> Value) throws(CookieFileError) -> Value {
        do throws(SystemCallError) {
            return try body()
        } catch {
            throw CookieFileError(.cannotRead, at: path, cause: error)
        }
    }

    private static func objection(to status: FileStatus) -> CookieFileError.Kind? {
        if !status.isRegular { return .notRegular }
        if !status.isPrivate { return .notPrivate }
        return status.size > CookieFile.maximumLength ? .tooLong : nil
    }

    // MARK: - Writing

    /// Replaces the file. If that fails, the old file is unchanged.
    func write(_ cookies: [StoredCookie]) throws(CookieFileError) {
        do throws(SystemCallError) {
            try replace(with: CookieFile.encode(cookies))
        } catch {
            throw CookieFileError(.cannotWrite, at: path, cause: error)
        }
    }

    private func replace(with bytes: [UInt8]) throws(SystemCallError) {
        let folder = try Folder(path: folderPath)
        let temporary = "\(name).\(try FileToken.random())\(CookieFileStore.suffix)"
        let (file, isNamed) = try folder.makeFile(named: temporary)
        var hasName = isNamed
        do throws(SystemCallError) {
            // Another process takes a file that is not locked for a leftover.
            try file.lock()
            try file.writeAll(bytes)
            try file.sync()
            if !hasName {
                try file.link(as: temporary, in: folder)
                hasName = true
            }
            try folder.replace(name, with: temporary)
        } catch {
            if hasName { try? folder.remove(temporary) }
            throw error
        }
        // Without this sync the new name might not survive a power failure. The old or the new file survives in any
        // case.
        do throws(SystemCallError) {
            try folder.sync()
        } catch {
            // Not every file system can sync a folder.
            if error.code != EINVAL { throw error }
        }
    }

    private static let suffix = ".tmp"

    /// Removes the unfinished files of processes that have died. A file that is being written is locked.
    private func removeLeftovers(in folder: Folder) {
        for entry in folder.names {
            guard entry.hasPrefix(name + "."), entry.hasSuffix(CookieFileStore.suffix),
                FileToken.isToken(String(entry.dropFirst(name.utf8.count + 1).dropLast(4))),
                let file = try? folder.openFile(named: entry), (try? file.lock()) != nil
            else { continue }
            try? folder.remove(entry)
        }
    }
}

extension DiskFile {
    /// The bytes of the file: fewer than `size` if the file has become shorter meanwhile.
    func readAll(_ size: Int) throws(SystemCallError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        var span = bytes.mutableSpan
        let count = try span.withUnsafeMutableBytes { buffer throws(SystemCallError) in
            try read(into: buffer, at: 0)
        }
        return Array(bytes[..<count])
    }

    fileprivate func writeAll(_ bytes: [UInt8]) throws(SystemCallError) {
        var written: Int64 = 0
        try bytes.span.withUnsafeBytes { buffer throws(SystemCallError) in
            try write([buffer], at: 0, written: &written)
        }
    }
}
