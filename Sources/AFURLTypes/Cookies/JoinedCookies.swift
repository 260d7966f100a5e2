import AFWire

/// Several `Set-Cookie` lines that another loader has joined by commas. RFC 9110 §5.3 forbids it, because a comma may stand
/// in a line: what follows one tells whether a line ends there.
enum JoinedCookies {
    /// Cuts the text where a comma is followed by a name and `=`, which nothing in a date is. Commas between quotation
    /// marks do not count, nor do those behind one that is never closed.
    static func lines(of joined: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = 0
        var isQuoted = false
        for (index, byte) in joined.enumerated() {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard byte == UInt8(ascii: ","), !isQuoted, beginsPair(joined[(index + 1)...]) else { continue }
            lines.append(Array(joined[start..<index]))
            start = index + 1
        }
        return lines + [Array(joined[start...])]
    }

    /// White space, a token, white space and `=`. Looks no further than to the first byte that is none of it, so the
    /// whole text is looked at twice at most.
    private static func beginsPair(_ text: ArraySlice<UInt8>) -> Bool {
        let name = text.drop(while: ByteScanning.isOWS)
        let rest = name.drop(while: ByteScanning.isToken)
        return rest.startIndex > name.startIndex && rest.drop(while: ByteScanning.isOWS).first == UInt8(ascii: "=")
    }
}
