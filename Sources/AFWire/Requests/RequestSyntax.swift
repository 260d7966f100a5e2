/// The byte rules for what a caller may put into a request head (RFC 9110 §5 and §9, RFC 9112 §3).
package enum RequestSyntax {
    /// Request line, fields and the empty line together.
    package static let maximumHeadLength = 262_144

    /// A token, in the caller's case. CONNECT asks a proxy for a tunnel; it is never a caller's to send.
    package static func checkMethod(_ bytes: UnsafeRawBufferPointer) throws(RequestRejection) {
        if bytes.isEmpty { throw RequestRejection(.method, .empty) }
        if let position = firstOutsideToken(bytes) {
            throw RequestRejection(.method, .notToken, at: position, excerpt: EscapedText(bytes))
        }
<<<<<<< HEAD
        if isEqual(bytes, lowered: "connect") {
=======
        if ByteScanning.equalsIgnoringCase(bytes, "connect") {
>>>>>>> request
            throw RequestRejection(.method, .notAllowed, excerpt: EscapedText(bytes))
        }
    }

    package static func checkFieldName(_ bytes: UnsafeRawBufferPointer) throws(RequestRejection) {
        if bytes.isEmpty { throw RequestRejection(.fieldName, .empty) }
        if let position = firstOutsideToken(bytes) {
            throw RequestRejection(.fieldName, .notToken, at: position, excerpt: EscapedText(bytes))
        }
    }

    /// The value without the blanks around it. Every control but HTAB is refused, folds and DEL included; bytes from
    /// 0x80 pass, as text in UTF-8 does. The value itself is never quoted in an error: it may be a credential.
    package static func trimmedFieldValue(
        _ bytes: UnsafeRawBufferPointer,
        of name: UnsafeRawBufferPointer
    ) throws(RequestRejection) -> UnsafeRawBufferPointer {
<<<<<<< HEAD
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x20 && byte != 0x09 || byte == 0x7F {
                throw RequestRejection(.fieldValue, .control, at: index, field: EscapedText(name))
            }
        }
        return trimmed(bytes)
=======
        for index in bytes.indices where ByteScanning.isForbiddenControl(bytes[index]) {
            throw RequestRejection(.fieldValue, .control, at: index, field: EscapedText(name))
        }
        return ByteScanning.trimmingOWS(bytes)
>>>>>>> request
    }

    /// A caller's `Host` value: blanks trimmed, then the grammar of a URL's host and port. It is sent as spelled.
    package static func checkedHostValue(
        _ bytes: UnsafeRawBufferPointer
    ) throws(RequestRejection) -> UnsafeRawBufferPointer {
<<<<<<< HEAD
        let value = trimmed(bytes)
=======
        let value = ByteScanning.trimmingOWS(bytes)
>>>>>>> request
        if let position = value.firstIndex(where: { "@/?#%".utf8.contains($0) }) {
            throw RequestRejection(.hostField, .forbiddenByte, at: position)
        }
        do throws(RequestRejection) {
            _ = try RequestURL("http://\(String(decoding: value, as: UTF8.self))/")
        } catch {
            throw RequestRejection(.hostField, error.rule, excerpt: error.excerpt)
        }
        return value
    }

<<<<<<< HEAD
    /// Without OWS at both ends, which is SP and HTAB and nothing else (RFC 9110 §5.6.3).
    package static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var start = 0
        var end = bytes.count
        while start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// Compares in ASCII without regard to case.
    /// - Parameter lowered: in lower case.
    package static func isEqual(_ bytes: UnsafeRawBufferPointer, lowered: StaticString) -> Bool {
        guard bytes.count == lowered.utf8CodeUnitCount else { return false }
        for index in bytes.indices where bytes[index].loweredASCII != lowered.utf8Start[index] { return false }
        return true
    }

    /// Compares two names in ASCII without regard to case.
    package static func isEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        for index in one.indices where one[index].loweredASCII != other[index].loweredASCII { return false }
        return true
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func firstOutsideToken(_ bytes: UnsafeRawBufferPointer) -> Int? {
        let token = ASCIISet.token
        for index in bytes.indices where !token.contains(bytes[index]) { return index }
=======
    private static func firstOutsideToken(_ bytes: UnsafeRawBufferPointer) -> Int? {
        for index in bytes.indices where !ByteScanning.isToken(bytes[index]) { return index }
>>>>>>> request
        return nil
    }
}
