import Foundation
import Glibc

/// What a path of a request stands for in a folder, and nothing outside of it.
enum FolderPath {
    enum Found: Equatable {
        case file(String)
        case folder(String)
        /// Nothing that may be shown.
        case nothing
    }

    /// - Parameters:
    ///   - path: as it stands in the request, percent-encoded, without its query.
    ///   - root: the folder, without links in it.
    static func find(_ path: String, in root: String) -> Found {
        guard let parts = parts(of: path) else { return .nothing }
        // Links are followed, as far as they lead to something in the folder.
        guard let real = realPath(([root] + parts).joined(separator: "/")), isInside(real, root) else {
            return .nothing
        }
        var status = stat()
        guard stat(real, &status) == 0 else { return .nothing }
        switch status.st_mode & S_IFMT {
        // What ends in a slash is no file.
        case S_IFREG: return path.hasSuffix("/") ? .nothing : .file(real)
        case S_IFDIR: return .folder(real)
        default: return .nothing
        }
    }

    /// Without empty ones. Nil if one is none: `..`, or with a slash or a NUL in it.
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
