import AFURLSession

/// The value of one `--header`. The library checks name and value.
package enum HeaderOption: Sendable, Equatable {
    /// `Name: value`, or `Name;` for an empty one.
    case set(name: String, value: String)
    /// `Name:`
    case removed(name: String)

    /// Fields that a request must have.
    private static let permanent = ["content-length", "host"]

    /// `Transfer-Encoding: chunked`
    var asksForChunks: Bool {
        guard case .set(let name, let value) = self, name.lowercased() == "transfer-encoding" else { return false }
        return value.lowercased().split(separator: ",").contains { $0.drop { $0 == " " }.hasPrefix("chunked") }
    }

    /// Name and value in lower case.
    var lowercased: HeaderOption {
        switch self {
        case .set(let name, let value): .set(name: name.lowercased(), value: value.lowercased())
        case .removed(let name): .removed(name: name.lowercased())
        }
    }

    /// The options of one value, which may be `@FILE`: a file with one on each line; `@-` is standard input.
    static func options(_ text: String, of name: String) throws(ArgumentError) -> [HeaderOption] {
        guard text.hasPrefix("@") else { return [try HeaderOption(text)] }
        let lines = try TextFile.lines(of: String(text.dropFirst()), for: name)
        return try lines.filter { !$0.isEmpty }.map { line throws(ArgumentError) in try HeaderOption(line) }
    }

    init(_ text: String) throws(ArgumentError) {
        guard let colon = text.firstIndex(of: ":") else {
            guard text.hasSuffix(";"), text.count > 1 else {
                throw .badArgument("--header needs \"Name: value\", \"Name:\" or \"Name;\", not \"\(text)\"")
            }
            self = .set(name: String(text.dropLast()), value: "")
            return
        }
        let name = String(text[..<colon])
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        if name.isEmpty { throw .badArgument("--header \"\(text)\" has no name") }
        if value.isEmpty, Self.permanent.contains(name.lowercased()) {
            throw .badArgument("\(name) cannot be left out: HTTP/1.1 needs it")
        }
        self = value.isEmpty ? .removed(name: name) : .set(name: name, value: String(value))
    }
}
