import AFWire

/// Header fields in the order of the wire, duplicates included. Lookups ignore the case of ASCII letters.
///
/// ```swift
/// let fields: HeaderFields = ["Content-Type": "text/plain", "Set-Cookie": "a=1", "Set-Cookie": "b=2"]
/// #expect(fields["content-type"] == "text/plain")
/// #expect(fields.values(of: "set-cookie") == ["a=1", "b=2"])
/// ```
public struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// One line of a head or of a trailer section.
    public struct Field: Sendable, Hashable {
        /// The name as it was sent.
        public let name: String
        /// The value without surrounding white space.
        public let value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The fields in order.
    public private(set) var fields: [Field]

    /// Makes fields in the order of the literal; names may repeat.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// Makes fields from a sequence of them.
    public init(_ fields: some Sequence<Field>) {
        self.fields = Array(fields)
    }

    /// The first value of that name; setting replaces every field of that name, nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.equalsIgnoringCase(name) }?.value }
        set {
            fields.removeAll { $0.name.equalsIgnoringCase(name) }
            if let newValue { append(name, newValue) }
        }
    }

    /// Every value of that name, in order.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }

    /// Adds a field at the end, also if the name occurs already.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The comma-separated members of all fields of that name, lower-cased, for `Connection` and `Expect`.
    func tokens(of name: String) -> [String] {
        values(of: name)
            .flatMap { Array($0.utf8).split(separator: UInt8(ascii: ",")) }
            .map { String(decoding: $0.trimmed.map(\.asciiLowercased), as: UTF8.self) }
    }

    /// The last chunk of a body with these trailer fields.
    var lastChunk: [UInt8] {
        var bytes = Array("0\r\n".utf8)
        appendLines(to: &bytes)
        return bytes + Array("\r\n".utf8)
    }

    func appendLines(to bytes: inout [UInt8]) {
        for field in fields {
            bytes.append(contentsOf: "\(field.name): \(field.value)\r\n".utf8)
        }
    }

    init(_ headers: HTTPHeaders) {
        self.init(headers.fields.map { Field(name: $0.name, value: $0.value) })
    }
}

extension HeaderFields: CustomStringConvertible {
    /// The fields as on the wire, one per line.
    public var description: String {
        fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }
}
