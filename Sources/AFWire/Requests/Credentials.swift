/// A bearer token (RFC 6750 §2.1), as a field value.
package struct BearerCredentials: Sendable {
    /// `Bearer` and the token.
    package let fieldValue: [UInt8]

    /// Refuses what is no `token68`: the rest could be read as something else.
    package init(token: UnsafeRawBufferPointer) throws(RequestRejection) {
        var scanner = FieldScanner(token)
        if token.isEmpty { throw RequestRejection(.token, rule: .empty) }
        _ = scanner.take(while: .token68)
        let length = scanner.position
        while length > 0, scanner.take(UInt8(ascii: "=")) {}
        guard scanner.isAtEnd else { throw RequestRejection(.token, rule: .forbiddenByte, at: scanner.position) }
        fieldValue = Array("Bearer ".utf8) + token
    }
}
