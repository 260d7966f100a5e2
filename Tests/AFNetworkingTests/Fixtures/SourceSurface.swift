/// The public names that our sources declare, as documentation writes them: `Type`, `Type.property`,
/// `Type.method(_:label:)`, `function(_:)`.
///
/// Reads declarations as far as they need to be understood for that, and no expressions.
struct SourceSurface {
    private var names: Set<String> = []
    /// What a type inherits from or conforms to.
    private var parents: [String: [String]] = [:]

    init(folders: [URL]) throws {
        for folder in folders {
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift")
            {
                let source = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
                var reader = DeclarationReader(tokens: SwiftTokens.tokens(of: source))
                reader.read()
                names.formUnion(reader.names)
                parents.merge(reader.parents) { $0 + $1 }
            }
        }
    }

    /// All names at the top level.
    var topLevelNames: Set<String> { names.filter { !$0.contains(".") } }

    /// Whether a name is declared, by its type or by what that inherits from.
    func declares(_ name: String) -> Bool {
        if names.contains(name) { return true }
        let parts = name.prefix { $0 != "(" }.split(separator: ".")
        guard parts.count > 1 else { return false }
        let type = parts.dropLast().joined(separator: ".")
        let member = name.dropFirst(type.count)
        return (parents[type] ?? []).contains { $0 != type && declares($0 + member) }
    }
}

/// Cuts Swift into words and signs, without comments and what is in string literals.
struct SwiftTokens {
    private let bytes: [UInt8]
    private var position = 0
    private var tokens: [String] = []

    static func tokens(of source: String) -> [String] {
        var reader = SwiftTokens(bytes: Array(source.utf8))
        while reader.position < reader.bytes.count { reader.readToken() }
        return reader.tokens
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func readToken() {
        if starts(with: "//") {
            skip(past: "\n")
        } else if starts(with: "/*") {
            skip(past: "*/")
        } else if starts(with: "\"\"\"") {
            position += 3
            skip(past: "\"\"\"")
        } else if starts(with: "\"") {
            skipString()
        } else if Self.isWord(bytes[position]) {
            let end = bytes[position...].firstIndex { !Self.isWord($0) } ?? bytes.count
            tokens.append(String(decoding: bytes[position..<end], as: UTF8.self))
            position = end
        } else if starts(with: "->") {
            tokens.append("->")
            position += 2
        } else {
            if bytes[position] > 0x20, bytes[position] != UInt8(ascii: "`") {
                tokens.append(String(decoding: [bytes[position]], as: UTF8.self))
            }
            position += 1
        }
    }

    private func starts(with mark: String) -> Bool { bytes[position...].starts(with: mark.utf8) }

    private mutating func skip(past mark: String) {
        while position < bytes.count && !starts(with: mark) { position += 1 }
        position += mark.utf8.count
    }

    private mutating func skipString() {
        position += 1
        while position < bytes.count && bytes[position] != UInt8(ascii: "\"") && bytes[position] != 0x0A {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position += 1
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}

/// Walks through tokens, and knows within which types it is.
private struct DeclarationReader {
    let tokens: [String]
    private(set) var names: Set<String> = []
    private(set) var parents: [String: [String]] = [:]
    private var position = 0
    /// The type of each open brace; nil for bodies.
    private var braces: [Scope?] = []
    private var opening: Scope?

    private struct Scope {
        let path: String
        let isPublic: Bool
        let isProtocol: Bool
    }

    init(tokens: [String]) {
        self.tokens = tokens
    }

    mutating func read() {
        while position < tokens.count {
            readToken()
            position += 1
        }
    }

    private mutating func readToken() {
        switch tokens[position] {
        case "{":
            braces.append(opening)
            opening = nil
        case "}": _ = braces.popLast()
        case "class", "struct", "enum", "protocol", "actor", "extension": readType()
        case _ where braces.contains { $0 == nil }: break
        case "func": declare(token(1) + labels(after: position + 2))
        case "init" where !braces.isEmpty && token(-1) != "." && token(-1) != "case":
            declare("init" + labels(after: position + 1))
        case "var", "let", "typealias": declare(token(1))
        case "case": readCases()
        default: break
        }
    }

    private func token(_ offset: Int) -> String {
        tokens.indices.contains(position + offset) ? tokens[position + offset] : ""
    }

    private mutating func readType() {
        let keyword = tokens[position]
        guard token(-1) != ".", token(-1) != ":", token(1).first?.isLetter == true,
            !["func", "var", "let", "subscript", "override"].contains(token(1))
        else { return }
        var end = position + 2
        var name = token(1)
        while end + 1 < tokens.count && tokens[end] == "." {
            name += "." + tokens[end + 1]
            end += 2
        }
        let path = (braces.compactMap { $0?.path } + [name]).joined(separator: ".")
        let isPublic = keyword == "extension" || isDeclaredPublic
        if keyword != "extension" { declare(name) }
        opening = Scope(path: path, isPublic: isPublic, isProtocol: keyword == "protocol")
        while end < tokens.count && tokens[end] != "{" {
            if tokens[end].first?.isLetter == true { parents[path, default: []].append(tokens[end]) }
            end += 1
        }
        position = end - 1
    }

    private mutating func readCases() {
        guard let scope = braces.last ?? nil, scope.isPublic, token(1).first?.isLetter == true else { return }
        names.insert("\(scope.path).\(token(1))")
        var next = position + 2
        while next + 1 < tokens.count && [",", "=", "-"].contains(tokens[next]) {
            if tokens[next] == "," { names.insert("\(scope.path).\(tokens[next + 1])") }
            // Raw values that are strings were left out.
            next += tokens[next] == "=" && [",", "-", "case", "}"].contains(tokens[next + 1]) ? 1 : 2
        }
    }

    private mutating func declare(_ name: String) {
        guard let scope = braces.last ?? nil else {
            if isDeclaredPublic { names.insert(name) }
            return
        }
        if isDeclaredPublic || scope.isProtocol && scope.isPublic { names.insert("\(scope.path).\(name)") }
    }

    /// Whether `public` or `open` is among the words before the keyword.
    private var isDeclaredPublic: Bool {
        let modifiers: Set<String> = [
            "public", "open", "static", "class", "final", "override", "required", "convenience", "mutating",
            "nonisolated",
            "indirect", "weak", "lazy", "private", "set", "(", ")",
        ]
        return tokens[..<position].reversed().prefix { modifiers.contains($0) }.contains {
            ["public", "open"].contains($0)
        }
    }

    /// The labels of the parameters, which begin at the next parenthesis.
    private func labels(after start: Int) -> String {
        guard let opening = tokens[start...].firstIndex(of: "(") else { return "" }
        var depth = 0
        var isFirst = true
        var labels = ""
        for token in tokens[opening...] {
            if depth == 1 && isFirst && token != ")" { labels += token + ":" }
            isFirst = depth == 0 || depth == 1 && token == ","
            if ["(", "[", "<", "{"].contains(token) { depth += 1 }
            if [")", "]", ">", "}"].contains(token) { depth -= 1 }
            if depth == 0 { break }
        }
        return "(\(labels))"
    }
}
