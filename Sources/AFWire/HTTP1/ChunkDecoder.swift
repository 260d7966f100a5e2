/// Reads the chunks of a body, up to and including the line of the last one
/// (RFC 9112 §7.1). The trailers after it are a head's business.
///
/// Strict: sizes are hexadecimal digits and nothing else, blanks stand only behind them, lines end with CR LF and
/// nothing else. Any leniency here lets two parsers disagree about where a response ends. Blanks that no extension
/// follows are read in responses, and noted in ``sawBlanks``. Keeps no bytes and allocates nothing.
struct ChunkDecoder: Sendable {
    enum Event {
        case needMore
        case body(UnsafeRawBufferPointer)
        case lastChunk
    }

    private enum State: Sendable {
        case size
        /// Blanks came after the size (BWS, RFC 9112 §7.1.1); an extension may follow, or in a response the line's end.
        case blanks
        case chunkExtension
        case lineFeed
        case content
        case contentReturn
        case contentLineFeed
        case ended
    }

    private var state = State.size
    private var digits = 0
    private var remaining: UInt64 = 0
    private var extensionBytes = 0
    private var isQuoted = false
    private var isEscaped = false
    private let allowsBlanks: Bool

    /// Blanks stood behind a size that no extension follows. RFC 9112 §7.1 has none there: a parser in front of us may
    /// have refused the line, or read another size.
    private(set) var sawBlanks = false

    /// - Parameter allowsBlanks: Whether blanks may stand at the end of a line without an extension, as servers write
    ///   that fill up a field of fixed width.
    init(allowsBlanks: Bool) {
        self.allowsBlanks = allowsBlanks
    }

    /// Reads up to the next piece of content. With `.needMore` all input was read.
    mutating func decode(
        _ input: UnsafeRawBufferPointer,
        limits: HTTP1Limits
    ) throws(HTTP1Error) -> (consumed: Int, event: Event) {
        var offset = 0
        while offset < input.count {
            if state == .content { return takeContent(input, at: offset) }
            try step(input[offset], of: input, at: offset, limits: limits)
            offset += 1
            if state == .ended { return (offset, .lastChunk) }
        }
        return (offset, .needMore)
    }

    private mutating func takeContent(
        _ input: UnsafeRawBufferPointer,
        at offset: Int
    ) -> (consumed: Int, event: Event) {
        let count = Int(min(remaining, UInt64(input.count - offset)))
        remaining -= UInt64(count)
        if remaining == 0 { state = .contentReturn }
        return (offset + count, .body(UnsafeRawBufferPointer(rebasing: input[offset..<(offset + count)])))
    }

    /// Reads one byte of what stands around the content.
    private mutating func step(
        _ byte: UInt8,
        of input: UnsafeRawBufferPointer,
        at offset: Int,
        limits: HTTP1Limits
    ) throws(HTTP1Error) {
        let isRight =
            switch state {
            case .size: try readSize(byte, limits: limits)
            case .blanks: try readBlank(byte, limits: limits)
            case .chunkExtension: try readExtension(byte, limits: limits)
            case .lineFeed: endLine(byte)
            case .contentReturn: expect(0x0D, byte: byte, then: .contentLineFeed)
            case .contentLineFeed: expect(0x0A, byte: byte, then: .size)
            case .content, .ended: false
            }
        guard isRight else {
            throw HTTP1Error(.chunk, reason: reason, peer: UnsafeRawBufferPointer(rebasing: input[offset...]))
        }
    }

    private var reason: StaticString {
        switch state {
        case .size: "a chunk size is not 1 to 16 hexadecimal digits"
        case .blanks: "blanks after a chunk size, and neither an extension nor CR LF"
        case .chunkExtension: "a chunk extension is not text"
        case .lineFeed: "a chunk line does not end with CR LF"
        case .contentReturn, .contentLineFeed: "no CR LF after a chunk"
        case .content, .ended: "nothing more belongs to the chunks"
        }
    }

    private mutating func readSize(_ byte: UInt8, limits: HTTP1Limits) throws(HTTP1Error) -> Bool {
        if let digit = ByteScanning.hexDigit(byte) {
            // As for Content-Length, sizes past 2^63 − 1 are refused.
            guard digits < limits.chunkSizeDigits, remaining < 1 << 59 else { return false }
            digits += 1
            remaining = remaining << 4 | UInt64(digit)
            return true
        }
        guard digits > 0 else { return false }
        if byte == 0x0D {
            state = .lineFeed
            return true
        }
        return try readBlank(byte, limits: limits)
    }

    /// Reads what stands behind a size, up to the semicolon of an extension, or to the line's end.
    private mutating func readBlank(_ byte: UInt8, limits: HTTP1Limits) throws(HTTP1Error) -> Bool {
        if byte == 0x3B {
            state = .chunkExtension
            return true
        }
        if byte == 0x0D, allowsBlanks {
            state = .lineFeed
            sawBlanks = true
            return true
        }
        guard ByteScanning.isOWS(byte) else { return false }
        state = .blanks
        try countExtension(limits)
        return true
    }

    /// Skips an extension. Quotes are followed only so that a CR LF between them,
    /// which another parser might not take for the end, is refused.
    private mutating func readExtension(_ byte: UInt8, limits: HTTP1Limits) throws(HTTP1Error) -> Bool {
        if byte == 0x0D, !isQuoted {
            state = .lineFeed
            return true
        }
        try countExtension(limits)
        switch byte {
        case _ where isEscaped: isEscaped = false
        case 0x22: isQuoted.toggle()
        case 0x5C: isEscaped = isQuoted
        default: break
        }
        return byte >= 0x20 && byte != 0x7F
    }

    private mutating func countExtension(_ limits: HTTP1Limits) throws(HTTP1Error) {
        extensionBytes += 1
        guard extensionBytes <= limits.chunkExtensionBytes else {
            throw HTTP1Error(.limit(.chunkExtensionBytes), detail: "more than \(limits.chunkExtensionBytes) bytes")
        }
    }

    private mutating func endLine(_ byte: UInt8) -> Bool {
        guard byte == 0x0A else { return false }
        state = remaining == 0 ? .ended : .content
        digits = 0
        return true
    }

    private mutating func expect(_ wanted: UInt8, byte: UInt8, then next: State) -> Bool {
        guard byte == wanted else { return false }
        state = next
        return true
    }
}
