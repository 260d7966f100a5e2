import AFBase
package import AFWire
import FoundationEssentials

extension URLRequest {
    /// The header fields in the order in which they were set, which is the order of the wire. Those that the session
    /// adds are not among them.
    public var headerFields: [(name: String, value: String)] {
        contents.fields.map { (name: $0.name, value: $0.value) }
    }

    /// Fields of the session that this request does without, by name and in any case: `Accept`, `User-Agent` and
    /// `Accept-Encoding`, which every session has, and those of
    /// ``/AFURLSession/URLSessionConfiguration/httpAdditionalHeaders``. Empty unless set.
    ///
    /// The session still sends a field that the request has itself, and those that the exchange needs: `Host` and the
    /// fields that say how long a body is.
    public var withheldHeaderFields: Set<String> {
        get { contents.wire.value.withheld }
        set { change { $0.wire.value.withheld = Set(newValue.map(ASCII.lowered)) } }
    }

    /// Whether the session undoes the content coding of the response. True by default, and false for all requests of a
    /// session whose ``/AFURLSession/URLSessionConfiguration/decodesContent`` is false.
    ///
    /// If it does not, it sends no `Accept-Encoding` but the request's own, and you get the body byte for byte as it is
    /// received.
    public var decodesContent: Bool {
        get { !contents.wire.value.keepsCoding }
        set { change { $0.wire.value.keepsCoding = !newValue } }
    }

    /// Whether the session sends the store's cookies for the request together with the request's own field `Cookie`, in
    /// front of it. False by default: the session sends the field only if the store has no cookies, or is not asked
    /// (`httpShouldHandleCookies`). Either way the field does not follow a redirect to another origin.
    public var addsStoredCookies: Bool {
        get { contents.wire.value.addsStoredCookies }
        set { change { $0.wire.value.addsStoredCookies = newValue } }
    }

    /// The value of the field `Cookie`, if the store has cookies for the request.
    package func cookieField(_ stored: [UInt8]) -> [UInt8] {
        guard addsStoredCookies, let own = value(forHTTPHeaderField: "Cookie"), !own.isEmpty else { return stored }
        return stored + Array("; \(own)".utf8)
    }

    /// Whether the request may have a body though its method is GET or HEAD. False by default: such a request fails with
    /// `dataLengthExceedsMaximum` (-1103), as with Apple's loader.
    ///
    /// Some search servers want it. RFC 9110 §9.3.1 lets others refuse such a request or close the connection. Its response
    /// does not come from the cache and does not go there. A redirect that drops the body makes it false. TRACE never has a
    /// body (§9.3.8).
    public var sendsBodyWithAnyMethod: Bool {
        get { contents.wire.sendsBodyWithAnyMethod }
        set { change { $0.wire.value.sendsBodyWithAnyMethod = newValue } }
    }

    /// The fields behind the body; nil unless set. An archive of the request does not have them.
    public var trailers: RequestTrailers? {
        get { contents.wire.trailers }
        set { change { $0.wire.value.trailers = newValue } }
    }

    /// What makes the body shorter on its way. Nil, the default: the session's
    /// ``/AFURLSession/URLSessionConfiguration/bodyCoding``, which is none.
    ///
    /// ```swift
    /// var request = URLRequest(url: collector)
    /// request.httpMethod = "POST"
    /// request.httpBody = Data(String(repeating: "a line of a log\n", count: 10_000).utf8)
    /// request.bodyCoding = .gzip
    /// let (_, response) = try await session.data(for: request)
    /// ```
    ///
    /// A body in memory of at most 1 MiB is coded before it is sent, and goes as it is if that does not make it shorter.
    /// Longer ones, files and streams are coded while they are sent, and go in chunks; in a request of HTTP/1.0, which has
    /// no chunks, they go as they are. A worker codes, and not the network thread.
    ///
    /// If the server answers 415 and names in `Accept-Encoding` which codings it takes, and this is none of them (RFC 9110
    /// §15.5.16), the session sends the request again as it is, and all others to that origin.
    ///
    /// Progress counts the bytes that you gave, as do `countOfBytesSent` and `countOfBytesExpectedToSend`.
    public var bodyCoding: BodyCoding? {
        get { contents.wire.bodyCoding }
        set { change { $0.wire.value.bodyCoding = newValue } }
    }

    /// Whether the session sends the request as one of HTTP/1.0, for servers that misread HTTP/1.1. False by default.
    /// Its connection serves no other request, and a body needs a length that is known beforehand.
    public var usesHTTP10: Bool {
        get { contents.wire.version == .http10 }
        set { change { $0.wire.value.version = newValue ? .http10 : .http11 } }
    }
}

extension URLRequest {
    /// Where it leads. In a request that opens a WebSocket, `ws` and `wss` stand for `http` and `https`.
    package var target: RequestURL? {
        url.flatMap { try? RequestURL($0.absoluteString, opensWebSocket: contents.wire.webSocket != nil) }
    }

    /// The same request, but one that opens a WebSocket if `other` does: code of the program may have made it anew.
    package func openingWebSocket(like other: URLRequest) -> URLRequest {
        guard let handshake = other.contents.wire.webSocket, contents.wire.webSocket == nil else { return self }
        var request = self
        request.change { $0.wire.value.webSocket = handshake }
        return request
    }
}

/// The form in which a request asks to be sent.
package struct WireForm: Sendable, Hashable {
    package var version = HTTPVersion.http11
    /// Fields of the session that the request does without, by their names in lower case.
    package var withheld: Set<String> = []
    /// Whether the body of its response keeps its content coding.
    package var keepsCoding = false
    /// Whether its field `Cookie` goes out behind the cookies of the store.
    package var addsStoredCookies = false
    /// Whether GET and HEAD may have a body.
    package var sendsBodyWithAnyMethod = false
    /// What it asks for if it opens a WebSocket.
    package var webSocket: WebSocketHandshake?
    /// The fields behind its body.
    package var trailers: RequestTrailers?
    /// What makes its body shorter, if it says so itself.
    package var bodyCoding: BodyCoding?
}

/// The same in the space of a reference: nearly every request keeps the defaults.
package enum OwnWire: Sendable, Hashable {
    case usual
    indirect case own(WireForm)

    package var value: WireForm {
        get { if case .own(let form) = self { form } else { WireForm() } }
        set { self = newValue == WireForm() ? .usual : .own(newValue) }
    }

    package var version: HTTPVersion { if case .own(let form) = self { form.version } else { .http11 } }

    package var webSocket: WebSocketHandshake? { if case .own(let form) = self { form.webSocket } else { nil } }

    package var trailers: RequestTrailers? { if case .own(let form) = self { form.trailers } else { nil } }

    package var bodyCoding: BodyCoding? { if case .own(let form) = self { form.bodyCoding } else { nil } }

    package var keepsCoding: Bool { if case .own(let form) = self { form.keepsCoding } else { false } }

    package var sendsBodyWithAnyMethod: Bool {
        if case .own(let form) = self { form.sendsBodyWithAnyMethod } else { false }
    }

    /// Nil if there are none.
    package var withheld: Set<String>? {
        guard case .own(let form) = self, form.keepsCoding || !form.withheld.isEmpty else { return nil }
        return form.keepsCoding ? form.withheld.union(["accept-encoding"]) : form.withheld
    }
}
