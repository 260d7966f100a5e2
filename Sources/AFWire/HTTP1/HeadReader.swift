/// Collects one head, or one trailer section, from input in pieces of any size.
///
/// A head that arrives whole is parsed where it lies and costs one allocation, the
/// block its fields are copied to. Only the beginning of an incomplete one is kept.
package struct HeadReader: Sendable {
    /// The most bytes the head may have, and what to call that limit.
    package struct Ceiling: Sendable {
        let bytes: Int
        let limit: HTTP1Error.Limit

        package init(bytes: Int, limit: HTTP1Error.Limit) {
            self.bytes = bytes
            self.limit = limit
        }
    }

    package private(set) var parser: HeadParser
    private let ceiling: Ceiling
    private var pending: [UInt8] = []

    /// How much of the incomplete line at the end of `pending` needs no second check.
    private var checked = 0

    package init(parser: HeadParser, ceiling: Ceiling) {
        self.parser = parser
        self.ceiling = ceiling
    }

    /// Bytes taken in so far.
    package var bytesReceived: Int { isComplete ? parser.position : pending.count }

    package private(set) var isComplete = false

    /// Takes in the next bytes and returns how many belong to the head. All of them, unless it is complete now.
    package mutating func read(
        _ input: UnsafeRawBufferPointer,
        limits: HTTP1Limits,
        fields: inout HTTPHeaders
    ) throws(HTTP1Error) -> Int {
        guard pending.isEmpty else { return try readOn(input, limits: limits, fields: &fields) }
        let head = UnsafeRawBufferPointer(rebasing: input.prefix(ceiling.bytes))
        if try parser.parse(head, limits: limits) {
            isComplete = true
            fields = copyFields(of: head)
            return parser.position
        }
        checked = try checkTail(of: head, limits: limits)
        guard head.count == input.count else { throw excess() }
        pending.append(contentsOf: head)
        return input.count
    }

    /// Goes on with a head of which some bytes are kept already, line by line, so that nothing after its end is copied.
    private mutating func readOn(
        _ input: UnsafeRawBufferPointer,
        limits: HTTP1Limits,
        fields: inout HTTPHeaders
    ) throws(HTTP1Error) -> Int {
        var offset = 0
        while offset < input.count {
            let room = ceiling.bytes - pending.count
            guard room > 0 else { throw excess() }
            let rest = UnsafeRawBufferPointer(rebasing: input[offset...].prefix(room))
            guard let lineFeed = ByteScanning.firstIndex(of: 0x0A, in: rest) else {
                try appendPartOfLine(rest, limits: limits)
                offset += rest.count
                continue
            }
            append(UnsafeRawBufferPointer(rebasing: rest[...lineFeed]))
            offset += lineFeed + 1
            if try parseLine(limits) {
                fields = pending.withUnsafeBytes(copyFields)
                pending = []
                return offset
            }
        }
        return offset
    }

    /// Takes in bytes without a line end.
    private mutating func appendPartOfLine(
        _ bytes: UnsafeRawBufferPointer,
        limits: HTTP1Limits
    ) throws(HTTP1Error) {
        let lineBytes = pending.count - parser.position
        // What the parser would look for in an incomplete line: a CR, too many bytes,
        // or at its very beginning, a protocol that is not ours.
        let isPlain =
            (lineBytes >= 8 || !parser.awaitsStartLine) && checked == lineBytes
            && lineBytes + bytes.count <= limits.lineBytes
            && ByteScanning.firstIndex(of: 0x0D, in: bytes) == nil
        append(bytes)
        guard !isPlain else {
            checked = lineBytes + bytes.count
            return
        }
        checked = try withPending { (reader, bytes) throws(HTTP1Error) in
            try reader.checkTail(of: bytes, limits: limits)
        }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        pending.append(contentsOf: bytes)
        #if DEBUG
            parser.examined += bytes.count
        #endif
    }

    private mutating func parseLine(_ limits: HTTP1Limits) throws(HTTP1Error) -> Bool {
        checked = 0
        isComplete = try withPending { (reader, bytes) throws(HTTP1Error) in
            try reader.parser.parse(bytes, limits: limits)
        }
        return isComplete
    }

    /// Takes the kept bytes out while `body` runs, so that it may change the rest.
    private mutating func withPending<R>(
        _ body: (inout HeadReader, UnsafeRawBufferPointer) throws(HTTP1Error) -> R
    ) throws(HTTP1Error) -> R {
        let bytes = pending
        pending = []
        defer { pending = bytes }
        return try bytes.withUnsafeBufferPointer { (bytes) throws(HTTP1Error) in
            try body(&self, UnsafeRawBufferPointer(bytes))
        }
    }

    /// Checks the incomplete line at the end of `head` and returns how much of it needs no second check.
    private func checkTail(of head: UnsafeRawBufferPointer, limits: HTTP1Limits) throws(HTTP1Error) -> Int {
        let line = UnsafeRawBufferPointer(rebasing: head[parser.position...])
        try parser.checkLine(line, from: checked, isComplete: false, limits: limits)
        return line.last == 0x0D ? line.count - 1 : line.count
    }

    private func excess() -> HTTP1Error {
        HTTP1Error(.limit(ceiling.limit), detail: "more than \(ceiling.bytes) bytes")
    }

    /// Copies start line and fields, without the empty line, to a block of their own.
    private func copyFields(of head: UnsafeRawBufferPointer) -> HTTPHeaders {
        if parser.sawBareLineFeed || parser.mendsFields { return rewriteFields(of: head) }
        // The last line is the empty one: CR LF.
        let block = UnsafeRawBufferPointer(rebasing: head[..<(parser.position - 2)])
        return HTTPHeaders(validated: Array(block), fieldsStart: parser.fieldsStart, count: parser.fieldCount)
    }

    /// The same for a head with bare LFs, folded fields or white space before a colon: every line of the copy ends with
    /// CR LF, each fold is one SP (RFC 9112 §5.2), and each colon stands behind its name, so that what is written out
    /// again cannot repeat the fault.
    private func rewriteFields(of head: UnsafeRawBufferPointer) -> HTTPHeaders {
        var block = Array(head[..<parser.fieldsStart])
        var lines = FieldLines(UnsafeRawBufferPointer(rebasing: head[parser.fieldsStart..<parser.position]))
        while let line = lines.next(), let first = line.text.first {
            let text = parser.sawFold ? ByteScanning.trimmingOWS(line.text) : line.text
            if ByteScanning.isOWS(first) {
                block.removeLast(2)
                block.append(0x20)
                block.append(contentsOf: text)
            } else {
                block.append(contentsOf: ByteScanning.trimmingOWS(line.name))
                block.append(contentsOf: text[line.name.count...])
            }
            block.append(contentsOf: [0x0D, 0x0A])
        }
        return HTTPHeaders(validated: block, fieldsStart: parser.fieldsStart, count: parser.fieldCount)
    }
}
