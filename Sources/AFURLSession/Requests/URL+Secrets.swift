import Foundation

extension URL {
    /// The text of the URL without user name and password: without everything between the slashes behind the scheme and
    /// the last `@` before the first `/`, `?` or `#`.
    ///
    /// Works on any text, also on a URL that the session refuses to load (`http:user:password@host`), because such a
    /// URL ends up in an error.
    package var textWithoutUserInfo: String {
        let bytes = Array(absoluteString.utf8)
        guard bytes.contains(UInt8(ascii: "@")) else { return absoluteString }
        let isSlash = { (byte: UInt8) in byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
        // Without a scheme there is an authority only behind two slashes.
        let colon = bytes.firstIndex { $0 == UInt8(ascii: ":") || isSlash($0) } ?? 0
        guard bytes[colon] == UInt8(ascii: ":") || bytes.starts(with: "//".utf8) else { return absoluteString }
        let start = bytes[(colon + 1)...].firstIndex { !isSlash($0) } ?? bytes.count
        let end = bytes[start...].firstIndex { isSlash($0) || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        guard let at = bytes[start..<(end ?? bytes.count)].lastIndex(of: UInt8(ascii: "@")) else {
            return absoluteString
        }
        return String(decoding: bytes[..<start] + bytes[(at + 1)...], as: UTF8.self)
    }
}
