import Foundation
import Glibc

/// A file descriptor, and the calls on it that may be interrupted or must wait.
struct Descriptor {
    static let standardInput = Descriptor(number: STDIN_FILENO)
    static let standardOutput = Descriptor(number: STDOUT_FILENO)
    static let standardError = Descriptor(number: STDERR_FILENO)

    let number: Int32

    var isTerminal: Bool { isatty(number) == 1 }

    static func opening(_ path: String, _ flags: Int32) throws(SystemFailure) -> Descriptor {
        try Descriptor(number: checked { open(path, flags | O_CLOEXEC, 0o666) })
    }

    /// A file, as long as it has no more than `limit` bytes.
    static func contents(of path: String, limit: Int = .max) throws(SystemFailure) -> Data {
        let file = try opening(path, O_RDONLY)
        let result = Result { () throws(SystemFailure) in try file.readToEnd(limit: limit) }
        try file.close()
        return try result.get()
    }

    func close() throws(SystemFailure) {
        // Not again after EINTR: Linux has closed it then.
        if Glibc.close(number) == -1, errno != EINTR { throw SystemFailure(code: errno) }
    }

    /// Returns when all of it is written.
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

    /// Everything up to the end, which some devices do not have.
    func readToEnd(limit: Int = .max) throws(SystemFailure) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = try Self.checked {
                buffer.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) }
            } waiting: {
                wait(for: POLLIN)
            }
            if count == 0 { return data }
            data += buffer[..<count]
            if data.count > limit { throw SystemFailure(code: EFBIG) }
        }
    }

    /// The streams we inherit may be non-blocking.
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
