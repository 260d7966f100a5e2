internal import Glibc

/// Parses the lines of one head, or of one trailer section.
///
/// Works on all bytes of the head received so far, wherever they lie, and looks at each complete line once: called
/// again with more bytes it goes on at the first line it has not seen. Lines are found with `memchr`; validity is
/// checked eight bytes at a time.
package struct HeadParser: Sendable {
    /// Which head this is, and with that, how strict to be.
    package enum Role: Sendable {
        case response
        case request
        case trailers
    }

    let role: Role

    /// Where the first line not yet parsed begins.
    private(set) var position = 0

    /// Where the first field line begins.
    private(set) var fieldsStart = 0

    private(set) var fieldCount = 0
    package private(set) var startLine = StartLine.none
    package private(set) var framing = FramingFields()

    /// A line ended with LF alone. Where one parser sees a line end, another may not.
    private(set) var sawBareLineFeed = false

    /// An empty line came before the status line.
    private(set) var sawLeadingEmptyLine = false

    /// A field goes on in a second line (RFC 9112 §5.2).
    private(set) var sawFold = false

    /// White space stands between the name of a field and its colon (RFC 9112 §5.1).
    private(set) var sawBlankBeforeColon = false

    /// Whether the fields have to be mended when they are copied.
    var mendsFields: Bool { sawFold || sawBlankBeforeColon }

    /// Where the last field line that had a name begins.
    private var lastField = 0

    /// Set for the answer to CONNECT: a 2xx to it starts a tunnel, and its framing
    /// fields mean nothing (RFC 9110 §9.3.6).
    let answersConnect: Bool

    /// Whether a field may go on in a line that begins with white space. Servers write such responses; a request
    /// that has one is refused.
    private let allowsFolds: Bool

    /// Whether white space may stand before the colon of a field that does not concern the connection. Servers write
    /// such responses, and RFC 9112 §5.1 has proxies mend them. Not where the connection goes on as something else.
    private var allowsBlankBeforeColon: Bool

    private var allowsLeadingEmptyLine: Bool
    private(set) var awaitsStartLine: Bool
    private var ignoresFraming: Bool

    /// Bytes looked at so far; the tests hold it to a small multiple of the bytes fed.
    #if DEBUG
        var examined = 0
    #endif

    package init(
        role: Role,
        allowsFolds: Bool = false,
        allowsLeadingEmptyLine: Bool = false,
        answersConnect: Bool = false
    ) {
        self.role = role
        self.allowsFolds = allowsFolds
        self.allowsLeadingEmptyLine = allowsLeadingEmptyLine
        self.answersConnect = answersConnect
        self.allowsBlankBeforeColon = role == .response && !answersConnect
        self.awaitsStartLine = role != .trailers
        self.ignoresFraming = role == .trailers
    }

    /// Parses all complete lines of `head`. True when the empty line was among them;
    /// ``position`` is then the length of the head.
    mutating func parse(_ head: UnsafeRawBufferPointer, limits: HTTP1Limits) throws(HTTP1Error) -> Bool {
        guard let base = head.baseAddress else { return false }
        while position < head.count {
            let start = base + position
            let found = memchr(start, 0x0A, head.count - position)
            countExamined(found.map { UnsafeRawPointer($0) - start + 1 } ?? head.count - position)
            guard let found else { return false }

            let lineFeed = UnsafeRawPointer(found) - base
            let end = try endOfText(in: base, from: position, lineFeed: lineFeed, limits: limits)
            let line = UnsafeRawBufferPointer(start: start, count: end - position)
            if awaitsStartLine {
                try parseStartLine(line, next: lineFeed + 1, limits: limits)
            } else if line.isEmpty {
                position = lineFeed + 1
                return true
            } else {
                try parseField(line, of: head, limits: limits)
            }
            position = lineFeed + 1
        }
        return false
    }

    /// Where the text of the line ends: before CR LF, or before a bare LF where that is let pass.
    @inline(__always)
    private mutating func endOfText(
        in base: UnsafeRawPointer,
        from start: Int,
        lineFeed: Int,
        limits: HTTP1Limits
    ) throws(HTTP1Error) -> Int {
        if lineFeed > start, base.load(fromByteOffset: lineFeed - 1, as: UInt8.self) == 0x0D { return lineFeed - 1 }
        let line = UnsafeRawBufferPointer(start: base + start, count: lineFeed - start)
        // RFC 9112 §2.2 lets a recipient take a bare LF for a line end. Servers that
        // write such heads exist; in a request it only helps to smuggle one.
        guard role == .response else { throw malformed(line, reason: "a line ends with LF alone") }
        // Whatever it is instead of a status line is told apart here.
        try checkLine(line, from: 0, isComplete: true, limits: limits)
        sawBareLineFeed = true
        return lineFeed
    }

    private mutating func parseStartLine(_ line: UnsafeRawBufferPointer, next: Int, limits: HTTP1Limits)
        throws(HTTP1Error)
    {
        if line.isEmpty, allowsLeadingEmptyLine, !sawBareLineFeed {
            allowsLeadingEmptyLine = false
            sawLeadingEmptyLine = true
            return
        }
        if line.count > limits.lineBytes { try refuseExcess(line, limits: limits) }
        switch role {
        case .response:
            startLine = try StartLine.parseStatusLine(line, at: position)
            if case .status(_, 200..<300, _) = startLine { ignoresFraming = answersConnect }
            if case .status(_, 101, _) = startLine { allowsBlankBeforeColon = false }
        case .request:
            startLine = try StartLine.parseRequestLine(line, at: position)
        case .trailers:
            preconditionFailure("trailers have no start line")
        }
        awaitsStartLine = false
        fieldsStart = next
    }

    /// Parses one field line (RFC 9112 §5) of `head`, which is not empty and stands at ``position``.
    @inline(__always)
    private mutating func parseField(
        _ line: UnsafeRawBufferPointer,
        of head: UnsafeRawBufferPointer,
        limits: HTTP1Limits
    ) throws(HTTP1Error) {
        guard let start = line.baseAddress else { return }
        if line.count > limits.lineBytes { try refuseExcess(line, limits: limits) }
        countExamined(line.count)

        let nameCount = ByteScanning.countOfToken(at: start, limit: line.count, readable: head.count - position)
        if nameCount == 0, allowsFolds, fieldCount > 0, ByteScanning.isOWS(line[0]) {
            return try parseFold(line, of: head, limits: limits)
        }
        if fieldCount >= fieldLimit(limits) { try refuseExcess(line, limits: limits) }
        var colon = nameCount
        if nameCount == 0 || nameCount == line.count || line[nameCount] != 0x3A {
            colon = try colonBehindBlanks(line, nameCount: nameCount)
        }
        // The name is known to be clean; it is included only to fill the first word.
        let unchecked = max(0, min(colon + 1, line.count - 8))
        guard ByteScanning.isFieldText(start + unchecked, count: line.count - unchecked) else {
            throw HTTP1Error(.header, reason: "control character in a field", peer: line)
        }
        fieldCount += 1
        lastField = position
        guard !ignoresFraming else { return }
        let value = UnsafeRawBufferPointer(start: start + colon + 1, count: line.count - colon - 1)
        try framing.note(name: start, nameCount: nameCount, value: value)
    }

    /// Where the colon of a field is that does not stand behind the name. What the copy of the head has is mended.
    ///
    /// A parser in front of us may have left the field out, or taken the white space for a part of its name: the
    /// connection is not used again, and no field that concerns it is read.
    private mutating func colonBehindBlanks(_ line: UnsafeRawBufferPointer, nameCount: Int) throws(HTTP1Error) -> Int {
        var colon = nameCount
        while colon < line.count, ByteScanning.isOWS(line[colon]) { colon += 1 }
        guard nameCount > 0, colon < line.count, line[colon] == 0x3A, let name = line.baseAddress else {
            throw HTTP1Error(.header, reason: "a field line does not begin with a name and a colon", peer: line)
        }
        guard allowsBlankBeforeColon, !FramingFields.concernsConnection(name, nameCount: nameCount) else {
            throw HTTP1Error(.header, reason: "white space before the colon of a field", peer: line)
        }
        sawBlankBeforeColon = true
        framing.noteMending()
        return colon
    }

    /// Parses a line that continues the field before it. What the field says is put together when the head is
    /// copied; only the names of fields are looked at until then.
    ///
    /// A parser in front of us may have taken the line for a field of its own, or the end of the head: the
    /// connection is not used again, and of the fields that say where the body ends none may be folded. Only the line
    /// behind `Content-Length` may be empty, which leaves its number what it was.
    private mutating func parseFold(
        _ line: UnsafeRawBufferPointer,
        of head: UnsafeRawBufferPointer,
        limits: HTTP1Limits
    ) throws(HTTP1Error) {
        guard let base = head.baseAddress, let start = line.baseAddress else { return }
        let field = base + lastField
        let nameCount = ByteScanning.countOfToken(
            at: field,
            limit: head.count - lastField,
            readable: head.count - lastField
        )
        let isEmpty =
            role == .response && line.allSatisfy(ByteScanning.isOWS)
            && FramingFields.isLength(field, nameCount: nameCount)
        guard isEmpty || !FramingFields.settlesEndOfBody(field, nameCount: nameCount) else {
            let folded = UnsafeRawBufferPointer(rebasing: head[lastField..<(position + line.count)])
            throw HTTP1Error(.header, reason: "a folded Content-Length or Transfer-Encoding", peer: folded)
        }
        guard ByteScanning.isFieldText(start, count: line.count) else {
            throw HTTP1Error(.header, reason: "control character in a field", peer: line)
        }
        guard position + line.count - lastField <= limits.lineBytes else {
            throw HTTP1Error(.limit(.lineBytes), detail: "a folded field of more than \(limits.lineBytes) bytes")
        }
        sawFold = true
        framing.noteMending()
    }

    // MARK: - Limits

    private func fieldLimit(_ limits: HTTP1Limits) -> Int {
        role == .trailers ? limits.trailerFields : limits.headFields
    }

    /// Refuses a complete line that is too long, or one field too many; if it was broken before it
    /// passed it, for that, as if it had come byte by byte.
    private func refuseExcess(_ line: UnsafeRawBufferPointer, limits: HTTP1Limits) throws(HTTP1Error) {
        try checkLine(line, from: 0, isComplete: true, limits: limits)
        let limit = role == .trailers ? HTTP1Error.Limit.trailerFields : .headFields
        throw HTTP1Error(.limit(limit), detail: "more than \(fieldLimit(limits)) fields")
    }

    // MARK: - The line that is not complete yet

    /// Refuses the beginning of a line if no end can make it good.
    ///
    /// `from` is how much of it was checked before. Unless the line is complete, a
    /// CR in last place waits for the byte after it.
    func checkLine(
        _ line: UnsafeRawBufferPointer,
        from checked: Int,
        isComplete: Bool,
        limits: HTTP1Limits
    ) throws(HTTP1Error) {
        if awaitsStartLine, role == .response, checked < 8, !mayBecomeStatusLine(line) {
            throw HTTP1Error(.status, reason: StartLine.complaint(about: line), peer: line)
        }
        let endsInCR = !isComplete && line.last == 0x0D
        let text = UnsafeRawBufferPointer(rebasing: line[..<(line.count - (endsInCR ? 1 : 0))])
        // Of a bare CR and the limit, the one that came first counts.
        if let bare = ByteScanning.firstIndex(of: 0x0D, in: text, from: checked), bare <= limits.lineBytes {
            throw malformed(line, reason: "CR without LF")
        }
        guard text.count <= limits.lineBytes else {
            throw HTTP1Error(.limit(.lineBytes), detail: "a line of more than \(limits.lineBytes) bytes")
        }
    }

    private func mayBecomeStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        if StartLine.mayBeStatusLine(line) { return true }
        return allowsLeadingEmptyLine && line.count == 1 && line[0] == 0x0D
    }

    private func malformed(_ line: UnsafeRawBufferPointer, reason: StaticString) -> HTTP1Error {
        guard awaitsStartLine else { return HTTP1Error(.header, reason: reason, peer: line) }
        return HTTP1Error(role == .response ? .status : .request, reason: reason, peer: line)
    }

    @inline(__always)
    private mutating func countExamined(_ count: Int) {
        #if DEBUG
            examined += count
        #endif
    }
}
