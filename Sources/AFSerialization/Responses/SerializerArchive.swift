package import Foundation

/// The keys of archived response serializers.
package struct SerializerKey {
    let rawValue: String

    static let acceptableStatusCodes = SerializerKey(rawValue: "AF.acceptableStatusCodes")
    static let acceptableContentTypes = SerializerKey(rawValue: "AF.acceptableContentTypes")
    static let readingOptions = SerializerKey(rawValue: "AF.readingOptions")
    static let removesKeysWithNullValues = SerializerKey(rawValue: "AF.removesKeysWithNullValues")
    static let format = SerializerKey(rawValue: "AF.format")
    static let readOptions = SerializerKey(rawValue: "AF.readOptions")
    package static let image = SerializerKey(rawValue: "AF.image")
    static let responseSerializers = SerializerKey(rawValue: "AF.responseSerializers")
}

// Everything is written as bytes of JSON rather than as objects: Foundation's unarchiver ends the process at an object
// of an unexpected class, and archives come from files that others may have written.
extension NSCoder {
    package func writeJSON(_ value: some Encodable, key: SerializerKey) {
        // Numbers, strings and bytes can always be JSON.
        guard allowsKeyedCoding, let data = try? JSONEncoder().encode(value) else { return }
        [UInt8](data).withUnsafeBufferPointer { encodeBytes($0.baseAddress, length: $0.count, forKey: key.rawValue) }
    }

    /// Calls `body` with the value, unless there is none.
    package func readJSON<Value: Decodable>(
        _ type: Value.Type,
        key: SerializerKey,
        body: (Value) throws -> Void
    ) throws {
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

/// A serializer within the archive of another object: the name of its class, and an archive of its own.
struct ArchivedMember: Codable {
    private let className: String
    private let archive: Data

    /// How deep members may hold members.
    private static let deepestLevel = 8
    /// How deep the member that is being read is.
    @TaskLocal private static var level = 0

    init(_ serializer: any URLResponseSerialization) {
        className = Self.name(of: type(of: serializer))
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        serializer.encode(with: archiver)
        archiver.finishEncoding()
        archive = archiver.encodedData
    }

    /// The serializer.
    ///
    /// - Throws: If the class is not there, is no response serializer, or reads nothing from the archive.
    func serializer() throws -> any URLResponseSerialization {
        guard Self.level < Self.deepestLevel, let type = Self.serializerClass(className), type.supportsSecureCoding
        else { throw CocoaError(.coderReadCorrupt) }
        return try Self.$level.withValue(Self.level + 1) { try read(type) }
    }

    private func read(_ type: any URLResponseSerialization.Type) throws -> any URLResponseSerialization {
        try PropertyListGuard.check(archive)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive)
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        defer { unarchiver.finishDecoding() }
        guard let serializer = type.init(coder: unarchiver), unarchiver.error == nil else {
            throw CocoaError(.coderReadCorrupt)
        }
        return serializer
    }

    /// Empty for classes that cannot be found by a name: nested, private and generic ones.
    private static func name(of type: any URLResponseSerialization.Type) -> String {
        let name = String(reflecting: type)
        return serializerClass(name) == type ? name : ""
    }

    private static func serializerClass(_ name: String) -> (any URLResponseSerialization.Type)? {
        // Foundation prints a warning about names it cannot look up.
        guard name.filter({ $0 == "." }).count == 1 else { return nil }
        return NSClassFromString(name) as? any URLResponseSerialization.Type
    }
}
