import AFNetworking
import Foundation

/// A file with the pins of hosts: a `SecurityPolicy` in JSON, read as a program reads it.
struct PolicyFile {
    private static let sizeLimit = 16 << 20

    let path: String
    let policy: SecurityPolicy

    init(path: String) throws(FileProblem) {
        self.path = path
        do {
            policy = try Self.read(Descriptor.input(path, limit: Self.sizeLimit))
        } catch {
            throw FileProblem(error, in: path)
        }
    }

    private static func read(_ data: Data) throws(FileProblem) -> SecurityPolicy {
        do {
            return try SecurityPolicy(json: data)
        } catch let error as DecodingError {
            let isJSON = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
            throw FileProblem(message: isJSON ? text(error) : "it is not JSON")
        } catch {
            throw FileProblem(message: "\(error)")
        }
    }

    private static func text(_ error: DecodingError) -> String {
        let (context, text): (DecodingError.Context, String) =
            switch error {
            case .typeMismatch(_, let context) where context.codingPath.isEmpty:
                (context, "it has to be one object, { … }")
            case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context):
                (context, context.debugDescription)
            case .keyNotFound(let key, let context):
                (context, "\"\(key.stringValue)\" is missing: afnet help policy has the format")
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "it cannot be read")
            }
        let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        let prefix = place.isEmpty ? "" : "\(place.joined(separator: ".").replacing(".[", with: "[")): "
        return prefix + text
    }
}
