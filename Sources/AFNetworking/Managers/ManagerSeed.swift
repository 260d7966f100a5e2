import Foundation

/// What a new manager of any class is made from, as in a copy.
///
/// The only initializer that every subclass has is `init(coder:)`. The seed calls it with an empty coder, by which the
/// managers find the seed.
struct ManagerSeed: Sendable {
    private struct Pending: Sendable {
        let coder: ObjectIdentifier
        let seed: ManagerSeed

        init(_ coder: NSCoder, _ seed: ManagerSeed) {
            (self.coder, self.seed) = (ObjectIdentifier(coder), seed)
        }
    }

    @TaskLocal private static var pending: Pending?

    var baseURL: URL?
    var configuration: URLSessionConfiguration?

    /// Nil for any other coder.
    init?(of coder: NSCoder) {
        guard let pending = Self.pending, pending.coder == ObjectIdentifier(coder) else { return nil }
        self = pending.seed
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
        guard let coder,
            let manager = Self.$pending.withValue(Pending(coder, self), operation: { type.init(coder: coder) })
        else {
            preconditionFailure("\(type) cannot be copied: its init(coder:) makes nothing of a coder without values")
        }
        return manager
    }
}
