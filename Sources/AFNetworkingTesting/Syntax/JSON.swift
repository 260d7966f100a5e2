/// A JSON document as text. Members keep their order, so that replies depend on the test only.
struct JSONText: Sendable {
    let text: String

    static let null = JSONText(text: "null")

    static func bool(_ value: Bool) -> JSONText { JSONText(text: value ? "true" : "false") }

    static func number(_ value: Int) -> JSONText { JSONText(text: String(value)) }

    static func string(_ value: String) -> JSONText {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in value.utf8 { append(byte, to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
        return JSONText(text: String(decoding: bytes, as: UTF8.self))
    }

    static func array(_ values: [JSONText]) -> JSONText {
        JSONText(text: "[" + values.map(\.text).joined(separator: ", ") + "]")
    }

    static func object(_ members: [(name: String, value: JSONText)]) -> JSONText {
        JSONText(text: "{" + members.map { "\(string($0.name).text): \($0.value.text)" }.joined(separator: ", ") + "}")
    }

    /// An object of names and values. A name that occurs several times has an array.
    static func grouped(_ pairs: [(name: String, value: String)]) -> JSONText {
        var order: [String] = []
        var values: [String: [String]] = [:]
        for (name, value) in pairs {
            if values[name] == nil { order.append(name) }
            values[name, default: []].append(value)
        }
        return object(
            order.map { name in
                let all = values[name, default: []].map { string($0) }
                return (name, all.count == 1 ? all[0] : array(all))
            }
        )
    }

    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes += [UInt8(ascii: "\\"), byte]
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        default:
            bytes.append(byte)
        }
    }
}

/// Checks whether bytes are one JSON document (RFC 8259). Not recursive, because handlers have a small stack and
/// clients under test may nest to any depth.
struct JSONSyntax {
    private enum Container {
        case object
        case array
    }

    private let bytes: [UInt8]
    private var position = 0
    private var open: [Container] = []

    static func isDocument(_ bytes: some Sequence<UInt8>) -> Bool {
        var syntax = JSONSyntax(bytes: Array(bytes))
        guard String(validating: syntax.bytes, as: UTF8.self) != nil else { return false }
        return syntax.readDocument()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func readDocument() -> Bool {
        repeat {
            guard readValueOrOpen() else { return false }
        } while !open.isEmpty
        skipBlanks()
        return position == bytes.count
    }

    /// Reads a whole value, or the beginning of a container up to its first value; then the ends of containers, up to
    /// the next value.
    private mutating func readValueOrOpen() -> Bool {
        skipBlanks()
        if take("{") {
            skipBlanks()
            guard !take("}") else { return readEnds() }
            open.append(.object)
            return readName()
        }
        if take("[") {
            skipBlanks()
            guard !take("]") else { return readEnds() }
            open.append(.array)
            return true
        }
        return readScalar() && readEnds()
    }

    private mutating func readEnds() -> Bool {
        while let container = open.last {
            skipBlanks()
            if take(",") {
                skipBlanks()
                return container == .array || readName()
            }
            guard take(container == .array ? "]" : "}") else { return false }
            open.removeLast()
        }
        return true
    }

    private mutating func readName() -> Bool {
        guard readString() else { return false }
        skipBlanks()
        return take(":")
    }

    private mutating func readScalar() -> Bool {
        for word in ["true", "false", "null"] where bytes[position...].starts(with: word.utf8) {
            position += word.utf8.count
            return true
        }
        return readString() || readNumber()
    }

    private mutating func readString() -> Bool {
        guard take("\"") else { return false }
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"): guard readEscape() else { return false }
            case 0..<0x20: return false
            default: continue
            }
        }
        return false
    }

    private mutating func readEscape() -> Bool {
        guard position < bytes.count else { return false }
        let byte = bytes[position]
        position += 1
        guard byte == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(byte) }
        let digits = bytes[position...].prefix(4)
        position += digits.count
        return digits.count == 4 && digits.allSatisfy { "0123456789abcdefABCDEF".utf8.contains($0) }
    }

    private mutating func readNumber() -> Bool {
        _ = take("-")
        if !take("0"), !readDigits() { return false }
        if take("."), !readDigits() { return false }
        guard take("e") || take("E") else { return true }
        if !take("+") { _ = take("-") }
        return readDigits()
    }

    private mutating func readDigits() -> Bool {
        let count = bytes[position...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
        position += count
        return count > 0
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }
}
