/// The value of a response without a body, such as one with the status 204.
///
/// It can be decoded from any body too.
public struct EmptyBody: Codable, Hashable, Sendable, EmptyRepresentable {
    /// The one value there is.
    public static let emptyValue = EmptyBody()

    /// The one value there is.
    public init() {}

    /// Accepts any content.
    public init(from decoder: any Decoder) throws {}

    /// Writes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKeys.self)
    }

    private enum NoKeys: CodingKey {}
}
