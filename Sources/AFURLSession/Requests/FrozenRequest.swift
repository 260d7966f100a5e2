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
    let asksForPipelining: Bool
    package let method: String
    /// Whether sending it twice asks for nothing more than sending it once (RFC 9110 §9.2.2).
    package let isIdempotent: Bool
    /// Whether the response to it has no body whatever its fields say.
    package let isHead: Bool
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
        asksForPipelining: Bool,
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

    /// The same without its expectation, for servers that cannot meet it.
    var withoutExpectation: FrozenRequest {
        guard let expectation else { return self }
        var head = headBytes
        head.removeSubrange(expectation.range)
        return FrozenRequest(
            url: url,
            location: location,
            defaults: defaults,
            cachePolicy: cachePolicy,
            idleInterval: idleInterval,
            asksForPipelining: asksForPipelining,
            method: method,
            isIdempotent: isIdempotent,
            isHead: isHead,
            headBytes: head,
            body: body,
            bodyLength: bodyLength,
            isStreamed: isStreamed,
            isChunked: isChunked,
            closesConnection: closesConnection
        )
    }
}
