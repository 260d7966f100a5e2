import CAFLinux
import Foundation
import Glibc

/// A file descriptor. Its calls handle EINTR and EAGAIN.
struct Descriptor {
    static let standardInput = Descriptor(number: STDIN_FILENO)
    static let standardOutput = Descriptor(number: STDOUT_FILENO)
    static let standardError = Descriptor(number: STDERR_FILENO)

    let number: Int32

    var isTerminal: Bool { isatty(number) == 1 }

    static func opening(_ path: String, flags: Int32, mode: mode_t = 0o666) throws(SystemFailure) -> Descriptor {
        try Descriptor(number: checked { open(path, flags | O_CLOEXEC, mode) })
    }

    /// Nil if there is no such file.
    private static func status(of path: String) throws(SystemFailure) -> stat? {
        var status = stat()
        do throws(SystemFailure) {
            _ = try checked { stat(path, &status) }
            return status
        } catch {
            if error.isMissingFile { return nil }
            throw error
        }
    }

    /// Throws if there is no such file.
    static func isRegularFile(_ path: String) throws(SystemFailure) -> Bool {
        guard let status = try status(of: path) else { throw SystemFailure(code: ENOENT) }
        return status.st_mode & S_IFMT == S_IFREG
    }

    /// The seconds since 1970; nil if there is no such file.
    static func modificationTime(of path: String) -> Int? { try? status(of: path).map { Int($0.st_mtim.tv_sec) } }

    /// Sets the time of the last change, in seconds since 1970.
    func setModificationTime(_ seconds: Int) throws(SystemFailure) {
        let time = timespec(tv_sec: seconds, tv_nsec: 0)
        _ = try Self.checked { futimens(number, [time, time]) }
    }

    /// Puts a file in the place of standard error; `-` is standard output.
    static func replaceStandardError(by path: String) throws(SystemFailure) {
        let file = path == "-" ? standardOutput : try opening(path, flags: O_WRONLY | O_CREAT | O_TRUNC)
        _ = try checked { dup2(file.number, STDERR_FILENO) }
        if path != "-" { try file.close() }
    }

    /// The size in bytes; nil if there is no such file.
    static func size(of path: String) throws(SystemFailure) -> Int64? {
        try status(of: path).map { Int64($0.st_size) }
    }

