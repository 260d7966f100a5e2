import Foundation
import Glibc

/// What of a file `--upload-file` sends with `--resume-from` or `--range`, and which part the request says that is
/// (RFC 9110 §14.5).
struct UploadPart: Sendable {
    let path: String
    /// Where the part begins.
    let offset: Int64
    let length: Int64
    /// The field `Content-Range`; nil for an empty file.
    let contentRange: String?

    /// Nil if there is no file to upload, or it is sent whole and called that.
    init?(_ arguments: Arguments) throws(TransferFailure) {
        guard case .upload(let path) = arguments.body else { return nil }
        guard arguments.range != nil || ![nil, .offset(0)].contains(arguments.resume) else { return nil }
        let size = try Self.size(of: path)
        self.path = path
        if let range = arguments.range {
            (offset, length, contentRange) = (0, size, "bytes \(range)/\(size)")
            return
        }
        // As in curl, `-C -` asks no server how much it has, and sends all.
        if case .offset(let offset) = arguments.resume { self.offset = offset } else { offset = 0 }
        guard offset == 0 || offset < size else {
            throw TransferFailure(
                .truncated,
                "--resume-from: nothing is left to upload: \(path) has \(size) bytes, and \(offset) were there already"
            )
        }
        length = size - offset
        contentRange = size == 0 ? nil : "bytes \(offset)-\(size - 1)/\(size)"
    }

    private static func size(of path: String) throws(TransferFailure) -> Int64 {
        do throws(SystemFailure) {
            if try Descriptor.isRegularFile(path), let size = try Descriptor.size(of: path) { return size }
        } catch {
            throw TransferFailure(.cannotRead, "the body to send cannot be read: \(error.text)")
        }
        throw TransferFailure(.cannotRead, "\(path) is no file with a size, of which a part could be sent")
    }

    /// A new stream of the bytes.
    var stream: InputStream { DescriptorStream(path: path, from: offset) }
}
