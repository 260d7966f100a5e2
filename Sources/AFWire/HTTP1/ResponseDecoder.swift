/// Reads the response to one request, interim ones first, from bytes in pieces of
/// any size.
///
/// One for each exchange: no state outlives a message. The caller feeds what it has
/// received, moves on by as many bytes as were consumed, and feeds the rest, until
/// ``isFinished``. Bytes after that belong to nobody and forbid reuse.
///
/// Strict where framing or the borders of fields are at stake (RFC 9112 §11): what
/// could be read in two ways is refused, and what was read leniently clears
/// ``framedExactly``.
package struct ResponseDecoder: Sendable {
    /// What a prefix of the input meant.
    package struct Step {
        package let consumed: Int
        package let event: Event
    }

    package enum Event {
        /// All input was taken in; there is nothing to report yet.
        case needMore

        /// A 1xx response; the final one is still to come.
        case interim(ResponseHead)

        case head(ResponseHead)

        /// A piece of the body: a part of the input, never empty, valid as long as
        /// that is.
        case body(UnsafeRawBufferPointer)

        case end(trailers: HTTPHeaders)
    }

    private enum State: Sendable {
        case head
        case length(UInt64)
        case chunks
        case trailers
        case untilClose
        case ending
        case finished
    }

    let method: Method
    let limits: HTTP1Limits
    private var state = State.head
    private var reader: HeadReader
    private var chunks: ChunkDecoder
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
        method: String,
        limits: HTTP1Limits = .standard,
        headBudget: Int? = nil,
        allowsLeadingEmptyLine: Bool = false
    ) {
        self.method = Method(method)
        self.limits = limits
        self.headBudget = headBudget ?? limits.taskHeadBytes
        chunks = ChunkDecoder(limits: limits)
        reader = Self.reader(
            limits: limits,
            budget: self.headBudget,
            answersConnect: self.method == .connect,
            allowsLeadingEmptyLine: allowsLeadingEmptyLine
        )
    }

    /// The end of the response was reported.
    package var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// The receiving half of "the connection may be used again": the message ended by
    /// its own framing, the peer agreed to persist, and nothing had to be forgiven.
    package var framedExactly: Bool { isFinished && mayReuse }

    /// Bytes of all heads received, interim ones included.
    package var headBytesReceived: Int {
        if case .head = state { return completedHeadBytes + reader.bytesReceived }
        return completedHeadBytes
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
        do throws(HTTP1Error) {
            return try advance(input)
        } catch {
            failure = error
            mayReuse = false
            throw error
        }
    }

    /// The peer closed its side. Ends a body that lasts until then; anything else
    /// that is not complete is an error that says where it broke off.
    package mutating func inputEnded() throws(HTTP1Error) -> Event {
        if let failure { throw failure }
        mayReuse = false
        switch state {
        case .untilClose, .ending:
            state = .finished
            return .end(trailers: HTTPHeaders())
        case .finished:
            return .needMore
        case .head:
            throw closed(headBytesReceived == 0 ? .beforeHead : .inHead)
        case .length, .chunks, .trailers:
            throw closed(.inBody)
        }
    }

    private mutating func advance(_ input: UnsafeRawBufferPointer) throws(HTTP1Error) -> Step {
        switch state {
        case .head: return try readHead(input)
        case .length(let remaining): return takeBody(input, remaining: remaining)
        case .chunks: return try readChunks(input)
        case .trailers: return try readTrailers(input)
        case .untilClose:
            return Step(consumed: input.count, event: input.isEmpty ? .needMore : .body(input))
        case .ending:
            state = .finished
            return Step(consumed: 0, event: .end(trailers: HTTPHeaders()))
        case .finished:
            guard input.isEmpty else { throw HTTP1Error(.framing, "bytes after the response", peer: input) }
            return Step(consumed: 0, event: .needMore)
        }
    }

    private mutating func closed(_ position: HTTP1Error.Position) -> HTTP1Error {
        let error = HTTP1Error(.closed(position), "the peer closed before the response was complete")
        failure = error
        return error
    }

    // MARK: - Head

    private mutating func readHead(_ input: UnsafeRawBufferPointer) throws(HTTP1Error) -> Step {
        var fields = HTTPHeaders()
        let consumed = try reader.read(input, fields: &fields)
        guard reader.isComplete else { return Step(consumed: consumed, event: .needMore) }

        let parser = reader.parser
        completedHeadBytes += parser.position
        let head = try makeHead(parser, fields)
        if parser.sawBareLineFeed || parser.sawLeadingEmptyLine { mayReuse = false }
        if head.status < 200 {
            try startNextHead()
            return Step(consumed: consumed, event: .interim(head))
        }
        noteReuse(head, parser.framing)
        startBody(head.framing)
        return Step(consumed: consumed, event: .head(head))
    }

    private mutating func startNextHead() throws(HTTP1Error) {
        interimCount += 1
        guard interimCount <= limits.interimResponses else {
            throw HTTP1Error(.limit(.interimResponses), "more than \(limits.interimResponses) interim responses")
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
            .response,
            limits: limits,
            allowsLeadingEmptyLine: allowsLeadingEmptyLine,
            answersConnect: answersConnect
        )
        guard budget < limits.headBytes else {
            return HeadReader(parser, ceiling: .init(bytes: limits.headBytes, limit: .headBytes))
        }
        return HeadReader(parser, ceiling: .init(bytes: max(budget, 0), limit: .taskHeadBytes))
    }

    private mutating func noteReuse(_ head: ResponseHead, _ fields: FramingFields) {
        if !head.persistent || fields.repeatsLength || head.framing == .untilClose { mayReuse = false }
        // RFC 9112 §6.1: with both framings present, or in a version that does not
        // know it, Transfer-Encoding governs, and the connection is closed after it.
        if fields.isChunked, fields.contentLength != nil || head.version == .http10 { mayReuse = false }
        // A 204 must not announce a body (RFC 9110 §8.6); one that does may send it.
        if head.status == 204, fields.isChunked || fields.contentLength ?? 0 > 0 { mayReuse = false }
    }

    private mutating func startBody(_ framing: BodyFraming) {
        switch framing {
        case .none, .length(0): state = .ending
        case .length(let count): state = .length(count)
        case .chunked: state = .chunks
        case .untilClose: state = .untilClose
        }
    }

    // MARK: - Body

    private mutating func takeBody(_ input: UnsafeRawBufferPointer, remaining: UInt64) -> Step {
        guard !input.isEmpty else { return Step(consumed: 0, event: .needMore) }
        let count = Int(min(remaining, UInt64(input.count)))
        state = remaining == UInt64(count) ? .ending : .length(remaining - UInt64(count))
        return Step(consumed: count, event: .body(UnsafeRawBufferPointer(rebasing: input[..<count])))
    }

    private mutating func readChunks(_ input: UnsafeRawBufferPointer) throws(HTTP1Error) -> Step {
        let (consumed, event) = try chunks.decode(input)
        switch event {
        case .needMore:
            return Step(consumed: consumed, event: .needMore)
        case .body(let bytes):
            return Step(consumed: consumed, event: .body(bytes))
        case .lastChunk:
            state = .trailers
            let ceiling = HeadReader.Ceiling(bytes: limits.trailerBytes, limit: .trailerBytes)
            reader = HeadReader(HeadParser(.trailers, limits: limits), ceiling: ceiling)
            let rest = try readTrailers(UnsafeRawBufferPointer(rebasing: input[consumed...]))
            return Step(consumed: consumed + rest.consumed, event: rest.event)
        }
    }

    private mutating func readTrailers(_ input: UnsafeRawBufferPointer) throws(HTTP1Error) -> Step {
        var trailers = HTTPHeaders()
        let consumed = try reader.read(input, fields: &trailers)
        guard reader.isComplete else { return Step(consumed: consumed, event: .needMore) }
        state = .finished
        return Step(consumed: consumed, event: .end(trailers: trailers))
    }
}
