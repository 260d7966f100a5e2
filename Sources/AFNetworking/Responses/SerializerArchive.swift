import Foundation

/// The keys of archived response serializers.
struct SerializerKey: RawRepresentable {
    let rawValue: String

    static let acceptableStatusCodes = SerializerKey(rawValue: "AF.acceptableStatusCodes")
    static let acceptableContentTypes = SerializerKey(rawValue: "AF.acceptableContentTypes")
    static let readingOptions = SerializerKey(rawValue: "AF.readingOptions")
    static let removesKeysWithNullValues = SerializerKey(rawValue: "AF.removesKeysWithNullValues")
    static let format = SerializerKey(rawValue: "AF.format")
    static let readOptions = SerializerKey(rawValue: "AF.readOptions")
    static let responseSerializers = SerializerKey(rawValue: "AF.responseSerializers")
}

// Everything is written as bytes of JSON rather than as objects: Foundation's unarchiver ends the process when it
// comes upon an object of a class it was not told of, and archives come from files that others may have written.
extension NSCoder {
    func writeJSON(_ value: some Encodable, _ key: SerializerKey) {
        // Numbers, strings and bytes, which nothing keeps from being JSON.
        guard allowsKeyedCoding, let data = try? JSONEncoder().encode(value) else { return }
        [UInt8](data).withUnsafeBufferPointer { encodeBytes($0.baseAddress, length: $0.count, forKey: key.rawValue) }
    }

    /// Calls `body` with the value, unless there is none.
    func readJSON<Value: Decodable>(_ type: Value.Type, _ key: SerializerKey, _ body: (Value) throws -> Void) throws {
        guard allowsKeyedCoding, containsValue(forKey: key.rawValue) else { return }
        let data = withDecodedUnsafeBytes(forKey: key.rawValue) { bytes in bytes.map { Data($0) } }
        guard let data else { throw CocoaError(.coderReadCorrupt) }
        try body(JSONDecoder().decode(type, from: data))
    }
}

/// Sets of status codes as they are archived: the first and the last code of each range.
struct ArchivedStatusCodes: Codable {
    let indexes: IndexSet

    init(_ indexes: IndexSet) {
        self.indexes = indexes
    }

    init(from decoder: any Decoder) throws {
        var indexes = IndexSet()
        for ends in try [[Int]](from: decoder) {
            // An index set traps at numbers it has no room for.
            guard ends.count == 2, ends[0] >= 0, ends[0] <= ends[1], ends[1] <= Int(Int32.max) else {
                throw CocoaError(.coderReadCorrupt)
            }
            indexes.insert(integersIn: ends[0]...ends[1])
        }
        self.indexes = indexes
    }

    func encode(to encoder: any Encoder) throws {
        try indexes.rangeView.map { [$0.lowerBound, min($0.upperBound - 1, Int(Int32.max))] }.encode(to: encoder)
    }
}
