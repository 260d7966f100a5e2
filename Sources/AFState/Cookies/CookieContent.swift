import AFBase
package import AFWire

/// The part of a cookie that is kept, sent, shown and written to a file.
package struct CookieContent: Hashable, Sendable {
    /// Which requests of another site's document a cookie is sent with.
    package enum SameSite: UInt8, Hashable, Sendable {
        /// The server said nothing, or a value that is unknown here.
        case unspecified = 0
        case none = 1
        case lax = 2
        case strict = 3
    }

    /// Two cookies with the same key are the same cookie (RFC 6265bis §5.7).
    package struct Key: Hashable, Sendable {
        package let name: [UInt8]
        package let domain: String
        package let isHostOnly: Bool
        package let path: [UInt8]
    }

    /// The additional attributes of RFC 2109 and 2965. Servers do not send them any more; programs may set them.
    package struct Details: Hashable, Sendable {
        package var version: UInt8
        package var comment: String?
        package var commentURL: String?
        /// The only ports that the cookie is sent to; empty for all ports.
        package var ports: [UInt16]

        package init(
            version: UInt8 = 0,
            comment: String? = nil,
            commentURL: String? = nil,
            ports: [UInt16] = []
        ) {
            self.version = version
            self.comment = comment
            self.commentURL = commentURL
            self.ports = ports
        }
    }

    package var name: [UInt8]
    package var value: [UInt8]
    /// A host in canonical spelling, without a leading dot.
    package var domain: String
    /// The cookie is for the host only, and not for the hosts below it.
    package var isHostOnly: Bool
    package var path: [UInt8]
    /// Seconds since 1970; nil for a cookie that ends with its store.
    package var expires: Int64?
    package var isSecure: Bool
    package var isHTTPOnly: Bool
    package var sameSite: SameSite
    package var details: Details?

    package init(
        name: [UInt8],
        value: [UInt8],
        domain: String,
        isHostOnly: Bool,
        path: [UInt8],
        expires: Int64?,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        sameSite: SameSite = .unspecified,
        details: Details? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.details = details
    }

    package var key: Key { Key(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }

    /// The expiry of a cookie that is to be removed: long before any other, as `Date.distantPast`.
    package static let ended: Int64 = -62_135_769_600

    func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

    /// `name=value`, or the value alone if there is no name.
    var pairLength: Int { name.count + value.count + (name.isEmpty ? 0 : 1) }

    package func appendPair(to bytes: inout [UInt8]) {
        if !name.isEmpty {
            bytes += name
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value
    }
}

/// A cookie in its store.
package struct StoredCookie: Hashable, Sendable {
    package var content: CookieContent
    /// When the first cookie of this key was stored, in seconds since 1970.
    package var created: Int64
    /// The order of creation: many cookies may be stored in one second.
    package var order: UInt64
    /// The order of last use.
    var lastUse: UInt64
}

// MARK: - Checking

extension CookieContent {
    /// Whether no byte of the cookie could end a line, a cookie or a string early, and the cookie is of a size that is
    /// stored.
    package var isHarmless: Bool { isStorable && !path.contains(UInt8(ascii: ";")) }

    /// The same, but for a semicolon in the path, which that of a URL may have. The path is never sent.
    var isStorable: Bool {
        guard !(name.isEmpty && value.isEmpty), name.count + value.count <= CookieLimits.standard.nameAndValue,
            path.count <= RequestURL.maximumLength
        else { return false }
        return [name, value, path].allSatisfy { !$0.contains(where: ByteScanning.isForbiddenControl) }
            && !name.contains(UInt8(ascii: ";")) && !value.contains(UInt8(ascii: ";"))
    }

    /// Whether, for a cookie of the program's own, the server reads back the same cookie: white space around a part
    /// would be lost, and an `=` would move the end of the name.
    package var isUnambiguous: Bool {
        let equals = UInt8(ascii: "=")
        guard !name.contains(equals), !(name.isEmpty && value.contains(equals)) else { return false }
        return [name, value].allSatisfy { part in
            !(part.first.map(ByteScanning.isOWS) ?? false) && !(part.last.map(ByteScanning.isOWS) ?? false)
        }
    }
}

/// The host of a cookie, written as in a URL or, for an address, without its brackets.
package func hostOfCookie(_ text: String) -> Endpoint.Host? {
    let isBareAddress = text.utf8.first != UInt8(ascii: "[") && text.utf8.contains(UInt8(ascii: ":"))
    let written = isBareAddress ? "[\(text)]" : text
    return try? written.withUTF8Bytes { bytes throws(RequestRejection) in try Endpoint.Host(bytes, offset: 0) }
}
