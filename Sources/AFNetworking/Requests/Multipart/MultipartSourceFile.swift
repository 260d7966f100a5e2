import Foundation

/// A file that is a part of a form.
struct MultipartSourceFile: Sendable {
    /// What would be different if it had been written to.
    struct Stamp: Sendable, Hashable {
        let number: Int64?
        let size: Int64
        let modified: Date?
    }

    let path: String
    /// When it was appended.
    let size: Int64

    init(_ url: URL) throws {
        guard url.isFileURL, !url.path.isEmpty else { throw MultipartError.notAFileURL }
        // Links are followed here: attributes are those of the link.
        path = url.resolvingSymlinksInPath().path
        guard FileManager.default.fileExists(atPath: path) else { throw MultipartError.notReachable }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        guard attributes[.type] as? FileAttributeType == .typeRegular else { throw MultipartError.notRegular }
        // Says why, if it may not be read.
        try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).close()
        size = MultipartSourceFile.integer(attributes[.size]) ?? 0
    }

    /// How it is now; nil if that cannot be found out.
    var stamp: Stamp? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        return Stamp(
            number: MultipartSourceFile.integer(attributes[.systemFileNumber]),
            size: MultipartSourceFile.integer(attributes[.size]) ?? -1,
            modified: attributes[.modificationDate] as? Date
        )
    }

    /// Whether the file that was like `before` was written to. Another file of the same name is not that file.
    func isChanged(since before: Stamp?) -> Bool {
        guard let before, let now = stamp, now.number == before.number else { return false }
        return now != before
    }

    /// Nil if it cannot be opened.
    func makeStream() -> InputStream? { InputStream(fileAtPath: path) }

    /// Why it cannot be opened.
    var reason: (any Error)? {
        do {
            try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).close()
            return nil
        } catch {
            return error
        }
    }

    private static func integer(_ attribute: Any?) -> Int64? {
        if let number = attribute as? NSNumber { return number.int64Value }
        return (attribute as? any BinaryInteger).flatMap { Int64(exactly: $0) }
    }
}
