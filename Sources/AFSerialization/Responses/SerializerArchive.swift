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
