/// The part of a cookie that is kept, sent, shown and written to a file.
struct CookieContent: Hashable, Sendable {
    /// Which requests of another site's document a cookie is sent with.
    enum SameSite: UInt8, Hashable, Sendable {
        /// The server said nothing, or a value that is unknown here.
        case unspecified = 0
        case none = 1
        case lax = 2
        case strict = 3
    }

    /// Two cookies with the same key are the same cookie (RFC 6265bis §5.7).
    struct Key: Hashable, Sendable {
        let name: [UInt8]
        let domain: String
        let isHostOnly: Bool
        let path: [UInt8]
    }

    /// The additional attributes of RFC 2109 and 2965. Servers do not send them any more; programs may set them.
    struct Details: Hashable, Sendable {
        var version: UInt8 = 0
        var comment: String?
        var commentURL: String?
        /// The only ports that the cookie is sent to; empty for all ports.
        var ports: [UInt16] = []
    }

    var name: [UInt8]
    var value: [UInt8]
    /// A host in canonical spelling, without a leading dot.
    var domain: String
    /// The cookie is for the host only, and not for the hosts below it.
    var isHostOnly: Bool
    var path: [UInt8]
    /// Seconds since 1970; nil for a cookie that ends with its store.
    var expires: Int64?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite = SameSite.unspecified
    var details: Details?

    var key: Key { Key(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }

    /// The expiry of a cookie that is to be removed: long before any other, as `Date.distantPast`.
    static let ended: Int64 = -62_135_769_600

    func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

    /// `name=value`, or the value alone if there is no name.
    var pairLength: Int { name.count + value.count + (name.isEmpty ? 0 : 1) }

    func appendPair(to bytes: inout [UInt8]) {
        if !name.isEmpty {
            bytes += name
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value
    }
}

/// A cookie in its store.
struct StoredCookie: Hashable, Sendable {
    var content: CookieContent
    /// When the first cookie of this key was stored, in seconds since 1970.
    var created: Int64
    /// The order of creation: many cookies may be stored in one second.
    var order: UInt64
    /// The order of last use.
    var lastUse: UInt64
}
