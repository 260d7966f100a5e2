import AFNetworkingTesting
import Foundation
import Glibc

/// A file that is open as long as somebody gets it.
final class ServedFile: Sendable {
    private static let pieceSize = 64 << 10

    let size: Int
    let tag: String
    /// As in `Last-Modified`.
    let modified: String
    private let file: Descriptor

    /// Nil if it cannot be read, or is no file.
    init?(_ path: String) {
        // Without O_NONBLOCK, a pipe that took its place would keep us waiting.
        guard let file = try? Descriptor.opening(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return nil }
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
        modified = Self.date(time.tv_sec)
    }

    deinit {
        try? file.close()
    }

    /// A piece that cannot be read ends the body before its announced end, which the client sees.
    func body(_ part: Range<Int>) -> ReplyBody {
        .generated(count: part.count) { [self] offset in
            let length = min(Self.pieceSize, part.count - offset)
            var buffer = [UInt8](repeating: 0, count: max(length, 0))
            let count = pread(file.number, &buffer, buffer.count, off_t(part.lowerBound + offset))
            return count > 0 ? Array(buffer[..<count]) : []
        }
    }

    private static func date(_ seconds: Int) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = String(format: "%02d:%02d:%02d", Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
        let day = String(format: "%02d", Int(parts.tm_mday))
        return "\(days[Int(parts.tm_wday)]), \(day) \(months[Int(parts.tm_mon)]) \(1900 + parts.tm_year) \(clock) GMT"
    }
}
