import AFBase

/// Reads structured fields (RFC 9651 §4.2), step by step as its algorithms do. A field that breaks a rule is nil as a
/// whole: the recipient treats it as if it were not there.
///
/// Nothing nests deeper than an item in an inner list, so the input decides about no recursion.
struct StructuredReader {
    private struct Malformed: Error {}

    private var scanner: FieldScanner

    private init(_ bytes: UnsafeRawBufferPointer) {
        scanner = FieldScanner(bytes)
    }

    static func item(_ bytes: UnsafeRawBufferPointer) -> StructuredItem? {
        parsed(bytes) { reader throws(Malformed) in try reader.item() }
    }

    static func list(_ bytes: UnsafeRawBufferPointer) -> [StructuredMember]? {
        parsed(bytes) { reader throws(Malformed) in
            var members: [StructuredMember] = []
            try reader.members { reader throws(Malformed) in members.append(try reader.member()) }
            return members
        }
    }

    static func dictionary(_ bytes: UnsafeRawBufferPointer) -> StructuredDictionary? {
        parsed(bytes) { reader throws(Malformed) in
            var members: StructuredDictionary = [:]
            try reader.members { reader throws(Malformed) in
                let name = try reader.name()
                members[name] =
                    try reader.scanner.take(UInt8(ascii: "="))
                    ? reader.member() : .item(StructuredItem(.boolean(true), parameters: reader.parameters()))
            }
            return members
        }
    }

    private static func parsed<Result>(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (inout StructuredReader) throws(Malformed) -> Result
    ) -> Result? {
        var reader = StructuredReader(bytes)
        reader.skipSpaces()
        guard let result = try? body(&reader) else { return nil }
        reader.skipSpaces()
        return reader.scanner.isAtEnd ? result : nil
    }

    // MARK: - Containers

    /// Between commas. None may stand at the end.
    private mutating func members(
        _ body: (inout StructuredReader) throws(Malformed) -> Void
    ) throws(Malformed) {
        while !scanner.isAtEnd {
            try body(&self)
            scanner.skipBlanks()
            if scanner.isAtEnd { return }
            try expect(UInt8(ascii: ","))
            scanner.skipBlanks()
            if scanner.isAtEnd { throw Malformed() }
        }
    }

    private mutating func member() throws(Malformed) -> StructuredMember {
        guard scanner.take(UInt8(ascii: "(")) else { return .item(try item()) }
        var items: [StructuredItem] = []
        while true {
            skipSpaces()
            if scanner.take(UInt8(ascii: ")")) { return .innerList(items, parameters: try parameters()) }
            items.append(try item())
            guard scanner.next == UInt8(ascii: " ") || scanner.next == UInt8(ascii: ")") else { throw Malformed() }
        }
    }

    private mutating func item() throws(Malformed) -> StructuredItem {
        StructuredItem(try value(), parameters: try parameters())
    }

    private mutating func parameters() throws(Malformed) -> StructuredParameters {
        var parameters: StructuredParameters = [:]
        while scanner.take(UInt8(ascii: ";")) {
            skipSpaces()
            let name = try name()
            parameters[name] = try scanner.take(UInt8(ascii: "=")) ? value() : .boolean(true)
        }
        return parameters
    }

    private mutating func name() throws(Malformed) -> String {
        guard let first = scanner.next, ASCIISet.structuredNameStart.contains(first) else { throw Malformed() }
        return try text(of: .structuredName)
    }

    // MARK: - Values

