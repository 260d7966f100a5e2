import AFBase

/// Walks once through the bytes of a field value, taking the pieces all structured fields are made of.
///
/// Every method either moves forward or leaves the position alone, so a parser built on it is linear as long as it
/// does not go back further than one token.
struct FieldScanner {
    let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    @inline(__always)
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func rewind(to earlier: Int) { position = min(earlier, position) }

    mutating func skipBlanks() {
        while let byte = next, ByteScanning.isOWS(byte) { position += 1 }
    }

    /// Blanks and commas, of which RFC 9110 §5.6.1 tells recipients to accept more than needed.
    mutating func skipListSeparators() {
        while let byte = next, ByteScanning.isOWS(byte) || byte == UInt8(ascii: ",") { position += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// One or more members of a set.
    mutating func take(while allowed: ASCIISet) -> UnsafeRawBufferPointer? {
        let start = position
        while let byte = next, allowed.contains(byte) { position += 1 }
        return start == position ? nil : UnsafeRawBufferPointer(rebasing: bytes[start..<position])
    }

    mutating func token() -> UnsafeRawBufferPointer? { take(while: .token) }

    /// A token in lower case.
    mutating func loweredToken() -> String? { token().map { String(decoding: $0.map(ASCII.folded), as: UTF8.self) } }

    /// The contents of a quoted string (RFC 9110 §5.6.4) with its escapes resolved; nil if none begins here or its
    /// end is missing.
    mutating func quotedString() -> [UInt8]? {
        guard next == UInt8(ascii: "\"") else { return nil }
        let start = position
        var contents: [UInt8] = []
        position += 1
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                return contents
            case UInt8(ascii: "\\"):
                guard let escaped = next else { break }
                contents.append(escaped)
                position += 1
            default:
                contents.append(byte)
            }
        }
        // Without its end it is not skipped again: the caller gives up on the field.
        position = start
        return nil
    }

    /// Everything up to a byte, or to the end.
    mutating func text(before end: UInt8) -> UnsafeRawBufferPointer {
        let start = position
        while let byte = next, byte != end { position += 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
    }

    /// Everything up to one of some bytes, or to the end.
    mutating func text(beforeAny ends: [UInt8]) -> UnsafeRawBufferPointer {
        let start = position
        while let byte = next, !ends.contains(byte) { position += 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
    }

    /// Leaves out everything up to a byte that is in no quoted string, or to the end: there, too, ends one without an end.
    mutating func skip(to end: UInt8) {
        while let byte = next, byte != end {
            if byte != UInt8(ascii: "\"") {
                position += 1
            } else if quotedString() == nil {
                position = bytes.count
            }
        }
    }

    /// A token or a quoted string.
    mutating func word() -> [UInt8]? { next == UInt8(ascii: "\"") ? quotedString() : token().map { Array($0) } }

    /// `name = word`, blanks allowed around the sign; nil and unmoved if that is not here.
    mutating func parameter() -> (name: String, value: [UInt8])? {
        let start = position
        guard let name = loweredToken() else { return nil }
        skipBlanks()
        if take(UInt8(ascii: "=")) {
            skipBlanks()
            if let value = word() { return (name, value) }
        }
        position = start
        return nil
    }

    /// `; name = word` again and again. What is none is passed over: it does not take those behind it along.
    mutating func parameters() -> [(name: String, value: [UInt8])] {
        var parameters: [(name: String, value: [UInt8])] = []
        while skipPastSemicolon() {
            if let parameter = parameter() { parameters.append(parameter) }
        }
        return parameters
    }

    /// Moves behind the next semicolon that is in no quoted string, and the blanks behind it. False if there is none,
    /// or a quoted string before it has no end.
    private mutating func skipPastSemicolon() -> Bool {
        while let byte = next {
            if byte == UInt8(ascii: "\"") {
                guard quotedString() != nil else { return false }
                continue
            }
            position += 1
            if byte == UInt8(ascii: ";") {
                skipBlanks()
                return true
            }
        }
        return false
    }
}
