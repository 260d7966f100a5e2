import AFBase

/// The first line of a head, or nothing for trailers, which have none.
///
/// Ranges count from the first byte of the head.
package enum StartLine: Sendable {
    case none
    case status(version: HTTPVersion, status: Int, reason: Range<UInt32>)
    case request(version: HTTPVersion, method: Range<UInt32>, target: Range<UInt32>)
}

extension StartLine {
    /// "HTTP/1.", the part of a version that must match byte for byte.
    private static let prefix: StaticString = "HTTP/1."
    private static let prefixCount = 7

    /// Whether what has arrived of a status line can still become one.
    ///
    /// Asked before the line is complete, so that a peer that speaks another
    /// protocol, or HTTP/0.9, is refused at once rather than when time runs out.
    static func mayBeStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        let expected = prefix.utf8Start
        for index in 0..<min(line.count, prefixCount) where line[index] != expected[index] { return false }
        return true
    }

    /// What to say of bytes that can become no status line: those of a TLS record, an
    /// alert as a rule, are the answer of a server that speaks only TLS on this port.
    static func complaint(about line: UnsafeRawBufferPointer) -> StaticString {
        guard let first = line.first, first == 0x15 || first == 0x16, line.count < 2 || line[1] == 3 else {
            return "not an HTTP/1 response"
        }
        return "TLS, not an HTTP/1 response; does the server want https on this port?"
    }

    // MARK: - Status line

    /// Parses `HTTP/1.1 200 OK` (RFC 9112 §4), which stands at `offset` in its head.
    static func parseStatusLine(_ line: UnsafeRawBufferPointer, at offset: Int) throws(HTTP1Error) -> StartLine {
        guard line.count >= 12, mayBeStatusLine(line), line[8] == 0x20, let version = version(digit: line[7]) else {
            throw HTTP1Error(.status, reason: "not an HTTP/1 status line", peer: line)
        }
        guard let status = status(line[9], tens: line[10], ones: line[11]) else {
            throw HTTP1Error(.status, reason: "not a status code from 100 to 999", peer: line)
        }
        // The space after the code is owed even before an empty reason, but many
        // servers leave it out with the reason, and nothing depends on it.
        guard line.count == 12 || line[12] == 0x20 else {
            throw HTTP1Error(.status, reason: "no space after the status code", peer: line)
        }
        let reason = min(13, line.count)..<line.count
        guard isFieldText(line, range: reason) else {
            throw HTTP1Error(.status, reason: "control character in the reason phrase", peer: line)
        }
        return .status(
            version: version,
            status: status,
            reason: range(reason.lowerBound, end: reason.upperBound, from: offset)
        )
    }

    /// Codes from 600 on are in use, and are errors of the server like those of 5xx (RFC 9110 §15).
    private static func status(_ hundreds: UInt8, tens: UInt8, ones: UInt8) -> Int? {
        guard hundreds &- 0x31 < 9, ASCII.isDigit(tens), ASCII.isDigit(ones) else { return nil }
        return Int(hundreds &- 0x30) * 100 + Int(tens &- 0x30) * 10 + Int(ones &- 0x30)
    }

    private static func version(digit: UInt8) -> HTTPVersion? {
        guard ASCII.isDigit(digit) else { return nil }
        return digit == 0x30 ? .http10 : .http11
    }

    private static func isFieldText(_ line: UnsafeRawBufferPointer, range: Range<Int>) -> Bool {
        guard let base = line.baseAddress else { return true }
        return ByteScanning.isFieldText(base + range.lowerBound, count: range.count)
    }

    /// A head is shorter than its ceiling, which leaves 32 bits far behind it.
    private static func range(_ start: Int, end: Int, from offset: Int) -> Range<UInt32> {
        UInt32(offset + start)..<UInt32(offset + end)
    }

    // MARK: - Request line

    /// Parses `GET /path HTTP/1.1` (RFC 9112 §3), which stands at `offset` in its head.
    static func parseRequestLine(_ line: UnsafeRawBufferPointer, at offset: Int) throws(HTTP1Error) -> StartLine {
        guard let first = ByteScanning.firstIndex(of: 0x20, in: line),
            let second = ByteScanning.firstIndex(of: 0x20, in: line, from: first + 1),
            let version = requestVersion(UnsafeRawBufferPointer(rebasing: line[(second + 1)...]))
        else {
            throw HTTP1Error(.request, reason: "not an HTTP/1 request line", peer: line)
        }
        guard ByteScanning.isToken(UnsafeRawBufferPointer(rebasing: line[..<first])) else {
            throw HTTP1Error(.request, reason: "the method is not a token", peer: line)
        }
        guard second > first + 1, line[(first + 1)..<second].allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw HTTP1Error(.request, reason: "the target holds something other than visible ASCII", peer: line)
        }
        return .request(
            version: version,
            method: range(0, end: first, from: offset),
            target: range(first + 1, end: second, from: offset)
        )
    }

    private static func requestVersion(_ bytes: UnsafeRawBufferPointer) -> HTTPVersion? {
        guard bytes.count == 8, mayBeStatusLine(bytes) else { return nil }
        return version(digit: bytes[7])
    }
}
