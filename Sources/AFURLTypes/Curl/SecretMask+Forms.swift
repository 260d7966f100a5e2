import AFBase
import AFState
import AFWire
import Foundation

extension SecretMask {
    /// A `multipart/form-data` body (RFC 7578) without the contents of parts whose names are secrets.
    ///
    /// Covers the contents of a part whose name it cannot read, and a body whose parts it cannot find.
    func form(_ body: Data, type: String) -> Data {
        let parameters = MediaType(type)?.parameters ?? []
        guard let boundary = parameters.first(where: { $0.name == "boundary" })?.value, !boundary.isEmpty else {
            return Data(SecretMask.cover.utf8)
        }
        let delimiter = Data("--".utf8) + boundary
        let feedAndDelimiter = Data("\n".utf8) + delimiter
        guard body.starts(with: delimiter) else { return Data(SecretMask.cover.utf8) }
        var output = Data()
        var start = body.startIndex
        while let mark = body[start...].firstRange(of: feedAndDelimiter) {
            output += part(body[start..<mark.lowerBound])
            output += "\n".utf8
            start = body.index(after: mark.lowerBound)
        }
        return output + part(body[start...])
    }

    /// - Parameter bytes: A part with the delimiter in front of it, up to the line feed in front of the next one.
    private func part(_ bytes: Data) -> Data {
        let head = FormPartHead(bytes)
        var content = bytes[head.end...]
        let ending = content.last == UInt8(ascii: "\r") ? content.suffix(1) : Data()
        content = content.dropLast(ending.count)
        guard !content.isEmpty else { return bytes }
        let isSecret = head.name.map(SecretNames.containsItem) ?? true
        let shown = isSecret ? Data(SecretMask.cover.utf8) : self.body(content, type: head.type)
        return bytes[..<head.end] + shown + ending
    }
}

/// The delimiter and the header fields of a part.
private struct FormPartHead {
    /// Where the content begins. Behind the delimiter if no empty line ends the fields.
    private(set) var end: Data.Index
    private(set) var name: String?
    private(set) var type = ""

    init(_ part: Data) {
        var isDelimiter = true
        var start = part.startIndex
        end = part.endIndex
        while let feed = part[start...].firstIndex(of: UInt8(ascii: "\n")) {
            var line = part[start..<feed]
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            start = part.index(after: feed)
            if isDelimiter || line.isEmpty { end = start }
            if line.isEmpty { return }
            if !isDelimiter { self.read(String(decoding: line, as: UTF8.self)) }
            isDelimiter = false
        }
        // The fields have no end, so nothing tells them from the content.
        name = nil
    }

    private mutating func read(_ line: String) {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
        let value = String(line[line.index(after: colon)...])
        switch ASCII.lowered(line[..<colon]) {
        case "content-type": type = value
        case "content-disposition": name = Self.name(in: value)
        default: break
        }
    }

    /// The parameter `name`, all of it, though it be no token and stand without quotation marks. Nil if there is none.
    private static func name(in value: String) -> String? {
        var (parts, isQuoted, isEscaped) = ([""], false, false)
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\" where isQuoted && !isEscaped:
                isEscaped = true
                continue
            case "\"" where !isEscaped: isQuoted.toggle()
            case ";" where !isQuoted: parts.append("")
            default: parts[parts.count - 1].unicodeScalars.append(scalar)
            }
            isEscaped = false
        }
        for part in parts where !isQuoted {
            let part = part.unicodeScalars.drop { $0 == " " || $0 == "\t" }
            if ASCII.lowered(String(part)).hasPrefix("name=") { return String(part.dropFirst("name=".count)) }
        }
        return nil
    }
}
