/// How much cookies may take. A server cannot make requests to itself or to others fail by sending many cookies.
package struct CookieLimits: Sendable {
    /// Name and value together, in bytes (RFC 6265bis §5.6); a longer cookie is dropped.
    var nameAndValue = 4096
    /// One attribute value, in bytes; a longer attribute is ignored.
    package var attribute = 1024
    /// The cookies that are taken from one response.
    var perResponse = 50
    /// Cookies of one domain.
    var perDomain = 50
    /// Cookies of all domains.
    package var total = 3000
    /// Cookies sent with one request.
    var perRequest = 150
    /// Bytes of the `Cookie` field of one request. Servers refuse longer fields.
    var requestBytes = 8190
    /// The seconds that a cookie may live: 400 days.
    package var lifetime: Int64 = 400 * 86_400

    package static let standard = CookieLimits()
}
