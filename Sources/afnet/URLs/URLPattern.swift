/// A URL of the command line, in which lists stand for several URLs: `{a,b}`, `[1-9]`, `[001-100:10]`, `[a-z]`.
package struct URLPattern {
    private enum Part {
        case text(String)
        case list([String])
        /// From, how many, the step, and the least number of digits.
        case numbers(Int, Int, Int, Int)
        case letters(UInt8, Int, UInt8)

        var isText: Bool { if case .text = self { true } else { false } }

        var count: Int {
            switch self {
            case .text: 1
            case .list(let words): words.count
            case .numbers(_, let count, _, _), .letters(_, let count, _): count
            }
        }

        func text(at index: Int) -> String {
            switch self {
            case .text(let text): return text
            case .list(let words): return words[index]
            case .numbers(let first, _, let step, let width):
                let digits = "\(first + index * step)"
                return String(repeating: "0", count: max(0, width - digits.count)) + digits
            case .letters(let first, _, let step): return String(UnicodeScalar(first + UInt8(index) * step))
            }
        }
    }

    /// How many URLs one pattern may stand for.
    private static let limit = 10_000_000

    private let parts: [Part]
    package let count: Int

    /// - Parameter expands: Whether lists stand for several URLs.
    package init(_ text: String, expands: Bool = true) throws(ArgumentError) {
        guard expands, text.utf8.contains(where: { "{}[]\\".utf8.contains($0) }) else {
            (parts, count) = ([.text(text)], 1)
            return
        }
        var reader = PatternReader(text)
        var parts: [Part] = []
        var count = 1
        while let part = try reader.part() {
            let (product, isTooLarge) = count.multipliedReportingOverflow(by: part.count)
            if isTooLarge || product > Self.limit {
                throw reader.error("it stands for more than \(Self.limit) URLs")
            }
            count = product
            parts.append(part)
        }
        (self.parts, self.count) = (parts, count)
    }

    /// One of the URLs, and what stands in it for each list.
    package subscript(index: Int) -> (url: String, words: [String]) {
        var rest = index
        var chosen: [String] = []
        // The last list changes fastest.
        for part in parts.reversed() {
            chosen.append(part.text(at: rest % part.count))
            rest /= part.count
        }
        chosen.reverse()
        let words = zip(parts, chosen).compactMap { $0.isText ? nil : $1 }
        return (chosen.joined(), words)
    }

    /// Reads a pattern from left to right.
    private struct PatternReader {
        private let text: String
        private var rest: Substring

        init(_ text: String) {
            self.text = text
            rest = text[...]
        }

        mutating func part() throws(ArgumentError) -> Part? {
            switch rest.first {
            case nil: return nil
            case "{": return try list()
            case "[":
                if let address = takeAddress() { return .text(address) }
                if rest.hasPrefix("[]") {
                    rest = rest.dropFirst(2)
                    return .text("[]")
                }
                return try range()
            case "}", "]":
                throw error("there is no \(rest.first == "}" ? "{" : "[") in front of \"\(rest.prefix(20))\"")
            default: return .text(plain())
            }
        }

        func error(_ reason: String) -> ArgumentError {
            ArgumentError(
                code: .malformedURL,
                message: "\(SecretText.withoutPassword(text)): \(reason); with --globoff, {} and [] are no lists"
            )
        }

        /// Text up to the next list. A backslash takes the meaning from the sign behind it.
        private mutating func plain() -> String {
            var plain = ""
            while let character = rest.first, !"{}[]".contains(character) {
                rest.removeFirst()
                if character == "\\", let next = rest.first, "{}[]".contains(next) {
                    rest.removeFirst()
                    plain.append(next)
                } else {
                    plain.append(character)
                }
            }
            return plain
        }

        private mutating func list() throws(ArgumentError) -> Part {
            var words = [""]
            var inner = rest.dropFirst()
            while let character = inner.popFirst() {
                switch character {
                case "}":
                    if words == [""] { throw error("there is nothing in {}") }
                    rest = inner
                    return .list(words)
                case ",": words.append("")
                case "{", "[", "]": throw error("there is a \(character) in \"\(rest.prefix(20))\"")
                case "\\": words[words.count - 1].append(inner.popFirst() ?? "\\")
                default: words[words.count - 1].append(character)
                }
            }
            throw error("there is no } behind \"\(rest.prefix(20))\"")
        }

        /// An address of IPv6, which stands in brackets, too.
        private mutating func takeAddress() -> String? {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            let inner = rest[..<end].dropFirst()
            let hasColon = inner.utf8.contains(UInt8(ascii: ":"))
            let isAddress =
                hasColon && !inner.utf8.contains(UInt8(ascii: "-"))
                && inner.prefix { $0 != "%" }
                    .allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            let isZoned = hasColon && inner.utf8.contains(UInt8(ascii: "%"))
            guard isAddress && inner.count(where: { $0 == ":" }) > 1 || isZoned else { return nil }
            defer { rest = rest[end...].dropFirst() }
            return String(rest[...end])
        }

        private mutating func range() throws(ArgumentError) -> Part {
            guard let end = rest.firstIndex(of: "]"),
                let part = Self.numbers(rest[..<end].dropFirst()) ?? Self.letters(rest[..<end].dropFirst())
            else { throw error("\"\(rest.prefix(20))\" is no range, as [1-9], [01-10:2] or [a-z]") }
            rest = rest[end...].dropFirst()
            return part
        }

        /// The two ends and the step, as text.
        private static func ends(_ text: Substring) -> (first: Substring, last: Substring, step: Int)? {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
            let step = parts.count > 1 ? number(parts[1]) : 1
            guard ends.count == 2, let step, step > 0 else { return nil }
            return (ends[0], ends[1], step)
        }

        private static func numbers(_ text: Substring) -> Part? {
            guard let (from, to, step) = ends(text), let first = number(from), let last = number(to), first <= last
            else {
                return nil
            }
            let (width, isPadded) = (from.utf8.count, from.utf8.count > 1 && from.hasPrefix("0"))
            return .numbers(first, (last - first) / step + 1, step, isPadded ? width : 0)
        }

        private static func letters(_ text: Substring) -> Part? {
            guard let (from, to, step) = ends(text), let first = letter(from), let last = letter(to), first <= last,
                (first < 97) == (last < 97), step <= 25
            else { return nil }
            return .letters(first, Int(last - first) / step + 1, UInt8(step))
        }

        private static func number(_ text: Substring) -> Int? {
            guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else {
                return nil
            }
            return Int(text)
        }

        private static func letter(_ text: Substring) -> UInt8? {
            guard text.utf8.count == 1, let byte = text.utf8.first, (65...90).contains(byte & 0xDF) else { return nil }
            return byte
        }
    }
}

extension OutputTarget {
    /// The target with the words of a URL's lists in the place of `#1`, `#2` and so on.
    func with(_ words: [String]) -> OutputTarget {
        guard case .path(let path) = self, !words.isEmpty, path.utf8.contains(UInt8(ascii: "#")) else { return self }
        var result = ""
        var rest = path[...]
        while let character = rest.popFirst() {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            if character == "#", let number = Int(digits), words.indices.contains(number - 1) {
                rest.removeFirst(digits.count)
                result += words[number - 1]
            } else {
                result.append(character)
            }
        }
        return .path(result)
    }
}
