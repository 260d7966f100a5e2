import Foundation
import Glibc

/// What a folder has held, as far as a power cut could bring it back.
///
/// A name is on the disk when its folder was synced after it came, the content of a file when the file was. Before that,
/// each name may be what it has been at any time since, and each file may hold what was synced, what was written, or
/// something between.
struct DiskHistory {
    private struct File {
        /// Ours, so that what was removed can come back.
        let descriptor: Int32
        /// Closed with the history.
        let owner: Descriptor
    }

    private final class Descriptor {
        let number: Int32
        init(_ number: Int32) { self.number = number }
        deinit { close(number) }
    }

    private var files: [UInt64: File] = [:]
    private var synced: [UInt64: [UInt8]] = [:]
    /// What each name has meant since its folder was synced, the present last; nil: nothing.
    private var meanings: [String: [UInt64?]] = [:]

    /// Looks at what there is now.
    mutating func remember(_ root: String) {
        var present: [String: UInt64] = [:]
        DiskHistory.list(root, "", &present)
        for (path, inode) in present {
            if files[inode] == nil, case let opened = open("\(root)/\(path)", O_RDONLY | O_CLOEXEC), opened >= 0 {
                files[inode] = File(descriptor: opened, owner: Descriptor(opened))
            }
            let before = meanings[path] ?? [nil]
            if before.last != .some(inode) { meanings[path] = before + [inode] }
        }
        for (path, before) in meanings where present[path] == nil && before.last != .some(nil) {
            meanings[path] = before + [nil]
        }
    }

    private static func list(_ root: String, _ folder: String, _ found: inout [String: UInt64]) {
        guard let stream = opendir(folder.isEmpty ? root : "\(root)/\(folder)") else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != ".." else { continue }
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            if entry.pointee.d_type == UInt8(DT_DIR) {
                list(root, path, &found)
            } else {
                found[path] = UInt64(entry.pointee.d_ino)
            }
        }
    }

    /// A file or a folder is about to be synced.
    mutating func synced(_ descriptor: Int32, in root: String) {
        remember(root)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            synced[UInt64(status.st_ino)] = DiskHistory.content(of: descriptor)
            return
        }
        for (path, before) in meanings where DiskHistory.isSame("\(root)/\(path)", status) {
            meanings[path] = before.suffix(1)
        }
    }

    private static func isSame(_ path: String, _ folder: stat) -> Bool {
        var status = stat()
        return stat((path as NSString).deletingLastPathComponent, &status) == 0 && status.st_ino == folder.st_ino
    }

    private static func content(of descriptor: Int32) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(bytes.prefix(max(0, count)))
    }

    // MARK: - After the cut

    /// Makes another folder of what is left.
    func write(to root: String, _ faults: Faults) {
        for path in meanings.keys.sorted() {
            guard let possible = meanings[path], let now = possible.last else { continue }
            let left = possible[faults.draw(.diskLostName, 0...(possible.count - 1))]
            if left != now { faults.note(.diskLostName) }
            guard let inode = left, let file = files[inode] else { continue }
            DiskHistory.makeFolders(root, path)
            let made = open("\(root)/\(path)", O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0o600)
            guard made >= 0 else { continue }
            defer { close(made) }
            let bytes = content(of: file, inode, faults)
            _ = bytes.withUnsafeBytes { pwrite(made, $0.baseAddress, $0.count, 0) }
            var status = stat()
            guard fstat(file.descriptor, &status) == 0 else { continue }
            _ = futimens(made, [status.st_atim, status.st_mtim])
        }
    }

    private func content(of file: File, _ inode: UInt64, _ faults: Faults) -> [UInt8] {
        var bytes = DiskHistory.content(of: file.descriptor)
        let safe = synced[inode]
        guard safe != bytes, !bytes.isEmpty else { return bytes }
        switch faults.draw(.diskLostWrites, 0...3) {
        case 0: return bytes
        case 1:
            faults.note(.diskLostWrites)
            return safe ?? []
        case 2:
            faults.note(.diskLostWrites)
            return Array(bytes.prefix(faults.draw(.diskLostWrites, 0...bytes.count)))
        default:
            faults.note(.diskTornWrite)
            // A block that never came.
            let start = faults.draw(.diskTornWrite, 0...(bytes.count - 1)) / 512 * 512
            for place in start..<min(bytes.count, start + 512) { bytes[place] = 0 }
            return bytes
        }
    }

    private static func makeFolders(_ root: String, _ path: String) {
        var folder = root
        for name in path.split(separator: "/").dropLast() {
            folder += "/\(name)"
            mkdir(folder, 0o700)
        }
    }
}
