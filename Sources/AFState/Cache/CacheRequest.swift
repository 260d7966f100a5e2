package import AFWire

/// The part of a request that the rules of caching read.
package struct CacheRequest: Sendable {
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
    /// The fields as they are sent.
    package let headers: HTTPHeaders
    package let control: CacheControl
    package let hasBody: Bool

    package init(method: String, url: RequestURL, headers: HTTPHeaders, hasBody: Bool = false) {
        self.method = Self.kind(of: method)
        self.url = url
        key = CacheKey(url, host: headers.firstBytes("Host"))
        self.headers = headers
        control = Self.control(headers)
        self.hasBody = hasBody
    }

    private static func kind(of method: String) -> Method {
        switch method {
        case "GET": .get
        case "HEAD": .head
        case "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH": .safe
        default: .unsafe
        }
    }

    private static func control(_ headers: HTTPHeaders) -> CacheControl {
        var control = CacheControl(of: headers)
        // RFC 9111 §5.4: the older field counts where the newer one is missing.
        guard headers.contains("Pragma"), !headers.contains("Cache-Control") else { return control }
        control.noCache = headers.values("Pragma").contains { CacheControl($0).noCache }
        return control
    }

    /// Whether a stored response may be the answer at all.
    package var mayBeAnswered: Bool {
        (method == .get || method == .head) && !hasBody && !isPartial && !isConditional
    }

    /// The request asks for a part. The cache neither stores parts nor makes them of a stored response.
    package var isPartial: Bool { headers.contains("Range") || headers.contains("If-Range") }

    /// The caller validates a copy of its own and wants to see the answer.
    package var isConditional: Bool {
        headers.contains("If-None-Match") || headers.contains("If-Modified-Since") || headers.contains("If-Match")
            || headers.contains("If-Unmodified-Since")
    }
}

extension CacheControl {
    /// The directives of all lines together.
    package init(of headers: HTTPHeaders) {
        self.init()
        var control = CacheControl()
        headers.forEach { name, value in
            if ByteScanning.equalsIgnoringCase(name, "cache-control") { control.add(value) }
        }
        self = control
    }
}
