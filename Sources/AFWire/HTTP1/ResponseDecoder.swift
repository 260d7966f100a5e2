/// Reads the response to one request, interim ones first, from bytes in pieces of any size.
///
/// One for each exchange: no state outlives a message. The caller feeds what it has received, moves on by as many bytes
/// as were consumed, and feeds the rest, until ``isFinished``. Bytes after that belong to no response and forbid reuse.
///
/// Strict where framing or the borders of fields are at stake (RFC 9112 §11): what could be read in two ways is
/// refused, and what was read leniently clears ``framedExactly``.
package struct ResponseDecoder: Sendable {
    /// What a prefix of the input meant.
    package struct Step {
        package let consumed: Int
        package let event: Event
        /// What ``ResponseDecoder/headBytesReceived`` and ``ResponseDecoder/framedExactly``
        /// say after this step. To ask a decoder that is kept in a class copies it.
        package let headBytes: Int
        package let framedExactly: Bool
    }

    package enum Event {
        /// All input was taken in; there is nothing to report yet.
        case needMore

        /// A 1xx response other than 101; the final one is still to come.
        case interim(ResponseHead)

        case head(ResponseHead)

        /// A piece of the body: a part of the input, never empty, valid as long as that is.
        case body(UnsafeRawBufferPointer)

        case end(trailers: HTTPHeaders)
    }

    let method: Method
    let limits: HTTP1Limits
    private var reader: HeadReader
    /// Nil until the final head is complete.
    private var body: BodyReader?
    private var interimCount = 0
    private var completedHeadBytes = 0
    private let headBudget: Int
    private var mayReuse = true
    private var failure: HTTP1Error?

    /// - Parameters:
    ///   - method: The method of the request, which decides whether a body follows.
    ///   - headBudget: Bytes of heads the task may still receive; without it, what
    ///     the limits say.
    ///   - allowsLeadingEmptyLine: Whether one CR LF before the status line is let
    ///     pass. Only right for the first response on a connection.
    package init(
        method: Method,
        limits: HTTP1Limits = .standard,
        headBudget: Int? = nil,
        allowsLeadingEmptyLine: Bool = false
    ) {
        self.method = method
        self.limits = limits
        self.headBudget = headBudget ?? limits.taskHeadBytes
        reader = Self.reader(
            limits: limits,
            budget: self.headBudget,
            answersConnect: self.method == .connect,
            allowsLeadingEmptyLine: allowsLeadingEmptyLine
        )
    }

    /// Forgets this exchange, to read the response to another request. Cheaper than a new decoder, which would be copied
    /// into its place as a whole.
    package mutating func beginAnew(_ method: Method, allowsLeadingEmptyLine: Bool = false) {
        self = ResponseDecoder(
            method: method,
            limits: limits,
            headBudget: headBudget,
            allowsLeadingEmptyLine: allowsLeadingEmptyLine
        )
    }

    /// The end of the response was reported.
    package var isFinished: Bool { body?.isFinished ?? false }

    /// The receiving half of "the connection may be used again": the message ended by
    /// its own framing, the peer agreed to persist, and nothing had to be forgiven.
    package var framedExactly: Bool { isFinished && mayReuse && body?.isExact == true }

    /// Bytes of all heads received, interim ones included.
    package var headBytesReceived: Int {
        completedHeadBytes + (body == nil ? reader.bytesReceived : 0)
    }

    #if DEBUG
        /// Bytes looked at while reading the current head; for the linearity test.
        package var headBytesExamined: Int { reader.parser.examined }
    #endif

    // MARK: - Input

    /// Consumes a prefix of `input` and says what it meant.
    ///
    /// Incomplete heads, chunk lines and trailers are kept inside. A head without a
    /// body is followed by `.end` on the next call, which may be given no input.
    package mutating func decode(_ input: UnsafeRawBufferPointer) throws(HTTP1Error) -> Step {
        if let failure { throw failure }
        var consumed = 0
        let event = try advance(input, consumed: &consumed)
        return Step(consumed: consumed, event: event, headBytes: headBytesReceived, framedExactly: framedExactly)
    }

    /// Remembers why the response cannot be read on: every further call throws the same.
    private mutating func fail(_ error: HTTP1Error) -> HTTP1Error {
        failure = error
        mayReuse = false
        return error
    }

    /// The peer closed its side. Ends a body that lasts until then; anything else
    /// that is not complete is an error that says where it broke off.
    package mutating func inputEnded() throws(HTTP1Error) -> Event {
        if let failure { throw failure }
        mayReuse = false
        let position: HTTP1Error.Position
        if body == nil {
            position = headBytesReceived == 0 ? .beforeHead : .inHead
        } else if let event = body?.inputEnded() {
            return Event(event)
        } else {
            position = .inBody
        }
        let error = HTTP1Error(.closed(position), detail: "the peer closed before the response was complete")
        failure = error
        throw error
    }

    @inline(__always)
    private mutating func advance(_ input: UnsafeRawBufferPointer, consumed: inout Int) throws(HTTP1Error) -> Event {
        guard body != nil else { return try readHead(input, consumed: &consumed) }
        do throws(HTTP1Error) {
            guard let (count, event) = try body?.read(input, limits: limits) else { return .needMore }
            consumed = count
            return Event(event)
        } catch {
            throw fail(error)
        }
    }

    // MARK: - Head

    @inline(__always)
    private mutating func readHead(_ input: UnsafeRawBufferPointer, consumed: inout Int) throws(HTTP1Error) -> Event {
        var fields = HTTPHeaders()
        let head: ResponseHead
        do throws(HTTP1Error) {
            consumed = try reader.read(input, limits: limits, fields: &fields)
            guard reader.isComplete else { return .needMore }
            completedHeadBytes += reader.parser.position
            head = try makeHead(reader.parser, fields: fields)
            let parser = reader.parser
            if parser.sawBareLineFeed || parser.sawLeadingEmptyLine || parser.mendsFields { mayReuse = false }
            if head.isInterim { try startNextHead() }
        } catch {
            throw fail(error)
        }
        if head.isInterim { return .interim(head) }
        noteReuse(head, fields: reader.parser.framing)
        body = BodyReader(head.framing, isOfResponse: true)
        return .head(head)
    }

    private mutating func startNextHead() throws(HTTP1Error) {
        interimCount += 1
        guard interimCount <= limits.interimResponses else {
            throw HTTP1Error(
                .limit(.interimResponses),
                detail: "more than \(limits.interimResponses) interim responses"
            )
        }
        reader = Self.reader(
            limits: limits,
            budget: headBudget - completedHeadBytes,
            answersConnect: method == .connect,
            allowsLeadingEmptyLine: false
        )
    }

    private static func reader(
        limits: HTTP1Limits,
        budget: Int,
        answersConnect: Bool,
        allowsLeadingEmptyLine: Bool
    ) -> HeadReader {
        let parser = HeadParser(
            role: .response,
            allowsFolds: true,
            allowsLeadingEmptyLine: allowsLeadingEmptyLine,
            answersConnect: answersConnect
        )
        guard budget < limits.headBytes else {
            return HeadReader(parser: parser, ceiling: .init(bytes: limits.headBytes, limit: .headBytes))
        }
        return HeadReader(parser: parser, ceiling: .init(bytes: max(budget, 0), limit: .taskHeadBytes))
    }

    private mutating func noteReuse(_ head: ResponseHead, fields: FramingFields) {
        if !head.persistent || head.framing == .untilClose { mayReuse = false }
        if fields.repeatsLength || fields.repeatsChunked { mayReuse = false }
        // RFC 9112 §6.1: with both framings present, or in a version that does not
        // know it, Transfer-Encoding governs, and the connection is closed after it.
        if fields.isChunked, fields.contentLength != nil || head.version == .http10 { mayReuse = false }
        // A 204 must not announce a body (RFC 9110 §8.6); one that does may send it.
        if head.status == 204, fields.isChunked || fields.contentLength ?? 0 > 0 { mayReuse = false }
    }
}

extension ResponseHead {
    /// Another response follows. A 101 is only read where it is the final one.
    fileprivate var isInterim: Bool { status < 200 && status != 101 }
}

extension ResponseDecoder.Event {
    fileprivate init(_ event: BodyReader.Event) {
        switch event {
        case .needMore: self = .needMore
        case .body(let bytes): self = .body(bytes)
        case .end(let trailers): self = .end(trailers: trailers)
        }
    }
}
