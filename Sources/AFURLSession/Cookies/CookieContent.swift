/// What a cookie is: the part of it that is kept, sent, shown and written to a file.
struct CookieContent: Hashable, Sendable {
    /// To whom a cookie goes when another site's document asks for it.
    enum SameSite: UInt8, Hashable, Sendable {
        /// Nothing was said, or nothing we know.
        case unspecified = 0
        case none = 1
        case lax = 2
        case strict = 3
    }

    /// What makes two cookies the same one (RFC 6265bis §5.7).
    struct Key: Hashable, Sendable {
        let name: [UInt8]
        let domain: String
        let isHostOnly: Bool
        let path: [UInt8]
    }

    /// What cookies of RFC 2109 and 2965 had beside it. Servers say nothing of it any more; programs may.
    struct Details: Hashable, Sendable {
        var version: UInt8 = 0
        var comment: String?
        var commentURL: String?
        /// The only ports it goes to, unless there are none here.
        var ports: [UInt16] = []
    }

    var name: [UInt8]
    var value: [UInt8]
    /// A host in canonical spelling, without a dot in front.
    var domain: String
    /// For the host only, not for those below it.
    var isHostOnly: Bool
    var path: [UInt8]
    /// Seconds since 1970; nil for a cookie that ends with its store.
    var expires: Int64?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite = SameSite.unspecified
    var details: Details?

    var key: Key { Key(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }

    /// The end of a cookie that is to be removed: long before everything, as `Date.distantPast`.
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
    /// Seconds since 1970, of the first cookie of this key.
    var created: Int64
    /// The order of creation: one second is long enough for many.
    var order: UInt64
    /// The order of last use.
    var lastUse: UInt64
}
