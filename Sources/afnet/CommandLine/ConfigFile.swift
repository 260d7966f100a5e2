import Foundation
import Glibc

/// A file with options, in curl's format: one on a line, with or without its dashes, and its value behind a blank, a colon or
/// an equals sign. A value in double quotes may have `\"`, `\\`, `\t`, `\n`, `\r` and `\v`. A line that begins with `#` says
/// nothing.
struct ConfigFile {
    /// The words that would say the same on the command line.
    let words: [String]

    /// - Parameter path: `-` is standard input.
    init(_ path: String) throws(ArgumentError) {
        var words: [String] = []
        for (index, line) in try TextFile.lines(of: path, for: "--config").enumerated() {
            do throws(ArgumentError) {
                words += try Self.words(line)
            } catch {
                throw ArgumentError(code: error.code, message: "\(path), line \(index + 1): \(error.message)")
            }
        }
        self.words = words
    }

    /// The words of the file in the user's home folder that holds for each run; none if there is no such file.
    static func ofUser() throws(ArgumentError) -> [String] {
        let path = "\(Environment.value(of: "HOME") ?? NSHomeDirectory())/.afnetrc"
        guard access(path, F_OK) == 0 else { return [] }
        return try ConfigFile(path).words
    }

    private static func words(_ line: String) throws(ArgumentError) -> [String] {
        var rest = line[...].drop(while: isBlank)
        guard let first = rest.first, first != "#" else { return [] }
        let name = String(rest.prefix { !isBlank($0) && $0 != "=" && $0 != ":" })
        rest = rest.dropFirst(name.count).drop(while: isBlank)
        if rest.first == "=" || rest.first == ":" { rest = rest.dropFirst().drop(while: isBlank) }
        let value =
            rest.isEmpty ? nil : rest.first == "\"" ? quoted(rest.dropFirst()) : String(rest.prefix { !isBlank($0) })
        return try words(name, value: value)
    }

    private static func words(_ name: String, value: String?) throws(ArgumentError) -> [String] {
        if name == "next" || name == "--next" || name == "-:" { return ["--next"] }
        if name.hasPrefix("-"), !name.hasPrefix("--") {
            if needsValue(name.dropFirst()) != (value != nil) {
                throw .usage(value == nil ? "\(name) needs a value" : "\(name) has no value")
            }
            return [name] + (value.map { [$0] } ?? [])
        }
        let name = name.hasPrefix("--") ? String(name.dropFirst(2)) : name
        guard let option = OptionTable.standard.named(name)?.option else { throw UnknownOption(name).error }
        guard option.takesValue else {
            if value != nil { throw .usage("--\(name) has no value") }
            return ["--\(name)"]
        }
        guard let value else { throw .usage("--\(name) needs a value") }
        return ["--\(name)", value]
    }

    /// Whether the last of the letters needs a value: behind one that needs it, they are the value.
    private static func needsValue(_ letters: Substring) -> Bool {
        let last = letters.firstIndex { OptionTable.standard[$0]?.takesValue == true }
        return last.map { letters.index(after: $0) == letters.endIndex } ?? false
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    private static func quoted(_ text: Substring) -> String {
        let escapes: [Character: Character] = ["t": "\t", "n": "\n", "r": "\r", "v": "\u{0B}"]
        var value = ""
        var rest = text
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\", let escape = rest.popFirst() {
                value.append(escapes[escape] ?? escape)
            } else {
                value.append(character)
            }
        }
        return value
    }
}
