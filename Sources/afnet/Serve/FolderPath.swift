import AFNetworking
import Foundation
import Glibc

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
        guard let real = realPath(([root] + parts).joined(separator: "/")), isInside(real, root: root) else {
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

    private static func isInside(_ path: String, root: String) -> Bool {
        path == root || path.hasPrefix(root == "/" ? root : root + "/")
    }
}
