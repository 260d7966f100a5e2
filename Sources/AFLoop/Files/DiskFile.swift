import CAFLinux
import Glibc
import Synchronization

/// An open file. Every method but one may wait for the disk: not for the network thread.
/// Any thread may read and write: calls carry their own position.
package final class DiskFile: Sendable {
    /// Slices one call takes; the system's limit is 1024.
    private static let slicesPerCall = 64

    /// Less than 0 once it was closed.
    private let descriptor: Atomic<Int32>
    /// Its file system is memory, and cannot be asked to read without waiting.
    private let isInMemory: Bool
    private let isLocked = Atomic(false)

    init(descriptor: Int32, isInMemory: Bool = false) {
        self.descriptor = Atomic(descriptor)
        self.isInMemory = isInMemory
    }

    /// Opens whatever is at `path`, to read it.
    package convenience init(reading path: String) throws(SystemCallError) {
        let opened = caf_open_for_reading(path)
        guard opened >= 0 else { throw SystemCallError(.open, code: -opened) }
        self.init(descriptor: opened, isInMemory: caf_is_in_memory(opened))
    }

    deinit {
        try? close()
    }

    private func perform(_ call: SystemCall, body: (Int32) -> Int) throws(SystemCallError) -> Int {
        let open = descriptor.load(ordering: .relaxed)
        let result = open >= 0 ? body(open) : -Int(EBADF)
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

    /// Up to `count` bytes from `offset` on; fewer where the file ends before.
    package func bytes(at offset: Int64, count: Int) throws(SystemCallError) -> [UInt8] {
        var failure: SystemCallError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemCallError) {
                filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads what is in memory anyway, and never waits. Nil if the disk would have to be
    /// asked, also for whether the file ends there: Linux 5.9 and 5.10 say 0 for both (readv(2)).
    package func readWithoutWaiting(
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(SystemCallError) -> Int? {
        do throws(SystemCallError) {
            let fill = isInMemory ? caf_read_at : caf_read_at_without_waiting
            let count = try perform(.pread) { fill($0, buffer.baseAddress, buffer.count, offset) }
            return count > 0 ? count : nil
        } catch {
            if error.code == EAGAIN || error.code == EOPNOTSUPP { return nil }
            throw error
        }
    }

    package func truncate(to length: Int64) throws(SystemCallError) {
        _ = try perform(.truncate) { Int(caf_truncate($0, length)) }
    }

    /// Takes the room for `length` bytes from the disk, where the file system can do that in advance.
    package func allocate(_ length: Int64) throws(SystemCallError) {
        do throws(SystemCallError) {
            _ = try perform(.fallocate) { Int(caf_allocate($0, length)) }
        } catch {
            guard [EOPNOTSUPP, ENOSYS].contains(error.code) else { throw error }
        }
    }

    /// Waits until what was written would outlive a power failure.
    package func sync() throws(SystemCallError) {
        _ = try perform(.fsync) { Int(caf_sync($0)) }
    }

    /// Gives a name to a file that was made without one.
    package func link(as name: String, in folder: Folder) throws(SystemCallError) {
        _ = try perform(.link) { Int(caf_link_file($0, folder.descriptor, name)) }
    }

    /// Keeps others who ask for the same out, until the file is closed.
    package func lock() throws(SystemCallError) {
        _ = try perform(.flock) { Int(caf_lock_file($0)) }
        isLocked.store(true, ordering: .relaxed)
    }

    /// Closes the file. What the system had not written yet may fail here.
    ///
    /// Not while it is used elsewhere: the number might mean another file by then.
    package func close() throws(SystemCallError) {
        let open = descriptor.exchange(-1, ordering: .relaxed)
        guard open >= 0 else { return }
        // A child that the program forks has the descriptor as well, until it runs another program.
        if isLocked.load(ordering: .relaxed) { caf_unlock_file(open) }
        let result = caf_close(open)
        // It is closed nonetheless: see close(2).
        guard result >= 0 || result == -EINTR else { throw SystemCallError(.close, code: -result) }
    }
}
