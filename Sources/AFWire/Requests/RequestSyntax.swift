import AFBase

/// The byte rules for what a caller may put into a request head (RFC 9110 §5 and §9, RFC 9112 §3).
package enum RequestSyntax {
    /// Request line, fields and the empty line together.
    package static let maximumHeadLength = 262_144

    /// A token, in the caller's case. CONNECT asks a proxy for a tunnel; it is never a caller's to send.
    package static func checkMethod(_ bytes: UnsafeRawBufferPointer) throws(RequestRejection) {
        if bytes.isEmpty { throw RequestRejection(.method, rule: .empty) }
        if let position = firstOutsideToken(bytes) {
            throw RequestRejection(.method, rule: .notToken, at: position, excerpt: EscapedText(bytes))
        }
        if ByteScanning.equalsIgnoringCase(bytes, lowercase: "connect") {
            throw RequestRejection(.method, rule: .notAllowed, excerpt: EscapedText(bytes))
        }
    }

    package static func checkFieldName(_ bytes: UnsafeRawBufferPointer) throws(RequestRejection) {
        if bytes.isEmpty { throw RequestRejection(.fieldName, rule: .empty) }
        if let position = firstOutsideToken(bytes) {
            throw RequestRejection(.fieldName, rule: .notToken, at: position, excerpt: EscapedText(bytes))
        }
    }

    /// The value without the blanks around it. Every control but HTAB is refused, folds and DEL included; bytes from
    /// 0x80 pass, as text in UTF-8 does. The value itself is never quoted in an error: it may be a credential.
    package static func trimmedFieldValue(
        _ bytes: UnsafeRawBufferPointer,
        of name: UnsafeRawBufferPointer
    ) throws(RequestRejection) -> UnsafeRawBufferPointer {
        for index in bytes.indices where ByteScanning.isForbiddenControl(bytes[index]) {
            throw RequestRejection(.fieldValue, rule: .control, at: index, field: EscapedText(name))
        }
        let value = ByteScanning.trimmingOWS(bytes)
        if name.count == 13, ByteScanning.equalsIgnoringCase(name, lowercase: "authorization") { try checkBasic(value) }
        return value
    }

    /// RFC 7617 §2: user name and password hold no control characters. Base64 would carry them to a server that writes
    /// them into heads and logs of its own.
    private static func checkBasic(_ value: UnsafeRawBufferPointer) throws(RequestRejection) {
        guard value.count > 6, ByteScanning.isOWS(value[5]),
            ByteScanning.equalsIgnoringCase(UnsafeRawBufferPointer(rebasing: value[..<5]), lowercase: "basic")
        else { return }
        let encoded = ByteScanning.trimmingOWS(UnsafeRawBufferPointer(rebasing: value[6...]))
        if Base64.decode(encoded)?.contains(where: { $0 < 0x20 || $0 == 0x7F }) == true {
            throw RequestRejection(.credentials, rule: .control)
        }
    }

    /// A caller's `Host` value: blanks trimmed, then the grammar of a URL's host and port. It is sent as spelled.
    package static func checkedHostValue(
        _ bytes: UnsafeRawBufferPointer
    ) throws(RequestRejection) -> UnsafeRawBufferPointer {
        let value = ByteScanning.trimmingOWS(bytes)
        if let position = value.firstIndex(where: { "@/?#%".utf8.contains($0) }) {
            throw RequestRejection(.hostField, rule: .forbiddenByte, at: position)
        }
        do throws(RequestRejection) {
            _ = try RequestURL("http://\(String(decoding: value, as: UTF8.self))/")
        } catch {
            throw RequestRejection(.hostField, rule: error.rule, excerpt: error.excerpt)
        }
        return value
    }

    private static func firstOutsideToken(_ bytes: UnsafeRawBufferPointer) -> Int? {
        for index in bytes.indices where !ByteScanning.isToken(bytes[index]) { return index }
        return nil
    }
}
