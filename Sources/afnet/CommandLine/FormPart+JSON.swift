import Foundation

extension FormPart {
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
