/// Why a value cannot be written as a structured field (RFC 9651 §4.1): nothing of the field may be sent then.
public struct StructuredFieldError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the value is, and what it must be.
    public let description: String

    init(_ problem: String) {
        description = "A structured field cannot hold \(problem)."
    }
}
