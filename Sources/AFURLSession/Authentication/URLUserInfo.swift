import AFWire

/// User name and password of a URL.
struct URLUserInfo: Sendable {
    let user: [UInt8]
    /// Nil if the URL has no password.
    let credential: URLCredential?

    /// Nil if there is no user name, or the bytes are not UTF-8 once they are decoded.
    ///
    /// - Parameter encoded: What stands before `@`.
    init?(_ encoded: [UInt8]) {
        let colon = encoded.firstIndex(of: UInt8(ascii: ":"))
        guard let user = URLUserInfo.decode(encoded[..<(colon ?? encoded.count)]), !user.isEmpty else { return nil }
        self.user = Array(user.utf8)
        guard let colon else {
            credential = nil
            return
        }
        guard let password = URLUserInfo.decode(encoded[(colon + 1)...]) else { return nil }
        // Kept for the task whose URL it is.
        credential = URLCredential(user: user, password: password, persistence: .none)
    }

    private static func decode(_ part: ArraySlice<UInt8>) -> String? {
        part.withUnsafeBytes { PercentEncoding.decode($0) }.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
