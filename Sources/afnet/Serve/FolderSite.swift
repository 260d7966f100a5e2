import AFNetworking
import AFNetworkingTesting
import Foundation
import Glibc

/// Answers requests with what is in a folder.
struct FolderSite: Sendable {
    /// Without links in it.
    private let root: String

    /// Nil if it is no folder.
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
            // From the root on, and with one slash in front: two would name another host.
            let place = "/" + request.path.drop { $0 == "/" } + "/"
            return .text("a folder\n").status(301).header("Location", place)
        }
        if case .file(let index) = FolderPath.find("\(request.path)index.html", in: root) {
            return file(index, request)
        }
        return .text(FolderListing.page(of: path, at: request.path), type: "text/html; charset=utf-8")
    }

    /// Read while it is sent, 64 KiB at a time.
    private func file(_ path: String, _ request: RecordedRequest) -> ServerReply {
        guard let file = ServedFile(path) else { return .text("it cannot be read\n").status(403) }
        let range = ByteSpan(request.headers["Range"], in: file.size)
        let isSame = request.headers["If-Range"].map { $0 == file.tag } ?? true
        if request.headers["If-None-Match"] == file.tag {
            return ServerReply.status(304).header("ETag", file.tag)
        }
        var reply: ServerReply
        switch isSame ? range : .whole {
        case .whole: reply = .stream(file.body(0..<file.size), type: Self.type(of: path))
        case .part(let part):
            reply = ServerReply.stream(file.body(part), type: Self.type(of: path)).status(206)
                .header("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.size)")
        case .nothing: reply = ServerReply.status(416).header("Content-Range", "bytes */\(file.size)")
        }
        reply = reply.header("Accept-Ranges", "bytes").header("ETag", file.tag)
        return reply.header("Last-Modified", file.modified).header("X-Content-Type-Options", "nosniff")
    }

    private static func type(of path: String) -> String {
        let type = FileTypes.mimeType(ofExtension: (path as NSString).pathExtension)
        return type.hasPrefix("text/") ? "\(type); charset=utf-8" : type
    }
}

/// The one part of a file that a request asks for. Several are answered with the whole.
private enum ByteSpan {
    case whole
    case part(Range<Int>)
    case nothing

    init(_ field: String?, in size: Int) {
        guard let field, field.lowercased().hasPrefix("bytes=") else {
            self = .whole
            return
        }
        let ends = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let numbers = ends.map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int($0) : nil }
        guard ends.count == 2, zip(ends, numbers).allSatisfy({ $0.isEmpty || $1 != nil }) else {
            self = .whole
            return
        }
        switch (numbers[0], numbers[1]) {
        case (let first?, let last?) where last >= first:
            self = first < size ? .part(first..<(min(last, size - 1) + 1)) : .nothing
        case (let first?, nil): self = first < size ? .part(first..<size) : .nothing
        case (nil, let count?): self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .nothing
        default: self = .whole
        }
    }
}
