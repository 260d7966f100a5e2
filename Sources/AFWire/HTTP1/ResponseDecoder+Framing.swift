extension ResponseDecoder {
    /// The methods whose responses are framed in their own way.
    package enum Method: Sendable {
        case head
        case connect
        /// GET with a request to open a WebSocket: 101 is the final response, and what follows is not HTTP.
        case webSocket
        case other

        package init(_ method: String) {
            switch method {
            case "HEAD": self = .head
            case "CONNECT": self = .connect
            default: self = .other
            }
        }
    }

    /// Puts a parsed head and its meaning together.
    @inline(__always)
    func makeHead(_ parser: HeadParser, fields: HTTPHeaders) throws(HTTP1Error) -> ResponseHead {
        guard case .status(let version, let status, let reason) = parser.startLine else {
            throw HTTP1Error(.status, detail: "no status line")
        }
        // Without a request for it, what follows is no protocol that we agreed to.
        guard status != 101 || method == .webSocket else {
            throw HTTP1Error(.status, detail: "101 to a request that asked for no upgrade")
        }
        let framing = parser.framing
        return ResponseHead(
            version: version,
            status: status,
            headers: fields,
            framing: bodyFraming(status: status, fields: framing),
            persistent: framing.allowPersistence(in: version),
            keepAliveTimeout: framing.keepAliveTimeout,
            contentLength: framing.isChunked ? nil : framing.contentLength,
            hasContentCoding: framing.hasContentCoding,
            setsCookies: framing.setsCookies,
            reasonRange: reason
        )
    }

    /// RFC 9112 §6.3, in its order.
    private func bodyFraming(status: Int, fields: FramingFields) -> BodyFraming {
        switch (method, status) {
        case (.webSocket, 101): return .untilClose
        case (.head, _), (_, 100..<200), (_, 204), (_, 304): return .none
        case (.connect, 200..<300): return .none
        case (.connect, _), (.webSocket, _), (.other, _): break
        }
        if fields.isChunked { return .chunked }
        if let length = fields.contentLength { return .length(length) }
        return .untilClose
    }
}

extension ResponseDecoder {
    /// As the other initialiser, for a method by its name.
    package init(
        method: String,
        limits: HTTP1Limits = .standard,
        headBudget: Int? = nil,
        allowsLeadingEmptyLine: Bool = false
    ) {
        self.init(
            method: Method(method),
            limits: limits,
            headBudget: headBudget,
            allowsLeadingEmptyLine: allowsLeadingEmptyLine
        )
    }
}
