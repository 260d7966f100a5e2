import AFWire

/// The content of one `Set-Cookie` line, before it is judged whether its server may set it.
package struct SetCookie: Hashable, Sendable {
    package enum Lifetime: Hashable, Sendable {
        case session
        /// Seconds from now on; zero or less removes the cookie.
        case seconds(Int64)
        /// Seconds since 1970.
        case until(Int64)
    }

    package enum Path: Hashable, Sendable {
        /// The path is derived from the URL of the response; `isWritten` if there was an invalid `Path`.
        case standard(isWritten: Bool)
        case given([UInt8])
    }

    package var name: [UInt8]
    package var value: [UInt8]
    package var maxAge: Int64?
    package var expires: Int64?
    /// In lower case and without its leading dot; nil if the line names none.
    package var domain: [UInt8]?
    package var path = Path.standard(isWritten: false)
    package var isSecure = false
    package var isHTTPOnly = false
    package var sameSite = CookieContent.SameSite.unspecified

    /// RFC 6265bis §5.7: `Max-Age` takes precedence over `Expires`.
    package var lifetime: Lifetime {
        if let maxAge { return .seconds(maxAge) }
        return expires.map(Lifetime.until) ?? .session
    }
}

// MARK: - Attributes (the last one of a name counts)

extension CookieContent.SameSite {
    /// The whole word, in any case. Any other text counts as missing.
    package init(token: UnsafeRawBufferPointer) {
        self =
            if ByteScanning.equalsIgnoringCase(token, lowercase: "strict") {
                .strict
            } else if ByteScanning.equalsIgnoringCase(token, lowercase: "lax") {
                .lax
            } else if ByteScanning.equalsIgnoringCase(token, lowercase: "none") {
                .none
            } else {
                .unspecified
            }
    }
}
