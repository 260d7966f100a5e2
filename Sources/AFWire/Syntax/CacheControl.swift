import AFBase

/// The directives of `Cache-Control` (RFC 9111 §5.2, RFC 5861, RFC 8246), of requests and of responses.
///
/// Where directives repeat or are malformed the stricter reading holds: the shortest of several ages, zero for an age
/// that is no number. `no-cache` and `private` with a list of fields count as without one, which a cache may do.
package struct CacheControl: Sendable, Equatable {
    package var noStore = false
    package var noCache = false
    package var isPrivate = false
    package var isPublic = false
    package var mustRevalidate = false
    package var proxyRevalidate = false
    package var mustUnderstand = false
    package var noTransform = false
    package var onlyIfCached = false
    package var immutable = false
    /// Part of the field could not be read: something strict may have stood there.
    package var isMalformed = false
    /// Seconds, like all below; at most 2^31.
    package var maxAge: Int64?
    package var sharedMaxAge: Int64?
    package var staleWhileRevalidate: Int64?
    package var staleIfError: Int64?
    package var minFresh: Int64?
    /// `.max` for the directive without a value: any staleness will do.
    package var maxStale: Int64?

    package init() {}

    /// Reads one field value into the directives of those before it. Unknown directives are passed over.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var scanner = FieldScanner(bytes)
        while true {
            scanner.skipListSeparators()
            if scanner.isAtEnd { return }
            guard let name = scanner.loweredToken() else {
                isMalformed = true
                return
            }
            scanner.skipBlanks()
            var value: [UInt8]?
            if scanner.take(UInt8(ascii: "=")) {
                scanner.skipBlanks()
                value = scanner.word() ?? []
                // A quote without an end swallows the rest of the field.
                if scanner.next == UInt8(ascii: "\"") { isMalformed = true }
            }
            apply(name, value: value)
            scanner.skipBlanks()
            guard scanner.isAtEnd || scanner.next == UInt8(ascii: ",") else {
                isMalformed = true
                return
            }
        }
    }

    package init(_ text: String) {
        text.withUTF8Bytes { add($0) }
    }

    private mutating func apply(_ name: String, value: [UInt8]?) {
        switch name {
        case "no-store": noStore = true
        case "no-cache": noCache = true
        case "private": isPrivate = true
        case "public": isPublic = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "must-understand": mustUnderstand = true
        case "no-transform": noTransform = true
        case "only-if-cached": onlyIfCached = true
        case "immutable": immutable = true
        case "max-age": Self.keepShortest(&maxAge, other: Self.age(value))
        case "s-maxage": Self.keepShortest(&sharedMaxAge, other: Self.age(value))
        case "stale-while-revalidate": Self.keepShortest(&staleWhileRevalidate, other: Self.age(value))
        case "stale-if-error": Self.keepShortest(&staleIfError, other: Self.age(value))
        case "min-fresh": minFresh = max(minFresh ?? 0, Self.age(value))
        case "max-stale": Self.keepShortest(&maxStale, other: value == nil ? .max : Self.age(value))
        default: break
        }
    }

    private static func keepShortest(_ age: inout Int64?, other: Int64) {
        age = min(age ?? .max, other)
    }

    private static func age(_ value: [UInt8]?) -> Int64 { value?.withUnsafeBytes { seconds($0) } ?? 0 }

    /// A number of seconds; nil for anything else. RFC 9111 §1.2.2: what is greater than 2^31 counts as that.
    package static func seconds(_ digits: UnsafeRawBufferPointer) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy({ ASCII.isDigit($0) }) else { return nil }
        return min(ByteScanning.decimal(digits) ?? .max, 1 << 31)
    }
}
