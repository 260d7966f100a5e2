import AFBase
import AFWire

/// Parses a `Set-Cookie` line by RFC 6265bis §5.6, on bytes: it does not decode or unquote them, nor fold case beyond
/// ASCII. A line that cannot be a cookie is refused and not repaired.
package enum SetCookieParser {
    package static func parse(
        _ line: UnsafeRawBufferPointer,
        limits: CookieLimits = .standard
    ) throws(CookieRefusal) -> SetCookie {
        // The server that gets such a byte back in a name or value may cut or reject it.
        for byte in line where ByteScanning.isForbiddenControl(byte) { throw .control }
        let end = ByteScanning.firstIndex(of: UInt8(ascii: ";"), in: line) ?? line.count
        var cookie = try pair(part(line, start: 0, end: end), limits: limits)
        var position = end
        while position < line.count {
            let next = ByteScanning.firstIndex(of: UInt8(ascii: ";"), in: line, from: position + 1) ?? line.count
            apply(part(line, start: position + 1, end: next), to: &cookie, limits: limits)
            position = next
        }
        return cookie
    }

    package static func parse(_ line: [UInt8], limits: CookieLimits = .standard) throws(CookieRefusal) -> SetCookie {
        try line.span.withUnsafeBytes { bytes throws(CookieRefusal) in try parse(bytes, limits: limits) }
    }

    /// Without `=` the whole text is the value of a cookie without a name.
    private static func pair(
        _ bytes: UnsafeRawBufferPointer,
        limits: CookieLimits
    ) throws(CookieRefusal) -> SetCookie {
        let (name, value) = split(bytes)
        let cookie = SetCookie(name: value == nil ? [] : Array(name), value: Array(value ?? name))
        if cookie.name.isEmpty, cookie.value.isEmpty { throw .empty }
        if cookie.name.count + cookie.value.count > limits.nameAndValue { throw .tooLong }
        return cookie
    }

    /// Splits at the first `=`, and removes white space around both parts.
    private static func split(
        _ bytes: UnsafeRawBufferPointer
    ) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) {
        guard let equals = ByteScanning.firstIndex(of: UInt8(ascii: "="), in: bytes) else {
            return (ByteScanning.trimmingOWS(bytes), nil)
        }
        return (
            ByteScanning.trimmingOWS(part(bytes, start: 0, end: equals)),
            ByteScanning.trimmingOWS(part(bytes, start: equals + 1, end: bytes.count))
        )
    }

    private static func part(_ bytes: UnsafeRawBufferPointer, start: Int, end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }
}

extension SetCookieParser {
    private static func apply(
        _ attribute: UnsafeRawBufferPointer,
        to cookie: inout SetCookie,
        limits: CookieLimits
    ) {
        let (name, given) = split(attribute)
        let value = given ?? UnsafeRawBufferPointer(start: nil, count: 0)
        guard value.count <= limits.attribute else { return }
        func isCalled(_ lowercase: StaticString) -> Bool { ByteScanning.equalsIgnoringCase(name, lowercase: lowercase) }

        if isCalled("expires") {
            // An invalid date is no attribute: an unreadable date must not remove the cookie.
            if let date = CookieDate.seconds(value) { cookie.expires = date }
        } else if isCalled("max-age") {
            if let seconds = maxAge(value) { cookie.maxAge = seconds }
        } else if isCalled("domain") {
            if let domain = domain(value) { cookie.domain = domain }
        } else if isCalled("path") {
            cookie.path = path(value)
        } else if isCalled("secure") {
            cookie.isSecure = true
        } else if isCalled("httponly") {
            cookie.isHTTPOnly = true
        } else if isCalled("samesite") {
            cookie.sameSite = CookieContent.SameSite(token: value)
        }
    }

    /// Digits, with an optional hyphen in front; a number that is too large counts as the largest.
    private static func maxAge(_ value: UnsafeRawBufferPointer) -> Int64? {
        let isNegative = value.first == UInt8(ascii: "-")
        let digits = part(value, start: isNegative ? 1 : 0, end: value.count)
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        let amount = ByteScanning.decimal(digits) ?? .max
        return isNegative ? -amount : amount
    }

    /// Nil for an empty domain, which is ignored.
    private static func domain(_ value: UnsafeRawBufferPointer) -> [UInt8]? {
        let name = value.first == UInt8(ascii: ".") ? part(value, start: 1, end: value.count) : value
        return name.isEmpty ? nil : name.map(ASCII.folded)
    }

    private static func path(_ value: UnsafeRawBufferPointer) -> SetCookie.Path {
        value.first == UInt8(ascii: "/") ? .given(Array(value)) : .standard(isWritten: true)
    }
}
