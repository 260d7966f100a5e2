import AFBase
import AFRequest
import Foundation

/// One part of a form.
struct MultipartPart: Sendable {
    enum Source: Sendable {
        case data(Data)
        case file(MultipartSourceFile)
        /// A stream of the program's that all copies of a form share, and one of them reads.
        case stream(HandedStream)
    }

    let head: MultipartHead
    let source: Source
    /// The announced length, which the content must have.
    let length: Int64

    /// For errors.
    var description: String { head.name.map { "the part \"\($0)\"" } ?? "a part of the form" }
}

/// A file that is a part of a form.
struct MultipartSourceFile: Sendable {
    /// What changes when the file is written to.
    struct Stamp: Sendable, Hashable {
        let number: Int64?
        let size: Int64
        let modified: Date?
    }

    let path: String
    /// The size at the time the file was appended.
    let size: Int64

    init(_ url: URL) throws {
        guard url.isFileURL, !url.path.isEmpty else { throw MultipartError.notAFileURL }
        // Links are followed here: attributes are those of the link.
        path = url.resolvingSymlinksInPath().path
        guard FileManager.default.fileExists(atPath: path) else { throw MultipartError.notReachable(path) }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        guard attributes[.type] as? FileAttributeType == .typeRegular else { throw MultipartError.notRegular(path) }
        // Throws the reason if the file may not be read.
        try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).close()
        size = MultipartSourceFile.integer(attributes[.size]) ?? 0
    }

    /// The present stamp; nil if it cannot be read.
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

/// The header fields of a part, and the empty line after them.
struct MultipartHead: Sendable {
    let bytes: [UInt8]
    /// The name of the field, as it is sent.
    let name: String?

    init(name: String, fileName: String, mimeType: String) throws {
        let name = MultipartHead.quotable(name)
        // Send no folders: they reveal this machine, and a server might follow them.
        let lastName = fileName.utf8.lastIndex(of: UInt8(ascii: "/")).map { fileName[$0...].dropFirst() }
        let quoted = MultipartHead.quotable(lastName.map(String.init) ?? fileName)
        let disposition = "form-data; name=\"\(name)\"; filename=\"\(quoted)\""
        try self.init(fields: [("Content-Disposition", disposition), ("Content-Type", mimeType)], name: name)
    }

    init(name: String) throws {
        let name = MultipartHead.quotable(name)
        try self.init(fields: [("Content-Disposition", "form-data; name=\"\(name)\"")], name: name)
    }

    /// The disposition first, then the others by their names: the same fields always make the same bytes.
    init(_ fields: [String: String]) throws {
        let isFirst = { (name: String) in ASCII.lowered(name) == "content-disposition" }
        let sorted = fields.sorted { one, other in
            isFirst(one.key) == isFirst(other.key) ? one.key < other.key : isFirst(one.key)
        }
        try self.init(fields: sorted.map { ($0.key, $0.value) }, name: nil)
    }

    private init(fields: [(name: String, value: String)], name: String?) throws {
        var text = ""
        for field in fields {
            guard MultipartHead.isToken(field.name) else { throw MultipartError.headerName(field.name) }
            guard !field.value.utf8.contains(where: MultipartHead.isForbidden) else {
                throw MultipartError.headerValue(of: field.name)
            }
            text += "\(field.name): \(field.value)\r\n"
        }
        bytes = Array((text + "\r\n").utf8)
        self.name = name
    }

    /// The text, with characters that would end the quotes or the line as `%XX`.
    static func quotable(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "\"") || isControl($0) }) else { return text }
        let quoted = text.utf8.flatMap { byte -> [UInt8] in
            guard byte == UInt8(ascii: "\"") || isControl(byte) else { return [byte] }
            let digits = String(byte, radix: 16, uppercase: true)
            return Array("%\(digits.count == 1 ? "0" : "")\(digits)".utf8)
        }
        return String(decoding: quoted, as: UTF8.self)
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    private static func isForbidden(_ byte: UInt8) -> Bool { isControl(byte) && byte != UInt8(ascii: "\t") }

    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
            }
    }
}
