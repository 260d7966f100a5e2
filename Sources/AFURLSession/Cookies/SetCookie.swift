/// The content of one `Set-Cookie` line, before it is judged whether its server may set it.
struct SetCookie: Hashable, Sendable {
    enum Lifetime: Hashable, Sendable {
        case session
        /// Seconds from now on; zero or less removes the cookie.
        case seconds(Int64)
        /// Seconds since 1970.
        case until(Int64)
    }

    enum Path: Hashable, Sendable {
        /// The path is derived from the URL of the response; `isWritten` if there was an invalid `Path`.
        case standard(isWritten: Bool)
        case given([UInt8])
    }

    var name: [UInt8]
    var value: [UInt8]
    var maxAge: Int64?
    var expires: Int64?
    /// In lower case and without its leading dot; nil if the line names none.
    var domain: [UInt8]?
    var path = Path.standard(isWritten: false)
    var isSecure = false
    var isHTTPOnly = false
    var sameSite = CookieContent.SameSite.unspecified

    /// RFC 6265bis §5.7: `Max-Age` takes precedence over `Expires`.
    var lifetime: Lifetime {
        if let maxAge { return .seconds(maxAge) }
        return expires.map(Lifetime.until) ?? .session
    }
}
