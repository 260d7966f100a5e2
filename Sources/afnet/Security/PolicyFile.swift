import AFNetworking
import Foundation

/// A file with the pins of hosts: a `SecurityPolicy` in JSON, as a program decodes it.
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
        guard let object = try? JSONSerialization.jsonObject(with: data) else {
            throw FileProblem(message: "it is not JSON")
        }
        guard var policy = object as? [String: Any] else {
            throw FileProblem(message: "it has to be one object, { … }")
        }
        // Host rules need no pinning mode.
        if policy["SSLPinningMode"] == nil { policy["SSLPinningMode"] = 0 }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom(date)
        do {
            return try decoder.decode(SecurityPolicy.self, from: JSONSerialization.data(withJSONObject: policy))
        } catch let error as DecodingError {
            throw FileProblem(message: text(error))
        } catch {
            throw FileProblem(message: "\(error)")
        }
    }

    /// `2027-06-01T00:00:00Z`, or the day alone.
    @Sendable private static func date(_ decoder: any Decoder) throws -> Date {
        let text = try decoder.singleValueContainer().decode(String.self)
        let full = text.contains("T") ? text : "\(text)T00:00:00Z"
        if let date = try? Date(full, strategy: .iso8601) { return date }
        throw DecodingError.dataCorrupted(
            .init(
                codingPath: decoder.codingPath,
                debugDescription: "\"\(text)\" is no date: write 2027-06-01T00:00:00Z"
            )
        )
    }

    private static func text(_ error: DecodingError) -> String {
        let (context, missing): (DecodingError.Context, String?) =
            switch error {
            case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context):
                (context, nil)
            case .keyNotFound(let key, let context): (context, key.stringValue)
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: "it cannot be read"), nil)
            }
        let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        let prefix = place.isEmpty ? "" : "\(place.joined(separator: ".").replacing(".[", with: "[")): "
        return prefix + (missing.map { "\"\($0)\" is missing" } ?? context.debugDescription)
    }
}
