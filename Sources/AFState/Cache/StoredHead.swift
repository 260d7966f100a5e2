package import AFWire

/// A stored response without its body, which the rules decide by. It never changes.
package final class StoredHead: Sendable {
    package let key: CacheKey
    package let partition: CachePartition
    package let vary: [VaryField]
    /// The body is stored without its content coding, as the task got it.
    package let isDecoded: Bool
    package let status: Int
    package let version: HTTPVersion
    /// As they came, if they say nothing to a cache: few of such responses are ever used.
    private let received: HTTPHeaders
    /// What the fields say to a cache, read once.
    package let facts: ResponseFacts
    package let control: CacheControl
    /// When the request was sent and the response was received, in seconds since 1970.
    package let requestTime: Int64
    package let responseTime: Int64
    /// When the response was received on the machine's clock, if that was in this process.
    package let responseMonotonic: Int64?
    package let options: CacheOptions
    /// Where the cookies of its request were from; nil if it had none, or others than those of a storage.
    package let cookies: CookieOrigin?

    /// - Parameters:
    ///   - partition: That of the request, which is for one user. If the server says that the response is for everyone, it
    ///     is.
    ///   - facts: What the fields say, if that is known.
    ///   - audience: For whom it is, if that is known: of a response that the disk has kept without its cookies.
    package init(
        key: CacheKey,
        partition: CachePartition,
        vary: [VaryField],
        isDecoded: Bool,
        status: Int,
        version: HTTPVersion,
        headers: HTTPHeaders,
        requestTime: Int64,
        responseTime: Int64,
        responseMonotonic: Int64?,
        options: CacheOptions,
        cookies: CookieOrigin? = nil,
        facts: ResponseFacts? = nil,
        audience: CachePartition.Audience? = nil
    ) {
        let facts = facts ?? ResponseFacts(of: headers)
        self.facts = facts
        control = facts.contains(.cacheControl) ? CacheControl(of: headers) : CacheControl()
        // A cookie is for one user, whatever else the response says.
        let isShared = control.isPublic && !control.isPrivate && !facts.contains(.setCookie)
        self.partition = isShared && audience == nil ? partition.shared : partition
        self.key = key
        self.vary = vary
        self.isDecoded = isDecoded
        self.status = status
        self.version = version
        received =
            facts.contains(.connection) && !facts.isDisjoint(with: .useful)
            ? CacheRules.storedFields(headers) : headers
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.responseMonotonic = responseMonotonic
        self.options = options
        self.cookies = cookies
    }

    /// The fields without those of the connection.
    package var headers: HTTPHeaders {
        facts.contains(.connection) && isInert ? CacheRules.storedFields(received) : received
    }

    /// About how many bytes the fields take.
    var headerSize: Int { received.byteCount }

    /// No field says anything to a cache: by the rules of HTTP alone the response answers no request.
    var isInert: Bool { facts.isDisjoint(with: .useful) }

    /// The body was stored without its content coding, and so answers other requests.
    private var lacksCoding: Bool { isDecoded && facts.contains(.contentEncoding) }

    /// Whether the response takes the place of another one, or the other one its.
    func isSame(as other: StoredHead) -> Bool {
        key == other.key && lacksCoding == other.lacksCoding && partition == other.partition && vary == other.vary
    }
}

/// Which fields of a response decide what a cache does with it. Most responses have few of them.
package struct ResponseFacts: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let cacheControl = ResponseFacts(rawValue: 1)
    package static let expires = ResponseFacts(rawValue: 2)
    package static let lastModified = ResponseFacts(rawValue: 4)
    package static let entityTag = ResponseFacts(rawValue: 8)
    package static let vary = ResponseFacts(rawValue: 16)
    package static let setCookie = ResponseFacts(rawValue: 32)
    package static let contentRange = ResponseFacts(rawValue: 64)
    package static let contentEncoding = ResponseFacts(rawValue: 128)
    /// Some field concerns the connection alone.
    package static let connection = ResponseFacts(rawValue: 256)

    /// Without any of these a response has neither lifetime nor validator.
    static let useful: ResponseFacts = [.cacheControl, .expires, .lastModified, .entityTag]

    package init(of headers: HTTPHeaders) {
        var facts: ResponseFacts = []
        headers.forEach { name, _ in
            func note(_ fact: ResponseFacts, if other: StaticString) {
                if ByteScanning.equalsIgnoringCase(name, lowercase: other) { facts.insert(fact) }
            }
            // Most names have another length than all of these.
            switch name.count {
            case 4:
                note(.vary, if: "vary")
                note(.entityTag, if: "etag")
            case 7: note(.expires, if: "expires")
            case 10: note(.setCookie, if: "set-cookie")
            case 13:
                note(.cacheControl, if: "cache-control")
                note(.lastModified, if: "last-modified")
                note(.contentRange, if: "content-range")
            case 16: note(.contentEncoding, if: "content-encoding")
            default: break
            }
            if CacheRules.concernsConnection(name) { facts.insert(.connection) }
        }
        self = facts
    }
}

/// A moment on both clocks, in seconds. The calendar's clock may be set back and forth and means the same to every
/// process; the machine's only moves on.
package struct CacheInstant: Sendable, Hashable {
    /// Since 1970.
    package let wall: Int64
    /// Since a moment before this process began.
    package let monotonic: Int64

    package init(wall: Int64, monotonic: Int64) {
        self.wall = wall
        self.monotonic = monotonic
    }
}
