import Foundation

/// One part of a form.
struct MultipartPart: Sendable {
    enum Source: Sendable {
        case data(Data)
        case file(MultipartSourceFile)
        case stream(MultipartSourceStream)
    }

    let head: MultipartHead
    let source: Source
    /// What was announced, and must come.
    let length: Int64

    init(_ head: MultipartHead, _ source: Source, length: Int64) {
        self.head = head
        self.source = source
        self.length = length
    }

    /// For errors.
    var description: String { head.name.map { "the part \"\($0)\"" } ?? "a part of the form" }
}

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

// Unchecked: a stream is a class of Foundation's, or of the user's, that nobody may use from two threads. Whoever takes
// it, and only the first does, uses it on one thread at a time.
/// A stream of the user's that several copies of a form share, and one can read.
final class MultipartSourceStream: @unchecked Sendable {
    /// Of its part, as it is sent.
    let name: String
    private let stream: InputStream
    private let taken = Lock(false)

    init(_ stream: InputStream, of name: String) {
        self.stream = stream
        self.name = MultipartHead.quotable(name)
    }

    /// Somebody reads it, or has read it.
    var isTaken: Bool { taken.withLock { $0 } }

    /// Nil if somebody has it already.
    func take() -> InputStream? {
        let wasTaken = taken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        return wasTaken ? nil : stream
    }
}
