package import Foundation

/// One part of a multipart form.
package struct FormPart: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case value(Data)
        /// A file that is read while it is sent; `-` is standard input.
        case file(String)
        /// A file whose content is the value of the field; `-` is standard input.
        case valueOfFile(String)
    }

    package var name: String
    package var content: Content
    /// The file name in the form; nil for that of the file. A value with a file name is sent as a file.
    package var fileName: String?
    /// The media type; nil to derive it from the file name. A value has none.
    package var type: String?
    /// More header fields of the part, as in `Name: value`.
    package var headers: [String] = []

    package init(name: String, content: Content, fileName: String? = nil, type: String? = nil) {
        self.name = name
        self.content = content
        self.fileName = fileName
        self.type = type
    }

    private static let shape =
        "NAME=VALUE, NAME=@FILE or NAME=<FILE, with ;type=TYPE, ;filename=NAME and ;headers=FIELD behind it"

    /// curl's `--form`.
    ///
    /// - Parameter isLiteral: Whether no character of the value has a meaning, as in curl's `--form-string`.
    static func parts(_ text: String, of name: String, isLiteral: Bool = false) throws(ArgumentError) -> [FormPart] {
        guard let sign = text.firstIndex(of: "=") else {
            throw .badArgument("\(name) needs \(isLiteral ? "NAME=VALUE" : shape), not \"\(text)\"")
        }
        let field = String(text[..<sign])
        let rest = text[text.index(after: sign)...]
        if isLiteral { return [FormPart(name: field, content: .value(Data(rest.utf8)))] }
        switch rest.first {
        case "@": return try files(FormText(rest.dropFirst()), field: field, of: name)
        case "<":
            var text = FormText(rest.dropFirst())
            let path = text.word(endingAt: ";")
            return [try part(FormPart(name: field, content: .valueOfFile(path)), reading: &text, of: name)]
        default:
            var text = FormText(rest)
            let value = text.word(endingAt: ";", keepingUnknown: true)
            return [try part(FormPart(name: field, content: .value(Data(value.utf8))), reading: &text, of: name)]
        }
    }

    /// Several files may follow one `@`, separated by commas.
    private static func files(_ text: FormText, field: String, of name: String) throws(ArgumentError) -> [FormPart] {
        var text = text
        var parts: [FormPart] = []
        repeat {
            let path = text.word(endingAt: ";,")
            if path.isEmpty { throw .badArgument("\(name): there is no name of a file behind the @ of \"\(field)\"") }
            parts.append(try part(FormPart(name: field, content: .file(path)), reading: &text, of: name))
        } while text.take(",")
        return parts
    }

    /// Reads `;type=` and `;filename=` after the content.
    private static func part(
        _ part: FormPart,
        reading text: inout FormText,
        of name: String
    ) throws(ArgumentError) -> FormPart {
        var part = part
        let isFile = if case .file = part.content { true } else { false }
        while text.take(";") {
            switch text.key() {
            case "type": part.type = text.type(endingAt: isFile ? "," : "")
            case "filename": part.fileName = text.word(endingAt: isFile ? ";," : ";")
            case "headers": part.headers += try headers(text.word(endingAt: isFile ? ";," : ";"), of: name)
            case let key:
                throw .badArgument(
                    "\(name) knows ;type=, ;filename= and ;headers=, not \";\(key)\"; a value with a ; goes in quotes"
                )
            }
        }
        return part
    }

    /// `Name: value`, or `@FILE` with one on each line.
    private static func headers(_ text: String, of name: String) throws(ArgumentError) -> [String] {
        let lines = text.hasPrefix("@") ? try TextFile.lines(of: String(text.dropFirst()), for: name) : [text]
        let fields = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        if let line = fields.first(where: { !$0.contains(":") }) {
            throw .badArgument("\(name): ;headers= needs \"Name: value\", not \"\(line)\"")
        }
        return fields
    }

    /// `--part`: an object with `name`, with `value` or `file`, and perhaps with `filename` and `type`.
    init(json text: String, of name: String) throws(ArgumentError) {
        let members = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: any Sendable]
        guard let members else {
            throw .badArgument(
                "\(name) needs an object of JSON, as {\"name\": \"a\", \"value\": \"b\"}, not \"\(text)\""
            )
        }
        func member(_ key: String) throws(ArgumentError) -> String? {
            guard let value = members[key] else { return nil }
            guard let text = value as? String else { throw .badArgument("\(name): \"\(key)\" must be a string") }
            return text
        }
        if let other = members.keys.sorted().first(where: { !Self.keys.contains($0) }) {
            throw .badArgument("\(name) knows \(Self.keys.joined(separator: ", ")), not \"\(other)\"")
        }
        guard let field = try member("name") else { throw .badArgument("\(name) has no \"name\"") }
        let content: Content
        switch (try member("value"), try member("file")) {
        case (let value?, nil): content = .value(Data(value.utf8))
        case (nil, let path?): content = .file(path)
        default: throw .badArgument("\(name) needs either \"value\" or \"file\"")
        }
        self.init(name: field, content: content, fileName: try member("filename"), type: try member("type"))
    }

    private static let keys = ["name", "value", "file", "filename", "type"]
}

