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
        case .file(let path): return file(path, for: request)
        case .folder(let path): return folder(path, for: request)
        }
    }

    private func folder(_ path: String, for request: RecordedRequest) -> ServerReply {
        guard request.path.hasSuffix("/") else {
            // With one leading slash: two would name another host.
            let place = "/" + request.path.drop { $0 == "/" } + "/"
            return .text("a folder\n").status(301).header("Location", place)
        }
        if case .file(let index) = FolderPath.find("\(request.path)index.html", in: root) {
            return file(index, for: request)
        }
        return .text(FolderListing.page(of: path, at: request.path), type: "text/html; charset=utf-8")
    }

    /// The file, read while it is sent, 64 KiB at a time.
    private func file(_ path: String, for request: RecordedRequest) -> ServerReply {
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
