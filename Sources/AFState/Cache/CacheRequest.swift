package import AFWire

/// The part of a request that the rules of caching read. Made once for all tasks that send it.
package final class CacheRequest: Sendable {
    package enum Method: Sendable {
        case get
        case head
        /// Changes nothing on the server (RFC 9110 §9.2.1).
        case safe
        case unsafe
    }

    package let method: Method
    package let url: RequestURL
    package let key: CacheKey
    private let source: Source
    package let control: CacheControl
    package let hasBody: Bool
    /// The request asks for a part. The cache neither stores parts nor makes them of a stored response.
    package let isPartial: Bool
    /// The caller validates a copy of its own and wants to see the answer.
    package let isConditional: Bool
    /// For whom it asks.
    package let identities: RequestIdentities

    private enum Source {
        /// Few responses depend on the fields: they are put together where one does.
        case head(RequestHead, RequestFraming)
        case fields(HTTPHeaders)
    }

    /// A request as it is sent.
    package convenience init(_ head: RequestHead, framing: RequestFraming) {
        let hasBody =
            switch framing {
            case .none: false
            case .length(let length): length > 0
            case .chunked: true
            }
        // What follows from the rest of a request says nothing of its user, and nothing to a cache.
        let asked = Asked(head.fields)
        self.init(
            head.method,
            url: head.url,
            host: head.host,
            source: .head(head, framing),
            asked: asked,
            hasBody: hasBody
        )
    }

    /// A request as a caller wrote it.
    package convenience init(method: String, url: RequestURL, headers: HTTPHeaders, hasBody: Bool = false) {
        let host = headers.firstBytes("Host")
        self.init(method, url: url, host: host, source: .fields(headers), asked: Asked(headers), hasBody: hasBody)
    }

    private init(
        _ method: String,
        url: RequestURL,
        host: [UInt8]?,
        source: Source,
        asked: Asked,
        hasBody: Bool
    ) {
        self.method = Self.kind(of: method)
        self.url = url
        key = CacheKey(url, host: host)
        self.source = source
        self.hasBody = hasBody
        // RFC 9111 §5.4: the older field counts where the newer one is missing.
        control = asked.hasControl ? asked.control : asked.pragma
        (isPartial, isConditional) = (asked.isPartial, asked.isConditional)
        identities = asked.identity.identities
    }

    /// The fields as they are sent.
    package var headers: HTTPHeaders {
        switch source {
        case .head(let head, let framing): HeadWriter.fields(of: head, framing: framing)
        case .fields(let headers): headers
        }
    }

    private static func kind(of method: String) -> Method {
        switch method {
        case "GET": .get
        case "HEAD": .head
        // Their answers are not stored, and tell nothing of the GET of the URL.
        case "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY": .safe
        default: .unsafe
        }
    }

    /// What the fields of a request ask of a cache.
    private struct Asked {
        var control = CacheControl()
        var hasControl = false
        var pragma = CacheControl()
        var isPartial = false
        var isConditional = false
        var identity = RequestIdentity.Reader()

        init(_ headers: HTTPHeaders) {
            headers.forEach { name, value in
                identity.read(name, value: value)
                func isCalled(_ other: StaticString) -> Bool { ByteScanning.equalsIgnoringCase(name, lowercase: other) }
                // Most names have another length than all of these.
                switch name.count {
                case 5 where isCalled("range"), 8 where isCalled("if-range"): isPartial = true
                case 8 where isCalled("if-match"), 13 where isCalled("if-none-match"),
                    17 where isCalled("if-modified-since"), 19 where isCalled("if-unmodified-since"):
                    isConditional = true
                case 6 where isCalled("pragma"):
                    var directives = CacheControl()
                    directives.add(value)
                    pragma.noCache = pragma.noCache || directives.noCache
                case 13 where isCalled("cache-control"):
                    control.add(value)
                    hasControl = true
                default: break
                }
            }
        }
    }

    /// Whether a stored response may be the answer at all.
    package var mayBeAnswered: Bool {
        (method == .get || method == .head) && !hasBody && !isPartial && !isConditional
    }
}

extension CacheControl {
    /// The directives of all lines together.
    package init(of headers: HTTPHeaders) {
        self.init()
        var control = CacheControl()
        headers.forEach { name, value in
            if ByteScanning.equalsIgnoringCase(name, lowercase: "cache-control") { control.add(value) }
        }
        self = control
    }
}
