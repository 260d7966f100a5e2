import CAFLinux
import Glibc

/// An open file. Every method may wait for the disk: not for the network thread.
package final class DiskFile: Sendable {
    /// Slices one call takes; the system's limit is 1024.
    private static let slicesPerCall = 64

    /// Nil once it was closed.
    private let descriptor: Lock<Int32?>

    init(_ descriptor: Int32) {
        self.descriptor = Lock(descriptor)
    }

    deinit {
        if let descriptor = descriptor.withLock({ $0 }) { _ = caf_close(descriptor) }
    }

    private func perform(_ call: SystemCall, _ body: (Int32) -> Int) throws(SystemCallError) -> Int {
        let result = descriptor.withLock { $0.map(body) ?? -Int(EBADF) }
        guard result >= 0 else { throw SystemCallError(call, code: Int32(-result)) }
        return result
    }

    package func status() throws(SystemCallError) -> FileStatus {
        var status = caf_file_status()
        _ = try perform(.fstat) { Int(caf_file_status_of($0, &status)) }
        return FileStatus(status)
    }

    /// Writes all slices, one after the other, from `offset` on.
    ///
    /// - Parameter written: Counts up, also if it fails in the end.
    package func write(
        _ slices: [UnsafeRawBufferPointer],
        at offset: Int64,
        written: inout Int64
    ) throws(SystemCallError) {
        var rest = slices[...]
        while let first = rest.first {
            guard !first.isEmpty else {
                rest.removeFirst()
                continue
            }
            let vectors = rest.prefix(DiskFile.slicesPerCall).map { slice in
                iovec(iov_base: UnsafeMutableRawPointer(mutating: slice.baseAddress), iov_len: slice.count)
            }
            let position = offset + written
            let count = try perform(.pwrite) {
                caf_write_slices($0, vectors, Int32(vectors.count), position)
            }
            // A file system that takes nothing and says nothing would be asked for ever.
            guard count > 0 else { throw SystemCallError(.pwrite, code: EIO) }
            written += Int64(count)
            DiskFile.drop(count, of: &rest)
        }
    }

    private static func drop(_ count: Int, of slices: inout ArraySlice<UnsafeRawBufferPointer>) {
        var left = count
        while let first = slices.first, left >= first.count {
            left -= first.count
            slices.removeFirst()
        }
        guard left > 0, let first = slices.first else { return }
        slices[slices.startIndex] = UnsafeRawBufferPointer(rebasing: first[left...])
    }

    /// Fills `buffer` from `offset` on, unless the file ends before.
    ///
    /// - Returns: How many bytes there were.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemCallError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let position = offset + Int64(filled)
            let count = try perform(.pread) { caf_read_at($0, room.baseAddress, room.count, position) }
            guard count > 0 else { break }
            filled += count
        }
        return filled
    }

    package func truncate(to length: Int64) throws(SystemCallError) {
        _ = try perform(.truncate) { Int(caf_truncate($0, length)) }
    }

    /// Gives a name to a file that was made without one.
    package func link(as name: String, in folder: Folder) throws(SystemCallError) {
        _ = try perform(.link) { Int(caf_link_file($0, folder.descriptor, name)) }
    }

    /// Keeps others who ask for the same out, until the file is closed.
    package func lock() throws(SystemCallError) {
        _ = try perform(.flock) { Int(caf_lock_file($0)) }
    }

    /// Closes the file. What the system had not written yet may fail here.
    package func close() throws(SystemCallError) {
        let open = descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        guard let open else { return }
        let result = caf_close(open)
        guard result >= 0 else { throw SystemCallError(.close, code: -result) }
    }
}
