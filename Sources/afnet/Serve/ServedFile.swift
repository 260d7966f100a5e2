import AFNetworking
import AFNetworkingTesting
import Glibc

/// A file that stays open while a reply sends it.
final class ServedFile: Sendable {
    private static let pieceSize = 64 << 10

    let size: Int
    let tag: String
    /// In seconds since 1970.
    let modified: Int64
    private let file: Descriptor

    /// Nil if it cannot be read, or is not a regular file.
    init?(_ path: String) {
        // Without O_NONBLOCK, opening a pipe that has replaced the file would wait.
        guard let file = try? Descriptor.opening(path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return nil }
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            try? file.close()
            return nil
        }
        self.file = file
        size = Int(status.st_size)
        let time = status.st_mtim
        tag =
            "\"\(String(status.st_ino, radix: 16))-\(String(size, radix: 16))-"
            + "\(String(time.tv_sec, radix: 16)).\(String(time.tv_nsec, radix: 16))\""
        modified = Int64(time.tv_sec)
    }

    deinit {
        try? file.close()
    }

    /// A read that fails ends the body early: the client sees a truncated body.
    func body(_ part: Range<Int>) -> ReplyBody {
        .generated(count: part.count) { [self] offset in
            let length = min(Self.pieceSize, part.count - offset)
            var buffer = [UInt8](repeating: 0, count: max(length, 0))
            let count = pread(file.number, &buffer, buffer.count, off_t(part.lowerBound + offset))
            return count > 0 ? Array(buffer[..<count]) : []
        }
    }
}
