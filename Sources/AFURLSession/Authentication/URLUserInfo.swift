import AFWire

/// The user name and password of a URL. One of them may be empty, for example where a token is the password.
struct URLUserInfo: Sendable {
    /// Nil if the name is empty: then it does not say which user is meant.
    let user: [UInt8]?
    /// Nil if the URL has no password.
    let credential: URLCredential?

    /// Nil if both are empty, or the bytes are not UTF-8 once they are decoded.
    ///
    /// - Parameter encoded: The user information (before `@`).
    init?(_ encoded: [UInt8]) {
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
