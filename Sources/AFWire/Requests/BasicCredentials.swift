/// User name and password for Basic authentication (RFC 7617), as a field value.
package struct BasicCredentials: Sendable {
    /// `Basic` and the encoded pair.
    package let fieldValue: String

    /// A colon in the user name would move its rest into the password; controls are forbidden in both. Text goes out
    /// as UTF-8.
    package init(user: String, password: String) throws(RequestRejection) {
        try Self.check(user, isUser: true)
        try Self.check(password, isUser: false)
        let encoded = "\(user):\(password)".withUTF8Bytes { Base64.encode($0) }
        fieldValue = "Basic " + String(decoding: encoded, as: UTF8.self)
    }

    private static func check(_ text: String, isUser: Bool) throws(RequestRejection) {
        for (position, byte) in text.utf8.enumerated() {
            if byte < 0x20 || byte == 0x7F { throw RequestRejection(.credentials, .control, at: position) }
            if isUser, byte == UInt8(ascii: ":") { throw RequestRejection(.credentials, .colonInUser, at: position) }
        }
    }
}
