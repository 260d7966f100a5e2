import AFBase

/// User name and password for Basic authentication (RFC 7617), as a field value.
package struct BasicCredentials: Sendable {
    /// `Basic` and the encoded pair.
    package let field: [UInt8]

    /// `Basic` and the encoded pair.
    package var fieldValue: String { String(decoding: field, as: UTF8.self) }

    /// A colon in the user name would move its rest into the password; controls are forbidden in both.
    ///
    /// Text goes out as UTF-8, whether or not the server says `charset="UTF-8"`. RFC 7617 §2.1 knows no other charset,
    /// servers of today expect this one, and for ASCII it makes no difference.
    package init(user: String, password: String) throws(RequestRejection) {
        self = try user.withUTF8Bytes { user throws(RequestRejection) in
            try password.withUTF8Bytes { password throws(RequestRejection) in
                try BasicCredentials(user: user, password: password)
            }
        }
    }

    /// The same of bytes.
    package init(user: UnsafeRawBufferPointer, password: UnsafeRawBufferPointer) throws(RequestRejection) {
        field = try BasicCredentials.field(user: user, password: password)
    }

    private static func field(
        user: UnsafeRawBufferPointer,
        password: UnsafeRawBufferPointer
    ) throws(RequestRejection) -> [UInt8] {
        try check(user)
        if let colon = user.firstIndex(of: UInt8(ascii: ":")) {
            throw RequestRejection(.credentials, rule: .colonInUser, at: colon)
        }
        try check(password)
        let pair = Array(user) + [UInt8(ascii: ":")] + Array(password)
        return Array("Basic ".utf8) + pair.withUnsafeBytes { Base64.encode($0) }
    }

    private static func check(_ text: UnsafeRawBufferPointer) throws(RequestRejection) {
        if let control = text.firstIndex(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw RequestRejection(.credentials, rule: .control, at: control)
        }
    }
}
