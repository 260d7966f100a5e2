import AFWire
import Foundation

/// A head that was sent, as text.
enum HeadText {
    static func fields(of head: [UInt8]) -> [(name: String, value: String)] {
        HTTPText.decode(head).components(separatedBy: "\r\n").dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), trimmed(line[line.index(after: colon)...]))
        }
    }

    /// Without spaces and tabs around it.
    static func trimmed(_ text: Substring) -> String {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return String(text)
    }
}
