import CAFLinux
import Glibc

/// A regular file that is open for reading, as it was when it was opened. Closed with
/// the last reference. Any thread may read: reads carry their own position.
package final class ReadableFile: Sendable {
    /// What tells whether a file is still the same, and its content too.
    package struct Identity: Sendable, Hashable {
        package let size: Int64
        let device: UInt64
        let inode: UInt64
        let seconds: Int64
        let nanoseconds: Int64
    }

    package enum Refusal: Error, Sendable {
        case system(SystemCallError)
        case directory
        /// A FIFO, a socket, a device.
        case notRegular
    }

    package enum Reading: Sendable, Equatable {
        case bytes(Int)
        /// The disk would have to be asked, and that may take long.
        case wouldBlock
        case failed(SystemCallError)
    }

    private let descriptor: Int32
    package let identity: Identity

    /// May have to wait for the disk.
    package init(path: String) throws(Refusal) {
        let opened = caf_open_for_reading(path)
        guard opened >= 0 else { throw .system(SystemCallError(.open, code: -opened)) }
        do throws(Refusal) {
            let facts = try ReadableFile.facts(of: opened)
            if facts.is_directory { throw .directory }
            guard facts.is_regular else { throw .notRegular }
            identity = Identity(facts)
            descriptor = opened
        } catch {
            _ = caf_close(opened)
            throw error
        }
    }

    deinit {
        _ = caf_close(descriptor)
    }

    /// What the file is now. May have to wait for the disk.
    package func currentIdentity() throws(Refusal) -> Identity {
        Identity(try ReadableFile.facts(of: descriptor))
    }

    /// May have to wait for the disk. No bytes: the file ends before `offset`.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Reading {
        reading(caf_read_at(descriptor, buffer.baseAddress, buffer.count, offset))
    }

    /// Reads what is in memory anyway, and never waits.
    package func readWithoutWaiting(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Reading {
        reading(caf_read_at_without_waiting(descriptor, buffer.baseAddress, buffer.count, offset))
    }

    private func reading(_ result: Int) -> Reading {
        if result >= 0 { return .bytes(result) }
        if result == -Int(EAGAIN) || result == -Int(EOPNOTSUPP) { return .wouldBlock }
        return .failed(SystemCallError(.pread, code: Int32(-result)))
    }

    private static func facts(of descriptor: Int32) throws(Refusal) -> caf_file_facts {
        var facts = caf_file_facts()
        let result = caf_file_facts_of(descriptor, &facts)
        guard result == 0 else { throw .system(SystemCallError(.fstat, code: -result)) }
        return facts
    }
}

extension ReadableFile.Identity {
    init(_ facts: caf_file_facts) {
        size = facts.size
        device = facts.device
        inode = facts.inode
        seconds = facts.modified_seconds
        nanoseconds = facts.modified_nanoseconds
    }
}
