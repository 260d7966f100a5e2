import AFState
import Foundation

/// The properties that a cookie is made from.
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

    /// A comment on the purpose of the cookie. A `String`.
    public static let comment = HTTPCookiePropertyKey("Comment")
    /// The URL of such a comment. A `URL` or `String`.
    public static let commentURL = HTTPCookiePropertyKey("CommentURL")
    /// Whether the cookie ends with its store, whatever the other properties say: `"TRUE"` or `"FALSE"`.
    public static let discard = HTTPCookiePropertyKey("Discard")
    /// The host, or the domain with a dot in front. A `String`.
    public static let domain = HTTPCookiePropertyKey("Domain")
    /// When the cookie ends. A `Date`, or a `String` as in a response.
    public static let expires = HTTPCookiePropertyKey("Expires")
    /// In how many seconds the cookie ends, in digits. A `String`; takes precedence over the date.
    public static let maximumAge = HTTPCookiePropertyKey("Max-Age")
    /// The name. A `String`; required.
    public static let name = HTTPCookiePropertyKey("Name")
    /// The URL that the cookie comes from, whose host it gets if it has no domain. A `URL` or `String`.
    public static let originURL = HTTPCookiePropertyKey("OriginURL")
    /// The path below which the cookie is sent. A `String`; required.
    public static let path = HTTPCookiePropertyKey("Path")
    /// The ports that the cookie is sent to, separated by commas. A `String`.
    public static let port = HTTPCookiePropertyKey("Port")
    /// Whether the cookie is sent over secured connections only: any value but false, `"FALSE"` and the empty text.
    public static let secure = HTTPCookiePropertyKey("Secure")
    /// The value. A `String`; required.
    public static let value = HTTPCookiePropertyKey("Value")
    /// `"0"`, or `"1"` for cookies of RFC 2109. A `String`.
    public static let version = HTTPCookiePropertyKey("Version")
    /// Which sites' documents the cookie is sent for: an ``HTTPCookieStringPolicy``.
    public static let sameSitePolicy = HTTPCookiePropertyKey("SameSite")
    /// Whether scripts of a document must not see the cookie, with the values of ``secure``. It is kept, and has no
    /// effect here.
    public static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
    /// The bytes of the name where they are no UTF-8. A `Data`, which counts unless ``name`` is another text.
    public static let nameBytes = HTTPCookiePropertyKey("NameBytes")
    /// The bytes of the value where they are no UTF-8. A `Data`, which counts unless ``value`` is another text.
    public static let valueBytes = HTTPCookiePropertyKey("ValueBytes")
    /// The bytes of the path where they are no UTF-8. A `Data`, which counts unless ``path`` is another text.
    public static let pathBytes = HTTPCookiePropertyKey("PathBytes")
}
