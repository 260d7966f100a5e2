import Foundation

extension URL {
    /// The text of the URL with everything between `//` and the last `@` of the authority removed. Works on any text,
    /// also on one we refuse to load, since that is when it ends up in an error.
    package var textWithoutUserInfo: String {
        let text = absoluteString
        let bytes = text.utf8
        guard let slashes = text.range(of: "//"), bytes.contains(UInt8(ascii: "@")) else { return text }
        let end = bytes[slashes.upperBound...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? bytes.endIndex
        guard let at = bytes[slashes.upperBound..<end].lastIndex(of: UInt8(ascii: "@")) else { return text }
        return String(text[..<slashes.upperBound]) + String(text[bytes.index(after: at)...])
    }
}
