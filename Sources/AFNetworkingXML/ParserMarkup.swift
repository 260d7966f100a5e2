import Foundation
import FoundationXML

/// Makes XML safe for Foundation's parser, which some markup causes to end the process.
///
/// On Linux it reads a null pointer at a processing instruction without data, `<?name?>`, and at a notation or an entity
/// without a public name; of entities that a document declares it loses the text, and parses it anew each time.
struct ParserMarkup {
    private let text: Data
    private let isWellFormed: () -> Bool

    /// - Parameters:
    ///   - text: Valid UTF-8.
    ///   - isWellFormed: Called only if the answer matters.
    init(text: Data, isWellFormed: @escaping () -> Bool) {
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
        // After an error the parser resumes anywhere, even in the middle of a comment.
        return padded(isWellFormed() ? emptyInstructionsOfDocument : instructions)
    }

    private func contains(_ word: String) -> Bool { text.range(of: Data(word.utf8)) != nil }

    /// The places of the `?>` of all that look like instructions without data, each once.
    ///
    /// Reads from the end to the beginning, so that it reads each byte once: a server may send nothing but `<?`.
    private var emptyInstructions: [Data.Index] {
        var found: [Data.Index] = []
        text.withUnsafeBytes { bytes in
            var nextEnd: Int?
            var nextBlank = Int.max
            // Each place at which a name could begin.
            for place in stride(from: bytes.count - 2, through: 2, by: -1) {
                if bytes[place] == UInt8(ascii: "?"), bytes[place + 1] == UInt8(ascii: ">") { nextEnd = place }
                if Self.isBlank(bytes[place]) { nextBlank = place }
                guard bytes[place - 2] == UInt8(ascii: "<"), bytes[place - 1] == UInt8(ascii: "?"),
                    let nextEnd, nextBlank > nextEnd
                else { continue }
                let end = text.startIndex + nextEnd
                if found.last != end { found.append(end) }
            }
        }
        return found.reversed()
    }

    /// The same for text that is well-formed and has no document type: ignores what only looks like an instruction, in
    /// a comment, in CDATA or within another instruction.
    private var emptyInstructionsOfDocument: [Data.Index] {
        text.withUnsafeBytes { bytes in
            var found: [Data.Index] = []
            var place = 0
            while let start = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
                place = start + 1
                for (opening, closing) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
                where bytes[start...].starts(with: opening.utf8) {
                    let content = bytes[(start + opening.utf8.count)...]
                    let end = content.indices.first { content[$0...].starts(with: closing.utf8) } ?? bytes.count
                    if opening == "<?", !content[..<end].contains(where: Self.isBlank) {
                        found.append(text.startIndex + end)
                    }
                    place = end
                }
            }
            return found
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
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
