/// A single value of a structured field (RFC 9651 §3.3).
@nonexhaustive
public enum StructuredValue: Hashable, Sendable {
    /// At most 15 digits.
    case integer(Int)
    /// Up to 12 digits, and three behind the point; what has more of these is rounded when it is written.
    case decimal(Double)
    /// Printable ASCII.
    case string(String)
    /// A word without quotation marks, such as `gzip` or `text/html`. It begins with a letter or `*`.
    case token(String)
    /// Bytes, in Base64 on the wire.
    case bytes([UInt8])
    /// `?1` or `?0`.
    case boolean(Bool)
    /// Seconds since 1970, at most 15 digits.
    case date(Int)
    /// Text in any script.
    case displayString(String)
}

/// A value with its parameters (RFC 9651 §3.3).
public struct StructuredItem: Hashable, Sendable {
    /// The value.
    public var value: StructuredValue
    /// What stands behind it, each after a semicolon.
    public var parameters: StructuredParameters

    /// Makes an item.
    public init(_ value: StructuredValue, parameters: StructuredParameters = [:]) {
        self.value = value
        self.parameters = parameters
    }
}

/// A member of a list or of a dictionary (RFC 9651 §3.1 and §3.2).
public enum StructuredMember: Hashable, Sendable {
    /// A value with its parameters.
    case item(StructuredItem)
    /// Several items in parentheses, with parameters of the whole.
    case innerList([StructuredItem], parameters: StructuredParameters)

    /// An item without parameters.
    public static func value(_ value: StructuredValue) -> StructuredMember { .item(StructuredItem(value)) }

    /// The value of an item; nil for an inner list.
    public var value: StructuredValue? {
        guard case .item(let item) = self else { return nil }
        return item.value
    }

    /// The parameters of the member.
    public var parameters: StructuredParameters {
        switch self {
        case .item(let item): item.parameters
        case .innerList(_, let parameters): parameters
        }
    }
}

/// The parameters of an item or of an inner list, in order. A name without a value has the value true.
public typealias StructuredParameters = StructuredMap<StructuredValue>

/// A structured field that is a dictionary (RFC 9651 §3.2), such as `Priority`. A name without a value has the value
/// true.
public typealias StructuredDictionary = StructuredMap<StructuredMember>
