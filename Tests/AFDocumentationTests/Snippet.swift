import Foundation

/// A piece of Swift on a page, held against the sources of tests.
///
/// Its paragraphs, which blank lines and lines with nothing but `…` separate, are to stand in one file, in this order,
/// each of them line by line. Indentation and blank lines do not count. Imports may stand anywhere in the file.
struct Snippet: Sendable, CustomStringConvertible {
    let page: String
    let number: Int
    private let text: String

    init(_ text: String, page: String = "", number: Int = 1) {
        (self.text, self.page, self.number) = (text, page, number)
    }

    /// All of one page, but for files of the reader's package. `.ci/matrix` builds those of the README.
    static func all(on page: String) throws -> [Snippet] {
        try Repository.text(page).components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
            .filter { !$0.hasPrefix("// Package.swift") && !$0.hasPrefix("// Sources/") }
            .enumerated().map { Snippet($1, page: page, number: $0 + 1) }
    }

    /// All in the doc comments of a source of ours.
    static func allInComments(of source: String) throws -> [Snippet] {
        var (blocks, open): ([String], [Substring]?) = ([], nil)
        for line in try Repository.text(source).split(separator: "\n", omittingEmptySubsequences: false) {
            let line = line.drop { $0 == " " }
            guard line.hasPrefix("///") else {
                open = nil
                continue
            }
            let text = line.dropFirst(line.hasPrefix("/// ") ? 4 : 3)
            switch (text, open) {
            case ("```swift", _): open = []
            case ("```", let lines?):
                blocks.append(lines.joined(separator: "\n"))
                open = nil
            default: open?.append(text)
            }
        }
        return blocks.enumerated().map { Snippet($1, page: source, number: $0 + 1) }
    }

    /// The lines of a source, as snippets are compared with them.
    static func lines(of source: String) -> String {
        let lines = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        return "\n" + lines.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
    }

    private var paragraphs: [ArraySlice<Substring>] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .split { ["", "…"].contains($0.trimmingCharacters(in: .whitespaces)) }
    }

    func stands(in lines: String) -> Bool {
        var rest = lines[...]
        for paragraph in paragraphs {
            for line in paragraph where line.hasPrefix("import ") {
                guard lines.contains("\n\(line.components(separatedBy: " //")[0])\n") else { return false }
            }
            let code = paragraph.filter { !$0.hasPrefix("import ") }.map { $0.trimmingCharacters(in: .whitespaces) }
            guard !code.isEmpty else { continue }
            guard let place = rest.range(of: "\n" + code.joined(separator: "\n") + "\n") else { return false }
            rest = rest[lines.index(before: place.upperBound)...]
        }
        return true
    }

    var description: String {
        "\(page), snippet \(number): \(text.split(separator: "\n").first ?? "")"
    }
}
