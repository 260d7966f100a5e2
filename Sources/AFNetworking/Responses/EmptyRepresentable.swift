/// A type with a value for a response without a body.
///
/// ``DecodingResponseSerializer`` makes that value of an empty body; of other types it makes nothing then. Optionals
/// are such types, and ``EmptyBody``.
public protocol EmptyRepresentable {
    /// The value for a response without a body.
    static var emptyValue: Self { get }
}

extension Optional: EmptyRepresentable {
    /// Nil.
    public static var emptyValue: Wrapped? { nil }
}

/// What a response says that has nothing to say, like one with the status 204.
///
/// Decoded from any body, too.
public struct EmptyBody: Codable, Hashable, Sendable, EmptyRepresentable {
    /// The one value there is.
    public static let emptyValue = EmptyBody()

    /// The one value there is.
    public init() {}

    /// Takes whatever there is.
    public init(from decoder: any Decoder) throws {}

    /// Writes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKeys.self)
    }

    private enum NoKeys: CodingKey {}
}
