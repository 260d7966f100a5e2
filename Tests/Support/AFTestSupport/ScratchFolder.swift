package import Foundation

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

    package func size(of file: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }

    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