    private mutating func value() throws(Malformed) -> StructuredValue {
        guard let first = scanner.next else { throw Malformed() }
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: ":"): return .bytes(try bytes())
        case UInt8(ascii: "?"): return .boolean(try boolean())
        case UInt8(ascii: "@"): return .date(try date())
        case UInt8(ascii: "%"): return .displayString(try displayString())
        case _ where ASCIISet.structuredTokenStart.contains(first): return .token(try text(of: .structuredToken))
        default: throw Malformed()
        }
    }

    private mutating func number() throws(Malformed) -> StructuredValue {
        let sign = scanner.take(UInt8(ascii: "-")) ? -1 : 1
        let whole = try digits(atMost: 15)
        guard scanner.take(UInt8(ascii: ".")) else { return .integer(sign * whole.value) }
        guard whole.count <= 12 else { throw Malformed() }
        let fraction = try digits(atMost: 3)
        // One division, which rounds correctly: the nearest number to what is written.
        let thousandths = whole.value * 1000 + fraction.value * [100, 10, 1][fraction.count - 1]
        return .decimal(Double(sign * thousandths) / 1000)
    }

    private mutating func digits(atMost limit: Int) throws(Malformed) -> (value: Int, count: Int) {
        guard let digits = scanner.take(while: .digits), digits.count <= limit,
            let value = ByteScanning.decimal(digits)
        else { throw Malformed() }
        return (Int(value), digits.count)
    }

    private mutating func date() throws(Malformed) -> Int {
        try expect(UInt8(ascii: "@"))
        guard case .integer(let seconds) = try number() else { throw Malformed() }
        return seconds
    }

    private mutating func boolean() throws(Malformed) -> Bool {
        try expect(UInt8(ascii: "?"))
        if scanner.take(UInt8(ascii: "1")) { return true }
        try expect(UInt8(ascii: "0"))
        return false
    }

    /// Stricter than a quoted string of HTTP: only quotation marks and backslashes are escaped.
    private mutating func string() throws(Malformed) -> String {
        try expect(UInt8(ascii: "\""))
        var contents: [UInt8] = []
        while true {
            contents += scanner.text(beforeAny: [UInt8(ascii: "\""), UInt8(ascii: "\\")])
            if scanner.take(UInt8(ascii: "\"")) { break }
            try expect(UInt8(ascii: "\\"))
            let escaped = scanner.take(UInt8(ascii: "\"")) ? UInt8(ascii: "\"") : UInt8(ascii: "\\")
            if escaped == UInt8(ascii: "\\") { try expect(escaped) }
            contents.append(escaped)
        }
        guard contents.allSatisfy(ByteScanning.isPrintable) else { throw Malformed() }
        return String(decoding: contents, as: UTF8.self)
    }

    /// With padding or without, and whatever its unused bits are, as §4.2.7 asks of readers.
    private mutating func bytes() throws(Malformed) -> [UInt8] {
        try expect(UInt8(ascii: ":"))
        var encoded = Array(scanner.text(before: UInt8(ascii: ":")))
        try expect(UInt8(ascii: ":"))
        while encoded.count % 4 != 0 { encoded.append(UInt8(ascii: "=")) }
        guard let decoded = encoded.withUnsafeBytes({ Base64.decode($0, isCanonical: false) }) else {
            throw Malformed()
        }
        return decoded
    }

    private mutating func displayString() throws(Malformed) -> String {
        try expect(UInt8(ascii: "%"))
        try expect(UInt8(ascii: "\""))
        let encoded = scanner.text(before: UInt8(ascii: "\""))
        try expect(UInt8(ascii: "\""))
        guard encoded.allSatisfy(ByteScanning.isPrintable), !Self.hasUpperCaseTriplet(encoded),
            let decoded = PercentEncoding.decode(encoded), let text = String(validating: decoded, as: UTF8.self)
        else { throw Malformed() }
        return text
    }

    private static func hasUpperCaseTriplet(_ encoded: UnsafeRawBufferPointer) -> Bool {
        encoded.indices.contains { index in
            encoded[index] == UInt8(ascii: "%")
                && encoded[index...].dropFirst().prefix(2).contains { (0x41...0x46).contains($0) }
        }
    }

    // MARK: - Small words

    private mutating func text(of allowed: ASCIISet) throws(Malformed) -> String {
        guard let text = scanner.take(while: allowed) else { throw Malformed() }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func expect(_ byte: UInt8) throws(Malformed) {
        guard scanner.take(byte) else { throw Malformed() }
    }

    private mutating func skipSpaces() { while scanner.take(UInt8(ascii: " ")) {} }
}
