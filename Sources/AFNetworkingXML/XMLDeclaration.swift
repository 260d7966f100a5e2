import AFBase
import AFNetworking
import Foundation

/// The declaration at the beginning of XML: `<?xml version="1.0" encoding="…" standalone="yes"?>`.
///
/// Read strictly, so that no other reader can read it differently.
struct XMLDeclaration {
    /// The encoding it names, in lower case; nil if it names none.
    let encoding: String?
    private let place: Range<Int>?

    /// - Returns: Nil if it is malformed. Text without a declaration has one that names nothing.
    init?(_ text: Data) {
        var reader = Reader(bytes: [UInt8](text.prefix(256)))
        guard reader.take("<?xml"), reader.takeBlanks() else {
            (encoding, place) = (nil, nil)
            return
        }
        guard let version = reader.takeValue(of: "version"), reader.text(version).hasPrefix("1.") else { return nil }
        var isSeparated = reader.takeBlanks()
        let name = isSeparated ? reader.takeValue(of: "encoding") : nil
        if name != nil { isSeparated = reader.takeBlanks() }
        if isSeparated, let alone = reader.takeValue(of: "standalone") {
            guard ["yes", "no"].contains(reader.text(alone)) else { return nil }
            _ = reader.takeBlanks()
        }
        guard reader.take("?>") else { return nil }
        encoding = name.map { ASCII.lowered(reader.text($0)) }
        place = name
    }

    /// The text, which is in UTF-8 now, with a declaration that says so.
    func text(inUTF8 text: Data) -> Data {
        guard let place else { return text }
        let start = text.startIndex
        return text[..<(start + place.lowerBound)] + Data("UTF-8".utf8) + text[(start + place.upperBound)...]
    }

    private struct Reader {
        let bytes: [UInt8]
        private var position = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

        mutating func take(_ word: String) -> Bool {
            guard bytes[position...].starts(with: word.utf8) else { return false }
            position += word.utf8.count
            return true
        }

        /// Whether there are any.
        mutating func takeBlanks() -> Bool {
            let start = position
            position = bytes[start...].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? bytes.count
            return position > start
        }

        /// Where the value of an attribute with this name is; nil, and nothing taken, if something else comes next.
        mutating func takeValue(of name: String) -> Range<Int>? {
            let start = position
            guard take(name) else { return nil }
            _ = takeBlanks()
            if take("=") {
                _ = takeBlanks()
                for quote in ["\"", "'"] where take(quote) {
                    let end = bytes[position...].firstIndex { !Self.isPartOfName($0) } ?? bytes.count
                    let value = position..<end
                    position = end
                    if !value.isEmpty && take(quote) { return value }
                }
            }
            position = start
            return nil
        }

        private static func isPartOfName(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
