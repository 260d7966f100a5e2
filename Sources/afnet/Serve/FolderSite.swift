import AFNetworking
import AFNetworkingTesting
import Foundation
import Glibc

/// Answers requests with the content of a folder.
struct FolderSite: Sendable {
    /// The real path of the folder.
    private let root: String

    /// Nil if there is no such folder.
    init?(_ folder: String) {
        guard let root = FolderPath.realPath(folder), case .folder = FolderPath.find("/", in: root) else { return nil }
        self.root = root
    }

    func reply(to request: RecordedRequest) -> ServerReply {
        guard ["GET", "HEAD"].contains(request.method) else {
            return .text("only GET and HEAD\n").status(405).header("Allow", "GET, HEAD")
        }
        switch FolderPath.find(request.path, in: root) {
        case .nothing: return .text("not found\n").status(404)
        case .file(let path): return file(path, request)
        case .folder(let path): return folder(path, request)
        }
    }

    private func folder(_ path: String, _ request: RecordedRequest) -> ServerReply {
        guard request.path.hasSuffix("/") else {
            // With one leading slash: two would name another host.
            let place = "/" + request.path.drop { $0 == "/" } + "/"
            return .text("a folder\n").status(301).header("Location", place)
        }
        if case .file(let index) = FolderPath.find("\(request.path)index.html", in: root) {
            return file(index, request)
        }
        return .text(FolderListing.page(of: path, at: request.path), type: "text/html; charset=utf-8")
    }

    /// The file, read while it is sent, 64 KiB at a time.
    private func file(_ path: String, _ request: RecordedRequest) -> ServerReply {
        guard let file = ServedFile(path) else { return .text("it cannot be read\n").status(403) }
        if request.headers["If-None-Match"] == file.tag {
            return ServerReply.status(304).header("ETag", file.tag)
        }
        return ServerReply.file(
            count: file.size,
            type: Self.type(of: path),
            entityTag: file.tag,
            modified: file.modified,
            to: request,
            content: file.body
        )
        .header("X-Content-Type-Options", "nosniff")
    }

    private static func type(of path: String) -> String {
        let type = FileTypes.mimeType(ofExtension: (path as NSString).pathExtension)
        return type.hasPrefix("text/") ? "\(type); charset=utf-8" : type
    }
}

/// A page with the names in a folder.
enum FolderListing {
    /// How many names a page has at most.
    private static let limit = 10_000

    /// - Parameters:
    ///   - folder: The path of the folder.
    ///   - path: The path of the request, which ends in a slash.
    static func page(of folder: String, at path: String) -> String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let shown = path.removingPercentEncoding ?? path
        let rows = names.sorted().prefix(limit).map { row($0, in: folder) }
        let rest = names.count > limit ? ["<li>and \(names.count - limit) more"] : []
        let up = path == "/" ? [] : ["<li><a href=\"../\">../</a>"]
        return """
            <!DOCTYPE html>
            <meta charset="utf-8">
            <title>\(escaped(shown))</title>
            <h1>\(escaped(shown))</h1>
            <ul>
            \((up + rows + rest).joined(separator: "\n"))
            </ul>

            """
    }

    private static func row(_ name: String, in folder: String) -> String {
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder)
        let slash = isFolder.boolValue ? "/" : ""
        return "<li><a href=\"./\(encoded(name))\(slash)\">\(escaped(name))\(slash)</a>"
    }

    private static func encoded(_ name: String) -> String {
        var allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        allowed.insert(charactersIn: "0123456789-._~")
        return name.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}

/// Finds the file or folder of a request's path, inside of the served folder only.
enum FolderPath {
    enum Found: Equatable {
        case file(String)
        case folder(String)
        /// Nothing that may be served.
        case nothing
    }

    /// - Parameters:
    ///   - path: The path of the request, percent-encoded, without the query.
    ///   - root: The real path of the folder.
    static func find(_ path: String, in root: String) -> Found {
        guard let parts = parts(of: path) else { return .nothing }
        // Links are followed if they stay inside of the folder.
        guard let real = realPath(([root] + parts).joined(separator: "/")), isInside(real, root) else {
            return .nothing
        }
        var status = stat()
        guard stat(real, &status) == 0 else { return .nothing }
        switch status.st_mode & S_IFMT {
        // A path that ends in a slash is not that of a file.
        case S_IFREG: return path.hasSuffix("/") ? .nothing : .file(real)
        case S_IFDIR: return .folder(real)
        default: return .nothing
        }
    }

    /// The decoded parts without empty ones. Nil if a part is `.` or `..`, or has a slash or a NUL.
    private static func parts(of path: String) -> [String]? {
        var parts: [String] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: true) {
            guard let name = String(part).removingPercentEncoding, name != "..", name != ".",
                !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
            else { return nil }
            parts.append(name)
        }
        return parts
    }

    static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(validatingCString: real)
    }

    private static func isInside(_ path: String, _ root: String) -> Bool {
        path == root || path.hasPrefix(root == "/" ? root : root + "/")
    }
}

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
