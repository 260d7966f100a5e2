import Foundation

/// Checks Basic credentials (RFC 7617).
enum BasicCheck {
    static func credentials(in field: String?) -> (user: String, password: String)? {
        guard let text = token(in: field, scheme: "Basic"), let bytes = Data(base64Encoded: text) else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return (String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self))
    }

    /// Compares bytes: texts that Unicode takes for equal are different passwords.
    static func isRight(_ field: String?, user: String, password: String) -> Bool {
        guard let given = credentials(in: field) else { return false }
        return given.user.utf8.elementsEqual(user.utf8) && given.password.utf8.elementsEqual(password.utf8)
    }

    /// The text after the scheme.
    static func token(in field: String?, scheme: String) -> String? {
        let bytes = Array((field ?? "").utf8)
        let name = bytes.prefix { !$0.isBlank }
        guard String(decoding: name, as: UTF8.self).equalsIgnoringCase(scheme) else { return nil }
        return String(decoding: bytes[name.count...].trimmed, as: UTF8.self)
    }
}
