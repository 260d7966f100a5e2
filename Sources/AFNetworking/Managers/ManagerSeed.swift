import Foundation

/// What a new manager of any class is made from, as in a copy.
///
/// The only initializer that every subclass has is `init(coder:)`. The seed calls it with a coder without values, by
/// which the managers find the seed.
struct ManagerSeed {
    var baseURL: URL?
    var configuration: URLSessionConfiguration?

    /// Nil for the coder of an archive.
    init?(of coder: NSCoder) {
        guard let coder = coder as? SeedCoder else { return nil }
        self = coder.seed
    }

    init(baseURL: URL? = nil, configuration: URLSessionConfiguration? = nil) {
        self.baseURL = baseURL
        self.configuration = configuration
    }

    func manager<Manager: NSCoding>(of type: Manager.Type) -> Manager {
        guard let manager = type.init(coder: SeedCoder(self)) else {
            preconditionFailure("\(type) cannot be copied: its init(coder:) makes nothing of a coder without values")
        }
        return manager
    }
}

/// A coder without values.
///
/// An empty archive has none either, but its unarchiver writes to standard error for each value that is asked for.
private final class SeedCoder: NSCoder {
    let seed: ManagerSeed

    init(_ seed: ManagerSeed) {
        self.seed = seed
    }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { true }
    override var allowedClasses: [AnyClass]? { nil }
    override var error: (any Error)? { nil }

    override func containsValue(forKey key: String) -> Bool { false }

    // MARK: - Objects

    override func decodeObject() -> Any? { nil }
    override func decodeObject(forKey key: String) -> Any? { nil }
    override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? { nil }
    override func decodeObject<Object: NSObject & NSCoding>(of cls: Object.Type, forKey key: String) -> Object? { nil }
    override func decodePropertyList() -> Any? { nil }
    override func decodePropertyList(forKey key: String) -> Any? { nil }

    // MARK: - Numbers and bytes

    override func decodeBool(forKey key: String) -> Bool { false }
    override func decodeCInt(forKey key: String) -> Int32 { 0 }
    override func decodeInt32(forKey key: String) -> Int32 { 0 }
    override func decodeInt64(forKey key: String) -> Int64 { 0 }
    override func decodeInteger(forKey key: String) -> Int { 0 }
    override func decodeFloat(forKey key: String) -> Float { 0 }
    override func decodeDouble(forKey key: String) -> Double { 0 }
    override func decodeData() -> Data? { nil }
    override func withDecodedUnsafeBufferPointer<Value>(
        forKey key: String,
        body: (UnsafeBufferPointer<UInt8>?) throws -> Value
    ) rethrows -> Value { try body(nil) }
}
