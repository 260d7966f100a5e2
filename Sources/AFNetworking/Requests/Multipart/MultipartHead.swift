import AFBase
import Foundation

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
        try self.init([("Content-Disposition", disposition), ("Content-Type", mimeType)], name: name)
    }

    init(name: String) throws {
        let name = MultipartHead.quotable(name)
        try self.init([("Content-Disposition", "form-data; name=\"\(name)\"")], name: name)
    }

    /// The disposition first, then the others by their names: the same fields always make the same bytes.
    init(_ fields: [String: String]) throws {
        let isFirst = { (name: String) in ASCII.lowered(name) == "content-disposition" }
        let sorted = fields.sorted { one, other in
            isFirst(one.key) == isFirst(other.key) ? one.key < other.key : isFirst(one.key)
        }
        try self.init(sorted.map { ($0.key, $0.value) }, name: nil)
    }

    private init(_ fields: [(name: String, value: String)], name: String?) throws {
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
