/// How parameters become a query.
public enum HTTPRequestQueryStringSerializationStyle: UInt, Sendable {
    /// As ``queryString(from:)`` does it.
    case defaultStyle = 0
}
