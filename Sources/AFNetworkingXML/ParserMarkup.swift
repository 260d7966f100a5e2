import Foundation
import FoundationXML

/// XML that Foundation's parser can tell a delegate without ending the process.
///
/// On Linux it reads a null pointer at a processing instruction without data, `<?name?>`, and at a notation or an entity
/// without a public name; of entities that a document declares it loses the text, and parses it anew each time.
struct ParserMarkup {
    private let text: Data
    private let isWellFormed: () -> Bool

    /// - Parameters:
    ///   - text: Valid UTF-8.
    ///   - isWellFormed: Asked only when it matters.
    init(_ text: Data, isWellFormed: @escaping () -> Bool) {
        self.text = text
        self.isWellFormed = isWellFormed
    }

    /// The text with a space in each such instruction, `<?name ?>`, which means the same.
    ///
    /// - Returns: Nil if it cannot be made safe: if it declares entities or notations, or has both a document type and such
    ///   an instruction, which could then be a part of a literal.
    var safe: Data? {
        let hasType = contains("<!DOCTYPE")
        if hasType && (contains("<!ENTITY") || contains("<!NOTATION")) { return nil }
        let instructions = emptyInstructions
        guard !instructions.isEmpty else { return text }
        guard !hasType else { return nil }
        // What is not well-formed is taken up again anywhere after an error, in the middle of a comment too.
        let untouchable = isWellFormed() ? literals : []
        return padded(instructions.filter { end in !untouchable.contains { $0.contains(end) } })
    }

    private func contains(_ word: String) -> Bool { text.range(of: Data(word.utf8)) != nil }

    /// Where the `?>` are of all that look like instructions without data.
    private var emptyInstructions: [Data.Index] {
        var found: [Data.Index] = []
        var rest = text[...]
        while let start = rest.range(of: Data("<?".utf8))?.upperBound, let end = text.firstEnd("?>", from: start) {
            if !text[start..<end].contains(where: { [0x20, 0x09, 0x0A, 0x0D].contains($0) }) { found.append(end) }
            rest = text[start...]
        }
        return found
    }

    /// Where comments and CDATA are, in text that is well-formed and has no document type.
    private var literals: [Range<Data.Index>] {
        var found: [Range<Data.Index>] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = text[text.index(after: start)...]
            for (opening, closing) in [("<!--", "-->"), ("<![CDATA[", "]]>")]
            where text[start...].starts(with: opening.utf8) {
                let content = text.index(start, offsetBy: opening.utf8.count)
                let end = text.firstEnd(closing, from: content) ?? text.endIndex
                found.append(start..<end)
                rest = text[end...]
            }
        }
        return found
    }

    private func padded(_ positions: [Data.Index]) -> Data {
        var padded = Data()
        var last = text.startIndex
        for position in positions {
            padded += text[last..<position] + [UInt8(ascii: " ")]
            last = position
        }
        return padded + text[last...]
    }
}

extension Data {
    /// Where the next such mark begins.
    fileprivate func firstEnd(_ mark: String, from start: Index) -> Index? {
        self[start...].range(of: Data(mark.utf8))?.lowerBound
    }
}