    /// Replaces a file atomically; only its owner may read the new one. If the path is not a regular file, a terminal
    /// for instance, writes to it.
    static func replace(_ path: String, with data: Data) throws(SystemFailure) {
        if let status = try status(of: path), status.st_mode & S_IFMT != S_IFREG {
            return try opening(path, flags: O_WRONLY).writeLast(data)
        }
        let beside = "\(path).\(getpid())"
        let file = try opening(beside, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        do throws(SystemFailure) {
            try file.writeLast(data)
            _ = try checked { rename(beside, path) }
        } catch {
            unlink(beside)
            throw error
        }
    }

    /// Appends to a file; `-` is standard output.
    static func append(_ data: Data, to path: String) throws(SystemFailure) {
        if path == "-" { return try standardOutput.write(data) }
        try opening(path, flags: O_WRONLY | O_CREAT | O_APPEND).writeLast(data)
    }

    /// Writes, and closes the descriptor even if that fails.
    private func writeLast(_ data: Data) throws(SystemFailure) {
        let result = Result { () throws(SystemFailure) in try write(data) }
        try close()
        try result.get()
    }

    /// The content of a file. Throws EFBIG if it has more than `limit` bytes.
    static func contents(of path: String, limit: Int = .max) throws(SystemFailure) -> Data {
        let file = try opening(path, flags: O_RDONLY)
        let result = Result { () throws(SystemFailure) in try file.readToEnd(limit: limit) }
        try file.close()
        return try result.get()
    }

    /// The content of a file; `-` is standard input.
    static func input(_ path: String, limit: Int = .max) throws(SystemFailure) -> Data {
        path == "-" ? try standardInput.readToEnd(limit: limit) : try contents(of: path, limit: limit)
    }

    /// A file without a name, which the system deletes when it is closed.
    static func temporary() throws(SystemFailure) -> Descriptor {
        let folder = Environment.value(of: "TMPDIR") ?? "/tmp"
        var path = Array("\(folder)/afnet-XXXXXX".utf8CString)
        let file = Descriptor(number: try checked { mkstemp(&path) })
        unlink(path)
        _ = fcntl(file.number, F_SETFD, FD_CLOEXEC)
        return file
    }

    /// Makes the missing folders of a path, accessible to their owner and group.
    static func makeFolders(above path: String) throws(SystemFailure) {
        for (index, byte) in path.utf8.enumerated() where byte == UInt8(ascii: "/") && index > 0 {
            let folder = String(decoding: path.utf8.prefix(index), as: UTF8.self)
            if mkdir(folder, 0o750) == -1, errno != EEXIST { throw SystemFailure(code: errno) }
        }
    }

    /// Copies the whole file to another descriptor.
    func copyFromStart(to other: Descriptor) throws(SystemFailure) {
        try seek(to: 0)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = try Self.checked {
                buffer.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) }
            }
            if count == 0 { return }
            try other.write(Data(buffer[..<count]))
        }
    }

    func seek(to offset: Int64) throws(SystemFailure) {
        _ = try Self.checked { lseek(number, off_t(offset), SEEK_SET) }
    }

    func close() throws(SystemFailure) {
        // Linux has closed the descriptor even after EINTR.
        if Glibc.close(number) == -1, errno != EINTR { throw SystemFailure(code: errno) }
    }

    /// Writes all of the data.
    func write(_ data: Data) throws(SystemFailure) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = try Self.checked {
                rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            } waiting: {
                wait(for: POLLOUT)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads to the end. Throws EFBIG after `limit` bytes, because some devices have no end.
    func readToEnd(limit: Int = .max) throws(SystemFailure) -> Data {
        var data = Data()
        while true {
            let more = try readSome()
            if more.isEmpty { return data }
            data += more
            if data.count > limit { throw SystemFailure(code: EFBIG) }
        }
    }

    /// Waits for at least one byte and reads what there is; empty at the end.
    func readSome() throws(SystemFailure) -> Data {
        var buffer = Data(count: 64 << 10)
        let result = buffer.withUnsafeMutableBytes { bytes in
            Result { () throws(SystemFailure) in try read(into: bytes) }
        }
        return buffer.prefix(try result.get())
    }

    /// Waits for at least one byte and reads what there is; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemFailure) -> Int {
        try Self.checked {
            Glibc.read(number, buffer.baseAddress, buffer.count)
        } waiting: {
            wait(for: POLLIN)
        }
    }

    // MARK: The validator of a download

    private static let validatorName = "user.afnet.validator"

    /// Keeps the validator of a partial download in an extended attribute of its file, for `--resume`. On file systems
    /// without extended attributes, `--resume` checks offsets only.
    ///
    /// - Parameter validator: Nil to remove the attribute, if there is one.
    /// - Returns: Whether the file has one now.
    @discardableResult
    func setValidator(_ validator: String?) -> Bool {
        guard let validator = validator.map({ Array($0.utf8) }) else {
            _ = caf_remove_attribute(number, Self.validatorName)
            return false
        }
        return caf_set_attribute(number, Self.validatorName, validator, validator.count) >= 0
    }

    /// The validator of a partial download; nil if it is unknown.
    static func validator(of path: String) -> String? {
        guard let file = try? opening(path, flags: O_RDONLY) else { return nil }
        // No file system of Linux has longer attributes.
        let value = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
            count = max(0, caf_attribute(file.number, validatorName, buffer.baseAddress, buffer.count))
        }
        try? file.close()
        return value.isEmpty ? nil : String(validating: value, as: UTF8.self)
    }

    /// Waits: the streams that the process inherits may be non-blocking.
    private func wait(for event: Int32) {
        var entry = pollfd(fd: number, events: Int16(event), revents: 0)
        _ = poll(&entry, 1, -1)
    }

    private static func checked<Result: FixedWidthInteger>(
        _ call: () -> Result,
        waiting: () -> Void = {}
    ) throws(SystemFailure) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            switch errno {
            case EINTR: continue
            case EAGAIN: waiting()
            case let code: throw SystemFailure(code: code)
            }
        }
    }
}

/// A system call that failed.
struct SystemFailure: Error {
    let code: Int32

    var isMissingFile: Bool { code == ENOENT }

    /// The system's text for the error.
    var text: String { String(cString: strerror(code)) }
}
