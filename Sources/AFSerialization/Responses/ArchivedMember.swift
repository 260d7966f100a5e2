import Foundation

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
