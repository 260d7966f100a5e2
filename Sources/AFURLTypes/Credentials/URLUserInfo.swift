import AFWire
import Foundation

/// The user name and password of a URL. One of them may be empty, for example where a token is the password.
struct URLUserInfo: Sendable {
    /// Nil if the name is empty: then it does not say which user is meant.
    package let user: [UInt8]?
    /// Nil if the URL has no password.
    package let credential: URLCredential?

    /// Nil if both are empty, or the bytes are not UTF-8 once they are decoded.
    ///
    /// - Parameter encoded: The user information (before `@`).
    package init?(_ encoded: [UInt8]) {
        let colon = encoded.firstIndex(of: UInt8(ascii: ":"))
        guard let user = URLUserInfo.decode(encoded[..<(colon ?? encoded.count)]),
            let password = URLUserInfo.decode(encoded[(colon ?? encoded.count)...].dropFirst()),
            !user.isEmpty || !password.isEmpty
        else { return nil }
        self.user = user.isEmpty ? nil : Array(user.utf8)
        guard colon != nil else {
            credential = nil
            return
        }
        // The credential is only for the task whose URL it is.
        credential = URLCredential(user: user, password: password, persistence: .none)
    }

    private static func decode(_ part: ArraySlice<UInt8>) -> String? {
        part.withUnsafeBytes { PercentEncoding.decode($0) }.flatMap { String(validating: $0, as: UTF8.self) }
    }
}

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
