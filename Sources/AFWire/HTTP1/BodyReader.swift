/// Reads the body of one message, whose framing its head has settled.
package struct BodyReader: Sendable {
    package enum Event {
        case needMore

        /// A part of the input, never empty.
        case body(UnsafeRawBufferPointer)

        case end(trailers: HTTPHeaders)
    }

    /// A box, because few bodies have trailers, and fewer in pieces.
    private indirect enum Trailers: Sendable {
        case none
        case begun(HeadReader)
    }

    private enum State: Sendable {
        case length(UInt64)
        case chunks
        case trailers
        case untilClose
        /// Nothing is missing, but the end was not reported yet.
        case ending
        case finished
    }

    private var state: State
    private var chunks: ChunkDecoder
    private var trailers = Trailers.none
    private let isOfResponse: Bool

    /// A field of the trailers goes on in a second line.
    private var sawFold = false

    /// Whether nothing was read that another parser may read in another way.
    var isExact: Bool { !sawFold && !chunks.sawBlanks }

    /// - Parameter isOfResponse: Whether blanks may stand behind the size of a chunk, and a field of the trailers may be
    ///   folded.
    package init(_ framing: BodyFraming, isOfResponse: Bool) {
        self.isOfResponse = isOfResponse
        chunks = ChunkDecoder(allowsBlanks: isOfResponse)
        state =
            switch framing {
            case .none, .length(0): .ending
            case .length(let count): .length(count)
            case .chunked: .chunks
            case .untilClose: .untilClose
            }
    }

    /// The end was reported.
    package var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// Consumes a prefix of `input`; all of it with `.needMore`.
    package mutating func read(
        _ input: UnsafeRawBufferPointer,
        limits: HTTP1Limits
    ) throws(HTTP1Error) -> (consumed: Int, event: Event) {
        switch state {
        case .length(let remaining):
            return takeContent(input, remaining: remaining)
        case .chunks:
            return try readChunks(input, limits: limits)
        case .trailers:
            return try readTrailers(input, limits: limits)
        case .untilClose:
            return (input.count, input.isEmpty ? .needMore : .body(input))
        case .ending:
            state = .finished
            return (0, .end(trailers: HTTPHeaders()))
        case .finished:
            guard input.isEmpty else { throw HTTP1Error(.framing, reason: "bytes after the message", peer: input) }
            return (0, .needMore)
        }
    }

    /// The peer closed its side. Nil if something was missing.
    package mutating func inputEnded() -> Event? {
        switch state {
        case .untilClose, .ending:
            state = .finished
            return .end(trailers: HTTPHeaders())
        case .finished:
            return .needMore
        case .length, .chunks, .trailers:
            return nil
        }
    }

    private mutating func takeContent(
        _ input: UnsafeRawBufferPointer,
        remaining: UInt64
    ) -> (consumed: Int, event: Event) {
        guard !input.isEmpty else { return (0, .needMore) }
        let count = Int(min(remaining, UInt64(input.count)))
        state = remaining == UInt64(count) ? .ending : .length(remaining - UInt64(count))
        return (count, .body(UnsafeRawBufferPointer(rebasing: input[..<count])))
    }

    private mutating func readChunks(
        _ input: UnsafeRawBufferPointer,
        limits: HTTP1Limits
    ) throws(HTTP1Error) -> (consumed: Int, event: Event) {
        let (consumed, event) = try chunks.decode(input, limits: limits)
        switch event {
        case .needMore:
            return (consumed, .needMore)
        case .body(let bytes):
            return (consumed, .body(bytes))
        case .lastChunk:
            state = .trailers
            let rest = try readTrailers(UnsafeRawBufferPointer(rebasing: input[consumed...]), limits: limits)
            return (consumed + rest.consumed, rest.event)
        }
    }

    private mutating func readTrailers(
        _ input: UnsafeRawBufferPointer,
        limits: HTTP1Limits
    ) throws(HTTP1Error) -> (consumed: Int, event: Event) {
        var reader = HeadReader.forTrailers(limits, allowsFolds: isOfResponse)
        if case .begun(let begun) = trailers { reader = begun }
        // Taken out while it works: two owners would mean a copy of what it keeps.
        trailers = .none
        var fields = HTTPHeaders()
        let consumed = try reader.read(input, limits: limits, fields: &fields)
        guard reader.isComplete else {
            trailers = .begun(reader)
            return (consumed, .needMore)
        }
        state = .finished
        sawFold = reader.parser.sawFold
        return (consumed, .end(trailers: fields))
    }
}

extension HeadReader {
    fileprivate static func forTrailers(_ limits: HTTP1Limits, allowsFolds: Bool) -> HeadReader {
        let ceiling = Ceiling(bytes: limits.trailerBytes, limit: .trailerBytes)
        return HeadReader(parser: HeadParser(role: .trailers, allowsFolds: allowsFolds), ceiling: ceiling)
    }
}
