package import AFWire

/// Reads one request, as a server does, from bytes in pieces of any size.
///
/// Stricter than `ResponseDecoder`: whatever has ever helped to smuggle a request past a proxy is refused, not
/// forgiven. One for each request; what is left over belongs to the next.
package struct RequestDecoder: Sendable {
    package struct Step {
        package let consumed: Int
        package let event: Event
    }

    package enum Event {
        /// All input was taken in; there is nothing to report yet.
        case needMore

        case head(Received)

        /// A part of the input, never empty, valid as long as that is.
        case body(UnsafeRawBufferPointer)

        case end(trailers: HTTPHeaders)
    }

    /// A request head and what it means for the connection.
    package struct Received: Sendable, Equatable {
        package let version: HTTPVersion
        package let request: ReceivedRequest

        /// Where the body ends. Never `.untilClose`: a request has no such body.
        package let framing: BodyFraming

        /// Whether the client wants to keep the connection.
        package let persistent: Bool

        /// Whether the client waits for a 100 before it sends the body.
        package let expectsContinue: Bool
    }

    private let limits: HTTP1Limits
    private var reader: HeadReader
    /// Nil until the head is complete.
    private var body: BodyReader?
    private var failure: HTTP1Error?

    package init(limits: HTTP1Limits = .standard) {
        self.limits = limits
        // RFC 9112 §2.2: one empty line before a request is to be ignored.
        let parser = HeadParser(role: .request, allowsLeadingEmptyLine: true)
        reader = HeadReader(parser: parser, ceiling: .init(bytes: limits.headBytes, limit: .headBytes))
    }

    /// The end of the request was reported.
    package var isFinished: Bool { body?.isFinished ?? false }

    /// Consumes a prefix of `input` and says what it meant.
    ///
    /// A head without a body is followed by `.end` on the next call, which may be given no input.
    package mutating func decode(_ input: UnsafeRawBufferPointer) throws(HTTP1Error) -> Step {
        if let failure { throw failure }
        do throws(HTTP1Error) {
            guard let (consumed, event) = try body?.read(input, limits: limits) else { return try readHead(input) }
            return Step(consumed: consumed, event: Event(event))
        } catch {
            failure = error
            throw error
        }
    }

    /// The client closed its side; an error unless the request was complete.
    package mutating func inputEnded() throws(HTTP1Error) -> Event {
        if let failure { throw failure }
        if let event = body?.inputEnded() { return Event(event) }
        let isUntouched = body == nil && reader.bytesReceived == 0
        let position: HTTP1Error.Position = body != nil ? .inBody : isUntouched ? .beforeHead : .inHead
        let error = HTTP1Error(.closed(position), detail: "the client closed before the request was complete")
        failure = error
        throw error
    }

    private mutating func readHead(_ input: UnsafeRawBufferPointer) throws(HTTP1Error) -> Step {
        var fields = HTTPHeaders()
        let consumed = try reader.read(input, limits: limits, fields: &fields)
        guard reader.isComplete else { return Step(consumed: consumed, event: .needMore) }
        let received = try makeHead(fields)
        body = BodyReader(received.framing, isOfResponse: false)
        return Step(consumed: consumed, event: .head(received))
    }

    private func makeHead(_ fields: HTTPHeaders) throws(HTTP1Error) -> Received {
        guard case .request(let version, let method, let target) = reader.parser.startLine else {
            throw HTTP1Error(.request, detail: "no request line")
        }
        let framing = reader.parser.framing
        return Received(
            version: version,
            request: ReceivedRequest(
                method: fields.startText(method),
                target: fields.startText(target),
                headers: fields
            ),
            framing: try bodyFraming(version, fields: framing),
            persistent: framing.allowPersistence(in: version),
            expectsContinue: framing.expectsContinue
        )
    }

    private func bodyFraming(_ version: HTTPVersion, fields: FramingFields) throws(HTTP1Error) -> BodyFraming {
        // RFC 9112 §3.2: exactly one Host in 1.1, at most one in 1.0.
        guard fields.hostCount == 1 || (version == .http10 && fields.hostCount == 0) else {
            throw HTTP1Error(.header, detail: "\(fields.hostCount) Host fields")
        }
        guard !fields.repeatsLength else { throw HTTP1Error(.framing, detail: "Content-Length more than once") }
        guard !fields.repeatsChunked else {
            throw HTTP1Error(.framing, detail: "Transfer-Encoding: chunked more than once")
        }
        if fields.isChunked {
            guard fields.contentLength == nil, version == .http11 else {
                throw HTTP1Error(.framing, detail: "Transfer-Encoding with Content-Length, or in HTTP/1.0")
            }
            return .chunked
        }
        return fields.contentLength.map { .length($0) } ?? .none
    }
}

/// The first line and the fields of a request, as received.
package struct ReceivedRequest: Sendable, Equatable {
    /// The method, case-sensitive.
    package let method: String

    /// The request target as it stands on the wire, in any of its four forms.
    package let target: String

    package let headers: HTTPHeaders
}

extension RequestDecoder.Event {
    fileprivate init(_ event: BodyReader.Event) {
        switch event {
        case .needMore: self = .needMore
        case .body(let bytes): self = .body(bytes)
        case .end(let trailers): self = .end(trailers: trailers)
        }
    }
}
