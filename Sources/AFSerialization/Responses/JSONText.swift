import Foundation

/// JSON as UTF-8 without a byte order mark, no deeper than the stack allows.
struct JSONText {
    /// How many arrays and dictionaries may be within each other.
    static let deepestLevel = 512
    /// The same for types that decode themselves: they take two kilobytes of stack for each level, if not more.
    static let deepestDecodableLevel = 128

    let data: Data

    /// Takes a body in any encoding JSON has ever been allowed to have.
    ///
    /// - Throws: If it is not in its encoding, or too deep.
    init(_ body: Data, deepest: Int = deepestLevel) throws {
        data = try Self.utf8(body)
        guard !Self.isDeeper(data, than: deepest) else {
            throw CocoaError.unreadable("The JSON has more than \(deepest) arrays and dictionaries within each other")
        }
    }

    private static func utf8(_ body: Data) throws -> Data {
        let (encoding, mark) = UnicodeEncoding.detect(in: body)
        let text = body.dropFirst(mark)
        guard encoding != .utf8 else { return mark == 0 ? body : Data(text) }
        guard let string = encoding.string(text) else {
            throw CocoaError.unreadable("The JSON is not valid \(encoding)")
        }
        return Data(string.utf8)
    }

    // MARK: - Depth

    /// Whether more than so many arrays and dictionaries are within each other, if this is JSON.
    private static func isDeeper(_ text: Data, than limit: Int) -> Bool {
        text.withUnsafeBytes { bytes in
            var depth = 0
            var index = 0
            while index < bytes.count {
                switch bytes[index] {
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                case UInt8(ascii: "\""): index = endOfString(bytes, from: index)
                default: break
                }
                if depth > limit { return true }
                index += 1
            }
            return false
        }
    }

    /// Where the string that begins here has its closing quote.
    private static func endOfString(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count && bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index
    }
}
