import AFWire

extension URLRequest {
    /// The header fields in the order in which they were set, which is that of the wire. What the session adds is not
    /// among them.
    public var headerFields: [(name: String, value: String)] {
        contents.fields.map { (name: $0.name, value: $0.value) }
    }

    /// Fields of the session that this request goes without, by name and in any case: `Accept`, `User-Agent` and
    /// `Accept-Encoding`, which every session has, and those of
    /// ``URLSessionConfiguration/httpAdditionalHeaders``. Empty unless set.
    ///
    /// A field that the request has itself is sent nevertheless, and so is what the exchange needs: `Host` and those
    /// that say how long a body is.
    public var withheldHeaderFields: Set<String> {
        get { contents.wire.value.withheld }
        set { change { $0.wire.value.withheld = Set(newValue.map(HTTPText.lowered)) } }
    }

    /// Whether the cookies that the store has for the request are sent together with its own field `Cookie`, in front of
    /// it. False: the field is sent only if the store has none, or is not asked (`httpShouldHandleCookies`). Either way
    /// the field does not follow a redirect to another origin.
    public var addsStoredCookies: Bool {
        get { contents.wire.value.addsStoredCookies }
        set { change { $0.wire.value.addsStoredCookies = newValue } }
    }

    /// The value of the field `Cookie`, if the store has cookies for the request.
    func cookieField(_ stored: [UInt8]) -> [UInt8] {
        guard addsStoredCookies, let own = value(forHTTPHeaderField: "Cookie"), !own.isEmpty else { return stored }
        return stored + Array("; \(own)".utf8)
    }

    /// Whether the request says that it is one of HTTP/1.0. False. For servers that mistake requests of HTTP/1.1; its
    /// connection serves no other request, and a body needs a length that is known beforehand.
    public var usesHTTP10: Bool {
        get { contents.wire.version == .http10 }
        set { change { $0.wire.value.version = newValue ? .http10 : .http11 } }
    }
}
