/// The body of a form: its fields and its files.
struct ReceivedForm: Sendable {
    /// A file of a multipart form.
    struct File: Sendable {
        let name: String
        let content: [UInt8]
    }

    private(set) var fields: [(name: String, value: String)] = []
    private(set) var files: [File] = []

    /// Nil if the media type is not that of a form.
    init?(_ body: some Collection<UInt8>, type: String) {
        let bytes = Array(body)
        let essence = type.utf8.prefix { $0 != UInt8(ascii: ";") }
        let kind = String(decoding: Array(essence)[...].trimmed.map(\.asciiLowercased), as: UTF8.self)
        switch kind {
        case "application/x-www-form-urlencoded":
            readPairs(bytes)
        case "multipart/form-data":
            let parameters = FieldParameters(type.utf8.dropFirst(essence.count), separator: UInt8(ascii: ";"))
            guard let boundary = parameters["boundary"], !boundary.isEmpty else { return nil }
            for part in Self.parts(of: bytes, boundary: Array("--\(boundary)".utf8)) { add(part) }
        default:
            return nil
        }
    }

    private mutating func readPairs(_ bytes: [UInt8]) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let spaced = pair.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
            let parts = spaced.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? RequestTarget.percentDecoded(parts[1]) : ""
            fields.append((RequestTarget.percentDecoded(parts[0]), value))
        }
    }

    // MARK: - Multipart (RFC 7578)

    private mutating func add(_ part: [UInt8]) {
        guard let end = part.firstRange(of: [13, 10, 13, 10]) else { return }
        // A part begins with CRLF, so a part without fields has the empty line, too.
        let content = Array(part[end.upperBound...])
        let lines = part[..<end.lowerBound].split(separator: 10)
        let disposition = lines.first { line in
            String(decoding: line.prefix(20), as: UTF8.self).equalsIgnoringCase("content-disposition:")
        }
        let parameters = FieldParameters(
            (disposition ?? []).drop { $0 != UInt8(ascii: ";") }.filter { $0 != 13 },
            separator: UInt8(ascii: ";")
        )
        let name = parameters["name"] ?? ""
        if parameters["filename"] != nil {
            files.append(File(name: name, content: content))
        } else {
            fields.append((name, String(decoding: content, as: UTF8.self)))
        }
    }

    /// The parts between the boundaries, each from the CRLF after one boundary to the CRLF before the next.
    private static func parts(of body: [UInt8], boundary: [UInt8]) -> [[UInt8]] {
        // The first boundary may stand at the beginning of the body, without CRLF before it.
        let text = [13, 10] + body
        let delimiter = [13, 10] + boundary
        var parts: [[UInt8]] = []
        var start = text.firstRange(of: delimiter)?.upperBound
        while let from = start, !text[from...].starts(with: "--".utf8),
            let next = text[from...].firstRange(of: delimiter)
        {
            parts.append(Array(text[from..<next.lowerBound]))
            start = next.upperBound
        }
        return parts
    }
}

extension Collection where Element == UInt8, Index == Int {
    /// The first place of these bytes. Usually linear, because their first byte is rare.
    func firstRange(of bytes: [UInt8]) -> Range<Int>? {
        guard let first = bytes.first, count >= bytes.count else { return nil }
        var position = startIndex
        while position <= endIndex - bytes.count {
            if self[position] == first, self[position...].starts(with: bytes) {
                return position..<position + bytes.count
            }
            position += 1
        }
        return nil
    }
}
