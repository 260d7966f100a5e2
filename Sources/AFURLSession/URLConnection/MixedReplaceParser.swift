import AFTransport
import AFWire
import Foundation

/// Splits a `multipart/x-mixed-replace` body into its parts (RFC 2046 §5.1.1).
///
/// ```
/// preamble ──delimiter──▶ head ──empty line──▶ body ──delimiter──▶ head …
///                                                └────last delimiter──▶ epilogue
/// ```
///
/// A delimiter is a line of two hyphens, the boundary and white space; the line break before it belongs to it. The
/// parser keeps back only what may still become part of one: at most ``longestDelimiter`` bytes, and a head up to
/// ``longestHead``.
struct MixedReplaceParser: Sendable {
    enum Piece: Equatable, Sendable {
        /// A part begins.
        case head(HTTPHeaders)
        case body(Data)
    }

    enum Failure: Error, Equatable {
        case headTooLong
        case malformedHead
    }

    /// RFC 2046 allows 70 bytes.
    static let longestBoundary = 70
    static let longestHead = 16 << 10
    /// Two hyphens before and two behind, a line break on either side, and white space.
    static let longestDelimiter = longestBoundary + 8 + longestPadding
    private static let longestPadding = 64

    private enum Stage {
        case preamble, head, body, epilogue
    }

    private let mark: [UInt8]
    private var stage = Stage.preamble
    /// The received bytes that cannot be delivered yet.
    private var kept: [UInt8] = []
    /// Where the rest of them begins. It moves on within ``receive(_:)``, so that the parser does not move all bytes
    /// behind a small part for each such part.
    private var start = 0
    /// Whether the kept bytes begin where a line begins.
    private var isAtLineStart = true

    /// Nil if the boundary is not allowed.
    init?(boundary: [UInt8]) {
        guard (1...MixedReplaceParser.longestBoundary).contains(boundary.count),
            !boundary.contains(where: { $0 < 0x20 || $0 > 0x7E })
        else { return nil }
        mark = [UInt8(ascii: "-"), UInt8(ascii: "-")] + boundary
    }

    /// Takes bytes, however the network cuts them.
    mutating func receive(_ bytes: some Sequence<UInt8>) throws(Failure) -> [Piece] {
        kept += bytes
        var pieces: [Piece] = []
        while try advance(&pieces) {}
        kept.removeFirst(start)
        start = 0
        return pieces
    }

    /// The body has ended. Returns the bytes it has kept back: they are content.
    mutating func finish() -> Data? {
        defer { kept = [] }
        return stage == .body && !kept.isEmpty ? Data(kept) : nil
    }

    /// True if it may find more in the kept bytes.
    private mutating func advance(_ pieces: inout [Piece]) throws(Failure) -> Bool {
        switch stage {
        case .preamble: return skipPreamble()
        case .head: return try readHead(&pieces)
        case .body: return readBody(&pieces)
        case .epilogue:
            start = kept.count
            return false
        }
    }

    // MARK: - Heads

    private mutating func readHead(_ pieces: inout [Piece]) throws(Failure) -> Bool {
        guard let end = endOfHead else {
            guard kept.count - start <= MixedReplaceParser.longestHead else { throw .headTooLong }
            return false
        }
        guard end.next - start <= MixedReplaceParser.longestHead else { throw .headTooLong }
        guard let headers = HTTPHeaders(checkingBlock: MixedReplaceParser.withFullBreaks(kept[start..<end.start]))
        else {
            throw .malformedHead
        }
        pieces.append(.head(headers))
        start = end.next
        stage = .body
        isAtLineStart = true
        return true
    }

    /// The range of the empty line.
    private var endOfHead: (start: Int, next: Int)? {
        var line = start
        while let feed = kept[line...].prefix(MixedReplaceParser.longestHead + 1).firstIndex(of: 0x0A) {
            if feed == line || (feed == line + 1 && kept[line] == 0x0D) { return (line, feed + 1) }
            line = feed + 1
        }
        return nil
    }

    /// Turns LF into CR LF: many senders end lines with LF alone.
    private static func withFullBreaks(_ lines: ArraySlice<UInt8>) -> [UInt8] {
        var block: [UInt8] = []
        for byte in lines {
            if byte == 0x0A, block.last != 0x0D { block.append(0x0D) }
            block.append(byte)
        }
        return block
    }

    // MARK: - Bodies

    private mutating func skipPreamble() -> Bool {
        let find = findDelimiter()
        start += find.content
        return pass(find)
    }

