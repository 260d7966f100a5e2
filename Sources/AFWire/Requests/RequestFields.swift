/// The caller's header fields, in the order they were set, one per name, each in the spelling it was first set in.
///
/// A handful of fields is searched faster in an array than hashed, and the order on the wire is the caller's.
package struct RequestFields: Sendable, Equatable {
    package struct Field: Sendable, Equatable {
        package let name: String
        package fileprivate(set) var value: String

        /// Byte for byte: strings are equal also where Unicode takes different characters for the same.
        package static func == (one: Field, other: Field) -> Bool {
            one.name.hasSameBytes(as: other.name) && one.value.hasSameBytes(as: other.value)
        }
    }

    private var fields: [Field] = []

    package init() {}

    /// Sorted by name, so that the same dictionary always gives the same bytes.
    package init(_ dictionary: [String: String]) {
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { add(value, to: name) }
    }

    package var dictionary: [String: String]? {
        if fields.isEmpty { return nil }
        return Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    package subscript(name: String) -> String? {
        get { index(of: name).map { fields[$0].value } }
        set {
            let index = index(of: name)
            switch (index, newValue) {
            case (let index?, let value?): fields[index].value = value
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): append(name, value: value)
            case (nil, nil): break
            }
        }
    }

    package mutating func add(_ value: String, to name: String) {
        guard let index = index(of: name) else {
            return append(name, value: value)
        }
        fields[index].value += ",\(value)"
    }

    private mutating func append(_ name: String, value: String) {
        // Few requests have more.
        if fields.isEmpty { fields.reserveCapacity(4) }
        fields.append(Field(name: name, value: value))
    }

    func contains(_ name: [UInt8]) -> Bool {
        name.withUnsafeBytes { wanted in
            fields.contains { field in field.name.withUTF8Bytes { ByteScanning.equalsIgnoringCase($0, other: wanted) } }
        }
    }

    /// What the fields take in a head, four bytes of punctuation each.
    var byteCount: Int {
        fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }

    private func index(of name: String) -> Int? {
        if fields.isEmpty { return nil }
        return name.withUTF8Bytes { wanted in
            fields.firstIndex { field in field.name.withUTF8Bytes { ByteScanning.equalsIgnoringCase($0, other: wanted) }
            }
        }
    }
}

extension RequestFields: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { fields.count }
    package subscript(position: Int) -> Field { fields[position] }
}
