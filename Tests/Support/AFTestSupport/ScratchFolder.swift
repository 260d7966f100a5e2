package import Foundation
import Glibc

/// A folder of the test's own, removed with it.
package final class ScratchFolder: Sendable {
    package let url: URL

    package init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent("af-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    package var path: String { url.path }

    package func size(of file: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }

    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    @discardableResult
    package func write(_ name: String, _ content: some DataProtocol) throws -> URL {
        try Data(content).write(to: file(name))
        return file(name)
    }

    package func file(_ content: Data, named name: String = "body") throws -> URL { try write(name, content) }

    /// A file of zeros that takes no room on the disk.
    package func sparseFile(of size: Int) throws -> URL {
        let file = try file(Data())
        _ = truncate(file.path, off_t(size))
        return file
    }
}

/// Bytes none of which is where another could be, so that nothing lost or doubled goes unnoticed.
package func pattern(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) })
}