/// Reads the text after the equals sign of a `--form`, from left to right.
private struct FormText {
    private var rest: Substring

    /// Blanks in front of a value do not count, unless it stands in quotes.
    init(_ text: Substring) {
        rest = text.drop { $0 == " " || $0 == "\t" }
    }

    mutating func take(_ sign: Character) -> Bool {
        guard rest.first == sign else { return false }
        rest.removeFirst()
        return true
    }

    /// A word up to one of the ends, or a quoted one, in which `\"` and `\\` are escapes.
    ///
    /// - Parameter keepingUnknown: Whether a `;` without a known setting after it belongs to the word.
    mutating func word(endingAt ends: String, keepingUnknown: Bool = false) -> String {
        if rest.first == "\"", let quoted = quoted() { return quoted }
        var end = rest.startIndex
        while end < rest.endIndex {
            let isEnd = ends.contains(rest[end])
            if isEnd, !keepingUnknown || Self.beginsSetting(rest[end...].dropFirst()) { break }
            end = rest.index(after: end)
        }
        defer { rest = rest[end...] }
        return String(rest[..<end])
    }

    private static func beginsSetting(_ text: Substring) -> Bool {
        let text = text.drop { $0 == " " }.lowercased()
        return ["type=", "filename=", "headers="].contains { text.hasPrefix($0) }
    }

    /// Nil, and nothing is taken, if there is no closing quote.
    private mutating func quoted() -> String? {
        var word = ""
        var at = rest.index(after: rest.startIndex)
        while at < rest.endIndex {
            let character = rest[at]
            at = rest.index(after: at)
            if character == "\"" {
                rest = rest[at...]
                return word
            }
            if character == "\\", at < rest.endIndex, rest[at] == "\"" || rest[at] == "\\" {
                word.append(rest[at])
                at = rest.index(after: at)
            } else {
                word.append(character)
            }
        }
        return nil
    }

    /// The text before the next equals sign, in lower case.
    mutating func key() -> String {
        rest = rest.drop { $0 == " " }
        let key = rest.prefix { $0 != "=" && $0 != ";" }
        guard rest[key.endIndex...].first == "=" else { return "\(key) without a value" }
        rest = rest[key.endIndex...].dropFirst()
        return key.lowercased()
    }

    /// A type may have parameters: `text/plain; charset=utf-8`.
    mutating func type(endingAt ends: String) -> String {
        var type = word(endingAt: ";\(ends)")
        while rest.first == ";", !Self.beginsSetting(rest.dropFirst()), rest.dropFirst().contains("=") {
            rest.removeFirst()
            type += ";" + word(endingAt: ";\(ends)")
        }
        return type.trimmingCharacters(in: .whitespaces)
    }
}
