/// The parameters `name=value` of fields such as `Authorization` and `Content-Type`. A value is a token, or quoted with
/// escapes.
///
/// It shares no code with the client's parser, so that a mistake in one does not hide the same mistake in the other.
struct FieldParameters: Sendable {
    private(set) var pairs: [(name: String, value: String)] = []

    /// - Parameter separator: The byte between two parameters.
    init(_ text: some Collection<UInt8>, separator: UInt8) {
        var rest = Array(text)[...]
        while !rest.isEmpty {
            rest = rest.drop { $0 == separator || $0.isBlank }
            let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != separator }
            rest = rest.dropFirst(name.count)
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst().drop(while: \.isBlank)
            let value = Self.takeValue(&rest, separator: separator)
            pairs.append((Self.text(name.trimmed.map(\.asciiLowercased)), Self.text(value)))
        }
    }

    /// The first value of that name, given in lower case.
    subscript(name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }

    private static func takeValue(_ rest: inout ArraySlice<UInt8>, separator: UInt8) -> [UInt8] {
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix { $0 != separator }
            rest = rest.dropFirst(token.count)
            return Array(token.trimmed)
        }
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                value.append(escaped)
            } else {
                value.append(byte)
            }
        }
        return value
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
