import Foundation

/// What goes into a new manager of which the class alone is known, as in a copy.
///
/// The only initializer that every subclass has is `init(coder:)`. It gets a coder with nothing in it, for which the
/// managers here find the seed.
struct ManagerSeed: Sendable {
    private struct Sown: Sendable {
        let coder: ObjectIdentifier
        let seed: ManagerSeed

        init(_ coder: NSCoder, _ seed: ManagerSeed) {
            (self.coder, self.seed) = (ObjectIdentifier(coder), seed)
        }
    }

    @TaskLocal private static var sown: Sown?

    var baseURL: URL?
    var configuration: URLSessionConfiguration?

    /// Nil for a coder of the program's own.
    init?(of coder: NSCoder) {
        guard let sown = Self.sown, sown.coder == ObjectIdentifier(coder) else { return nil }
        self = sown.seed
    }

    init(baseURL: URL? = nil, configuration: URLSessionConfiguration? = nil) {
        self.baseURL = baseURL
        self.configuration = configuration
    }

    func manager<Manager: NSCoding>(of type: Manager.Type) -> Manager {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.finishEncoding()
        let coder = try? NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        // Otherwise Foundation ends the process for the first value that is asked for.
        coder?.decodingFailurePolicy = .setErrorAndReturn
        guard let coder, let manager = Self.$sown.withValue(Sown(coder, self), operation: { type.init(coder: coder) })
        else {
            preconditionFailure("\(type) cannot be copied: its init(coder:) makes nothing of a coder without values")
        }
        return manager
    }
}
