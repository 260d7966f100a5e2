import CAFLinux
import Glibc

/// An open folder. What is done in it concerns that folder, whatever its path means by
/// then. Every method may wait for the disk: not for the network thread.
package final class Folder: Sendable {
    let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        _ = caf_close(descriptor)
    }

    package convenience init(path: String) throws(SystemCallError) {
        self.init(try Folder.check(.open, result: caf_open_folder(path)))
    }

    /// What is at the path, and not where a link there leads.
    package static func status(at path: String) throws(SystemCallError) -> FileStatus {
        try status(of: path, in: AT_FDCWD)
    }

    private static func status(of name: String, in folder: Int32) throws(SystemCallError) -> FileStatus {
        var status = caf_file_status()
        _ = try check(.fstat, result: caf_file_status_at(folder, name, &status))
        return FileStatus(status)
    }

    /// A folder in this one, made for us alone if it is missing.
    package func ownFolder(named name: String) throws(SystemCallError) -> Folder {
        let result = caf_open_own_folder(descriptor, name)
        return Folder(try Folder.check(result == -EEXIST || result == -ENOSPC ? .mkdir : .open, result: result))
    }

    /// A folder in this one, not through a link.
    package func folder(named name: String) throws(SystemCallError) -> Folder {
        Folder(try Folder.check(.open, result: caf_open_folder_at(descriptor, name)))
    }

    /// Makes a file that has `name` at once, which nothing may have yet.
    package func makeNamedFile(_ name: String) throws(SystemCallError) -> DiskFile {
        DiskFile(descriptor: try Folder.check(.open, result: caf_create_named_file(descriptor, name)))
    }

    /// Makes a file, without a name where the file system can do that, and else with
    /// `name`, which nothing may have yet.
    package func makeFile(named name: String) throws(SystemCallError) -> (file: DiskFile, hasName: Bool) {
        var hasName = false
        let result = caf_create_file(descriptor, name, &hasName)
        return (DiskFile(descriptor: try Folder.check(.open, result: result)), hasName)
    }

    package func openFile(named name: String) throws(SystemCallError) -> DiskFile {
        DiskFile(descriptor: try Folder.check(.open, result: caf_open_file(descriptor, name)))
    }

    /// Not through a link, whatever it is: look at its status before reading.
    package func openFileForReading(named name: String) throws(SystemCallError) -> DiskFile {
        DiskFile(descriptor: try Folder.check(.open, result: caf_open_file_for_reading(descriptor, name)))
    }

    package func status() throws(SystemCallError) -> FileStatus {
        var status = caf_file_status()
        _ = try Folder.check(.fstat, result: caf_file_status_of(descriptor, &status))
        return FileStatus(status)
    }

    package func status(of name: String) throws(SystemCallError) -> FileStatus {
        try Folder.status(of: name, in: descriptor)
    }

    /// Renames what must be there to what must not.
    package func rename(_ from: String, to name: String) throws(SystemCallError) {
        _ = try Folder.check(.rename, result: caf_rename(descriptor, from, name))
    }

    /// Renames what must be there to `name`. A file that has that name already is replaced in the same step: no reader
    /// ever finds neither.
    package func replace(_ name: String, with other: String) throws(SystemCallError) {
        _ = try Folder.check(.rename, result: caf_replace(descriptor, other, name))
    }

    /// Moves what must be there to `name` in a folder of the same file system, with one step.
    ///
    /// - Parameter replacing: Whether what has that name already is replaced. If not, this fails.
    package func move(
        _ from: String,
        to name: String,
        in folder: Folder,
        replacing: Bool
    ) throws(SystemCallError) {
        _ = try Folder.check(.rename, result: caf_move(descriptor, from, folder.descriptor, name, replacing))
    }

    /// Waits until the names in the folder would outlive a power failure.
    package func sync() throws(SystemCallError) {
        _ = try Folder.check(.fsync, result: caf_sync(descriptor))
    }

    package func remove(_ name: String) throws(SystemCallError) {
        _ = try Folder.check(.unlink, result: caf_unlink(descriptor, name))
    }

    /// Removes a folder in this one, which must be empty.
    package func removeFolder(_ name: String) throws(SystemCallError) {
        _ = try Folder.check(.unlink, result: caf_remove_folder(descriptor, name))
    }

    /// How many bytes the file system has left for this user.
    package func freeSpace() throws(SystemCallError) -> Int64 {
        var bytes: Int64 = 0
        _ = try Folder.check(.fstat, result: caf_free_space(descriptor, &bytes))
        return bytes
    }

    /// The names in it, in no order; those that are not all ASCII are left out. None if it cannot be read.
    package var names: [String] { (try? listed()) ?? [] }

    /// The names in it, in no order; those that are not all ASCII are left out.
    package func listed() throws(SystemCallError) -> [String] { try listed(atMost: .max) { _ in true } }

    /// The first names in it that are wanted, in no order; those that are not all ASCII are left out. A folder with
    /// very many names is read no further than that.
    package func listed(
        atMost limit: Int,
        where isWanted: @escaping (String) -> Bool
    ) throws(SystemCallError) -> [String] {
        var list = NameList(limit: limit, isWanted: isWanted)
        let result = withUnsafeMutablePointer(to: &list) { pointer in
            caf_for_names(
                descriptor,
                { name, context in
                    guard let name, let context else { return false }
                    let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
                    return context.assumingMemoryBound(to: NameList.self).pointee.take(bytes)
                },
                pointer
            )
        }
        _ = try Folder.check(.open, result: result)
        return list.names
    }

    private static func check(_ call: SystemCall, result: Int32) throws(SystemCallError) -> Int32 {
        guard result >= 0 else { throw SystemCallError(call, code: -result) }
        return result
    }
}

/// The names of a folder, while they are read.
private struct NameList {
    let limit: Int
    let isWanted: (String) -> Bool
    var names: [String] = []

    /// - Returns: Whether more names may be taken.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard names.count < limit, bytes.allSatisfy({ $0 < 0x80 }) else { return names.count < limit }
        let name = String(decoding: bytes, as: UTF8.self)
        if isWanted(name) { names.append(name) }
        return names.count < limit
    }
}

/// Random numbers from the kernel, which cannot be guessed.
package enum SystemRandom {
    package static func bytes(_ count: Int) throws(SystemCallError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = bytes.withUnsafeMutableBytes { caf_random($0.baseAddress, $0.count) }
        guard result >= 0 else { throw SystemCallError(.random, code: -result) }
        return bytes
    }
}

/// 32 digits that cannot be guessed, for the name of a file.
package enum FileToken {
    package static func random() throws(SystemCallError) -> String {
        let bytes = try SystemRandom.bytes(16)
        return String(unsafeUninitializedCapacity: 32) { digits in
            for place in 0..<32 {
                let digit = bytes[place / 2] >> (place % 2 == 0 ? 4 : 0) & 15
                digits[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            }
            return 32
        }
    }

    /// Whether the text is such a token. A program that opens only files with such a name opens no other file.
    package static func isToken(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
