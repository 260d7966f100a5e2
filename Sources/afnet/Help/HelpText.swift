import Foundation

/// The texts of `--help` and `afnet help`.
package enum HelpText {
    private static let textWidth = 79
    /// The column where the texts of options begin.
    private static let column = 29

    /// - Parameter topic: Nil for the first screen.
    /// - Returns: Nil if there is no such topic.
    package static func text(on topic: String?) -> String? {
        guard let topic else { return brief }
        guard let name = HelpTopicName(rawValue: topic) else { return nil }
        return HelpTopic.page(name).map(text) ?? (name == .man ? ManPage.text : everything)
    }

    /// All topics, for people.
    static var topics: String { HelpTopicName.allCases.map(\.rawValue).joined(separator: ", ") }

    // MARK: The most common

    /// Options on the first screen.
    static let common = [
        "data", "json", "form", "upload-file", "header", "request", "user", "output", "remote-name", "location", "fail",
        "retry", "parallel", "write-out", "verbose",
    ]

    private static var brief: String {
        let options = common.compactMap { OptionTable.standard[$0] }
        let commands = HelpTopic.commands.map { row("  afnet \($0.name.rawValue)", text: $0.summary ?? "")[0] }
        return """
            usage: afnet [options] URL [URL ...] [--next [options] URL ...]

                afnet https://example.com/
                afnet -L -O https://example.com/file.tar.gz
                afnet --json '{"name": "Ann"}' https://api.example.com/users
                afnet -F photo=@me.jpg -F title=Me https://api.example.com/photos
                afnet -f --retry 3 -o data.json https://api.example.com/data

            \(options.flatMap { lines($0, text: $0.text.firstClause) }.joined(separator: "\n"))

            \(commands.joined(separator: "\n"))

            afnet help all has every option, afnet help TOPIC more on one of these:
            \(wrapped(topics, indent: 2).joined(separator: "\n"))

            """
    }

    // MARK: Everything

    private static var everything: String {
        let sections = OptionTable.standard.sections.map { section in
            let topic = section.topic.map { " (afnet help \($0.rawValue))" } ?? ""
            return "\(section.title)\(topic):\n\(lines(section.options).joined(separator: "\n"))\n"
        }
        let commands = HelpTopic.commands.map { "  afnet \($0.usage ?? $0.name.rawValue)" }.joined(separator: "\n")
        return """
            usage: afnet [get] [options] URL [URL ...] [--next [options] URL ...]
            \(commands)

            URLs are loaded one after the other, over connections they share. --next begins
            a new group: its options are its own; connections, cookies and the cache go on.

            \(sections.joined(separator: "\n"))
            \(exitCodes)
            """
    }

    // MARK: One topic

    private static func text(_ topic: HelpTopic) -> String {
        let usage = topic.usage.map { "usage: afnet \($0)\n\n" } ?? ""
        let sections = OptionTable.standard.sections.filter { $0.topic == topic.name }
        var options = sections.flatMap(\.options)
        if let command = topic.command {
            options = OptionTable.standard.options.filter { $0.commands.contains(command) }
        }
        let table = options.isEmpty ? "" : "\nOptions:\n\(lines(options).joined(separator: "\n"))\n"
        return usage + topic.text + (topic.addition ?? "") + table
    }

    static var exitCodes: String {
        let lines = ExitCode.allCases.flatMap { code in
            let text = wrapped(code.meaning, indent: 6)
            let number = "\(code.rawValue)"
            let first = String(repeating: " ", count: 4 - number.count) + number + (text.first ?? "").dropFirst(4)
            return [first] + text.dropFirst()
        }
        return "Exit codes, curl's where it has them:\n\(lines.joined(separator: "\n"))\n"
    }

    // MARK: Layout

    private static func lines(_ options: [CommandOption]) -> [String] { options.flatMap { lines($0, text: $0.text) } }

    private static func lines(_ option: CommandOption, text: String) -> [String] {
        row((option.letter == nil ? "      " : "  ") + option.spelling, text: text)
    }

    /// A name, and a text beside it, or below if the name is long.
    private static func row(_ name: String, text: String) -> [String] {
        let text = wrapped(text, indent: column)
        guard name.count < column - 1 else { return [name] + text }
        let blanks = String(repeating: " ", count: column - name.count)
        return [name + blanks + (text.first ?? "").dropFirst(column)] + text.dropFirst()
    }

    static func wrapped(_ text: String, indent: Int) -> [String] {
        var lines: [String] = []
        var line = String(repeating: " ", count: indent)
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, line.count + word.count + 1 > textWidth {
                lines.append(line)
                line = String(repeating: " ", count: indent)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }
}

extension String {
    /// The text before the first semicolon, colon or full stop with a blank after it.
    var firstClause: String {
        let ends = ["; ", ": ", ". "].compactMap { range(of: $0)?.lowerBound }
        return ends.min().map { String(self[..<$0]) } ?? self
    }
}
