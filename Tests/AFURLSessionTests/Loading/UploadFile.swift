import Foundation
import Glibc

/// A folder of its own for one test, gone with it.
final class UploadFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("af-upload-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func file(_ content: Data, named name: String = "body") throws -> URL {
        let file = url.appendingPathComponent(name)
        try content.write(to: file)
        return file
    }

    /// A file of zeros that takes no room on the disk.
    func sparseFile(of size: Int) throws -> URL {
        let file = try file(Data())
        _ = truncate(file.path, off_t(size))
        return file
    }

    /// Bytes that are different in every place, so that nothing lost or doubled goes unnoticed.
    static func pattern(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) })
    }
}
