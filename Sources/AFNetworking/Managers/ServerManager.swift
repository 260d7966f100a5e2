import Foundation

/// A manager for one server: what those of all versions archive and copy.
protocol ServerManager: AnyObject {
    var baseURL: URL? { get }
    var requestSerializer: HTTPRequestSerializer { get set }
    var responseSerializer: HTTPResponseSerializer { get set }
    var securityPolicy: SecurityPolicy { get set }
}

private enum Key {
    static let baseURL = "baseURL"
    static let requestSerializer = "requestSerializer"
    static let responseSerializer = "responseSerializer"
    static let securityPolicy = "securityPolicy"
}

extension NSCoder {
    /// The base URL of an archived manager, or of one that is copied.
    var managerBase: BaseURL? {
        (ManagerSeed(of: self)?.baseURL ?? decodeObject(of: NSURL.self, forKey: Key.baseURL) as URL?).map(BaseURL.init)
    }

    /// Leaves out one that wraps a serializer of the program's: no archive with it could be read.
    func writeSerializer(_ serializer: HTTPResponseSerializer, forKey key: String) {
        if !(serializer is AdaptedResponseSerializer) { encode(serializer, forKey: key) }
    }
}

extension ServerManager {
    /// Takes serializers and policy from an archive. Throws if the policy cannot be read.
    func readSettings(from coder: NSCoder) throws {
        if let serializer = coder.decodeObject(of: HTTPRequestSerializer.self, forKey: Key.requestSerializer) {
            requestSerializer = serializer
        }
        if coder.containsValue(forKey: Key.responseSerializer),
            let serializer = coder.decodeObject(of: HTTPResponseSerializer.self, forKey: Key.responseSerializer)
        {
            responseSerializer = serializer
        }
        if let policy = try coder.readPolicy(forKey: Key.securityPolicy) { securityPolicy = policy }
    }

    func writeSettings(to coder: NSCoder) {
        coder.encode(baseURL as NSURL?, forKey: Key.baseURL)
        coder.encode(requestSerializer, forKey: Key.requestSerializer)
        coder.writeSerializer(responseSerializer, forKey: Key.responseSerializer)
        coder.writePolicy(securityPolicy, forKey: Key.securityPolicy)
    }

    /// Takes copies of the serializers of another manager.
    func copySerializers(of other: some ServerManager) {
        if let serializer = other.requestSerializer.copy() as? HTTPRequestSerializer { requestSerializer = serializer }
        if let serializer = other.responseSerializer.copy() as? HTTPResponseSerializer {
            responseSerializer = serializer
        }
    }
}
