import AFLoop
package import AFWire
package import Foundation

/// A request turned into bytes, once, before a connection is chosen. Nothing that happens later changes it, and it
/// is a pure function of the request and the session's header defaults.
package final class FrozenRequest: Sendable {
    package let url: RequestURL
    /// As the caller wrote it.
    let location: URL
    /// The session's fields that went into the head.
    let defaults: HeaderDefaults
    let endpoint: Endpoint
    /// What the caller wants from caches, and how long to wait for progress, if he said so.
    let cachePolicy: URLRequest.CachePolicy?
    let idleInterval: LoopInterval?
    /// Whether it may be sent ahead, if the caller said so.
    let asksForPipelining: Bool?
    /// Whether sending it twice asks for nothing more than sending it once (RFC 9110 §9.2.2).
    package let isIdempotent: Bool
    /// Whether the response to it has no body whatever its fields say.
    package let isHead: Bool
    let limits: OwnLimits
    /// The caller has named some for this request.
    let hasInterceptors: Bool
    package let method: String
    /// Request line, fields and the empty line, ready for the socket.
    package let headBytes: [UInt8]
    /// The body held by the request itself; nil also when the task brings its own.
    package let body: Data?
    /// What `Content-Length` says; nil when the head carries none and no body follows.
    package let bodyLength: Int?
    /// The body comes from a stream.
    let isStreamed: Bool
    /// The body comes in chunks, since nobody knows its length.
    package let isChunked: Bool
    /// What the server is asked before the body is sent.
    package let expectation: HeadAssembly.Expectation?
    /// The caller asked for `Connection: close`.
    package let closesConnection: Bool

    init(
        url: RequestURL,
        location: URL,
        defaults: HeaderDefaults,
        cachePolicy: URLRequest.CachePolicy?,
        idleInterval: LoopInterval?,
        asksForPipelining: Bool?,
        limits: OwnLimits,
        hasInterceptors: Bool,
        method: String,
        isIdempotent: Bool,
        isHead: Bool,
        headBytes: [UInt8],
        body: Data?,
        bodyLength: Int?,
        isStreamed: Bool = false,
        isChunked: Bool = false,
        expectation: HeadAssembly.Expectation? = nil,
        closesConnection: Bool
    ) {
        self.url = url
        self.location = location
        endpoint = url.endpoint
        self.defaults = defaults
        self.cachePolicy = cachePolicy
        self.idleInterval = idleInterval
        self.asksForPipelining = asksForPipelining
        self.limits = limits
        self.hasInterceptors = hasInterceptors
        self.method = method
        self.isIdempotent = isIdempotent
        self.isHead = isHead
        self.headBytes = headBytes
        self.body = body
        self.bodyLength = bodyLength
        self.isStreamed = isStreamed
        self.isChunked = isChunked
        self.expectation = expectation
        self.closesConnection = closesConnection
    }

    /// The same request with another head.
    init(_ other: FrozenRequest, headBytes: [UInt8], expectation: HeadAssembly.Expectation?) {
        url = other.url
        location = other.location
        endpoint = other.endpoint
        defaults = other.defaults
        cachePolicy = other.cachePolicy
        idleInterval = other.idleInterval
        asksForPipelining = other.asksForPipelining
        limits = other.limits
        hasInterceptors = other.hasInterceptors
        method = other.method
        isIdempotent = other.isIdempotent
        isHead = other.isHead
        self.headBytes = headBytes
        body = other.body
        bodyLength = other.bodyLength
        isStreamed = other.isStreamed
        isChunked = other.isChunked
        self.expectation = expectation
        closesConnection = other.closesConnection
    }

    /// The same without its expectation, for servers that cannot meet it.
    var withoutExpectation: FrozenRequest {
        guard let expectation else { return self }
        var head = headBytes
        head.removeSubrange(expectation.range)
        return FrozenRequest(self, headBytes: head, expectation: nil)
    }

    /// The same with further fields, in the place of those of the same name.
    func replacing(_ fields: [HeadField]) -> FrozenRequest {
        guard !fields.isEmpty else { return self }
        var head = headBytes
        var expectation = expectation
        for field in fields {
            while let line = field.line(in: head) {
                head.removeSubrange(line)
                if let known = expectation, line.lowerBound < known.range.lowerBound {
                    expectation = known.moved(by: -line.count)
                }
            }
        }
        // They stand last, so that what was found before is still there.
        head.removeLast(2)
        for field in fields { head += field.bytes }
        head += "\r\n".utf8
        return FrozenRequest(self, headBytes: head, expectation: expectation)
    }
}