    private mutating func readBody(_ pieces: inout [Piece]) -> Bool {
        let find = findDelimiter()
        if find.content > 0 {
            pieces.append(.body(Data(kept[start..<start + find.content])))
            start += find.content
        }
        return pass(find)
    }

    private mutating func pass(_ find: Find) -> Bool {
        if find.content > 0 { isAtLineStart = false }
        guard let delimiter = find.delimiter else { return false }
        start += delimiter.count
        stage = delimiter.isLast ? .epilogue : .head
        return true
    }

    private struct Find {
        /// How many bytes are no part of a delimiter.
        var content: Int
        /// The delimiter that follows them.
        var delimiter: (count: Int, isLast: Bool)?
    }

    private enum Match {
        case none
        /// The bytes may become a delimiter.
        case open
        case delimiter(end: Int, isLast: Bool)
    }

    private func findDelimiter() -> Find {
        if isAtLineStart {
            switch match(at: start) {
            case .none: break
            case .open: return Find(content: 0)
            case .delimiter(let end, let isLast): return Find(content: 0, delimiter: (end - start, isLast))
            }
        }
        var from = start
        while let feed = kept[from...].firstIndex(of: 0x0A) {
            let line = feed > start && kept[feed - 1] == 0x0D ? feed - 1 : feed
            switch match(at: feed + 1) {
            case .none: from = feed + 1
            case .open: return Find(content: line - start)
            case .delimiter(let end, let isLast):
                return Find(content: line - start, delimiter: (end - line, isLast))
            }
        }
        let rest = kept[start...]
        return Find(content: rest.last == 0x0D ? rest.count - 1 : rest.count)
    }

    /// Whether a line that begins here is a delimiter.
    private func match(at start: Int) -> Match {
        let line = kept[start...]
        guard line.count >= mark.count else { return mark.starts(with: line) ? .open : .none }
        guard line.starts(with: mark) else { return .none }
        var at = start + mark.count
        var isLast = false
        if at < kept.count, kept[at] == UInt8(ascii: "-") {
            guard at + 1 < kept.count else { return .open }
            guard kept[at + 1] == UInt8(ascii: "-") else { return .none }
            // The parser ignores all that follows, even the line break.
            isLast = true
            at += 2
            return .delimiter(end: at, isLast: isLast)
        }
        let limit = at + MixedReplaceParser.longestPadding
        while at < kept.count, kept[at] == 0x20 || kept[at] == 0x09 {
            at += 1
            guard at <= limit else { return .none }
        }
        guard at < kept.count else { return .open }
        if kept[at] == 0x0A { return .delimiter(end: at + 1, isLast: false) }
        guard kept[at] == 0x0D else { return .none }
        guard at + 1 < kept.count else { return .open }
        return kept[at + 1] == 0x0A ? .delimiter(end: at + 2, isLast: false) : .none
    }
}

/// Turns one response with a `multipart/x-mixed-replace` body into a response for each part.
final class MixedReplaceReader {
    private let response: HTTPURLResponse
    private let url: URL
    private var parser: MixedReplaceParser

    /// Nil for responses of other types, and for those without a boundary.
    init?(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse,
            let type = response.headers.contentType(of: "multipart/x-mixed-replace"), let url = response.url,
            let boundary = type.parameters.first(where: { $0.name == "boundary" })?.value,
            let parser = MixedReplaceParser(boundary: boundary)
        else { return nil }
        self.response = response
        self.url = url
        self.parser = parser
    }

    /// The delegate's events for bytes of the body. A failure comes last.
    func receive(_ data: Data) -> [ConnectionEvent] {
        do throws(MixedReplaceParser.Failure) {
            return try parser.receive(data).map(event)
        } catch {
            switch error {
            case .headTooLong:
                return fail("the head of a part is longer than \(MixedReplaceParser.longestHead) bytes")
            case .malformedHead: return fail("the head of a part is malformed")
            }
        }
    }

    func finish() -> Data? { parser.finish() }

    private func event(_ piece: MixedReplaceParser.Piece) -> ConnectionEvent {
        switch piece {
        case .head(let headers): .response(part(headers))
        case .body(let data): .data(data)
        }
    }

    private func fail(_ explanation: String) -> [ConnectionEvent] {
        [.failed(ClientFailure.badPart(explanation).urlError(for: url))]
    }

    /// The response of a part: with the fields of the part, and the status and version of the whole.
    private func part(_ headers: HTTPHeaders) -> HTTPURLResponse {
        HTTPURLResponse(
            url: url,
            status: response.statusCode,
            version: response.version,
            headers: headers,
            decodes: false
        )
    }
}
