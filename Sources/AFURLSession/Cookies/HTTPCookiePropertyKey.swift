/// The properties a cookie is made of.
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
    /// The name of the property.
    public let rawValue: String

    /// A property by its name.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// A property by its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A remark on what the cookie is for. A `String`.
    public static let comment = HTTPCookiePropertyKey("Comment")
    /// Where such a remark is to be read. A `URL` or `String`.
    public static let commentURL = HTTPCookiePropertyKey("CommentURL")
    /// Whether the cookie ends with its store, whatever else is said: `"TRUE"` or `"FALSE"`.
    public static let discard = HTTPCookiePropertyKey("Discard")
    /// The host, or the domain with a dot in front. A `String`.
    public static let domain = HTTPCookiePropertyKey("Domain")
    /// When the cookie ends. A `Date`, or a `String` as in a response.
    public static let expires = HTTPCookiePropertyKey("Expires")
    /// In how many seconds the cookie ends, in digits. A `String`; goes before the date.
    public static let maximumAge = HTTPCookiePropertyKey("Max-Age")
    /// The name. A `String`; required.
    public static let name = HTTPCookiePropertyKey("Name")
    /// The URL the cookie comes from, which gives it a host if it has no domain. A `URL` or `String`.
    public static let originURL = HTTPCookiePropertyKey("OriginURL")
    /// The path below which the cookie is sent. A `String`; required.
    public static let path = HTTPCookiePropertyKey("Path")
    /// The ports to which the cookie is sent, with commas between. A `String`.
    public static let port = HTTPCookiePropertyKey("Port")
    /// Whether the cookie is sent over secured connections only: anything but false, `"FALSE"` and the empty text.
    public static let secure = HTTPCookiePropertyKey("Secure")
    /// The value. A `String`; required.
    public static let value = HTTPCookiePropertyKey("Value")
    /// `"0"`, or `"1"` for cookies of RFC 2109. A `String`.
    public static let version = HTTPCookiePropertyKey("Version")
    /// Which sites may have the cookie sent: an ``HTTPCookieStringPolicy``.
    public static let sameSitePolicy = HTTPCookiePropertyKey("SameSite")
    /// Whether scripts of a document must not see the cookie, as ``secure``. Kept, and without meaning here.
    public static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
}

/// The values of `SameSite`.
public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
    /// As it stands in a cookie, in lower case.
    public let rawValue: String

    /// A policy by its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// For documents of other sites that are loaded for themselves.
    public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
    /// For documents of the same site only.
    public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
}
