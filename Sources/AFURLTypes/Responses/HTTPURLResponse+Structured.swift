public import AFWire

extension HTTPURLResponse {
    /// A structured field that is one item (RFC 9651). Nil if it is missing or breaks a rule: then it does not count.
    public func structuredItem(forHTTPHeaderField field: String) -> StructuredItem? {
        headers.joined(field).flatMap(StructuredItem.init(parsing:))
    }

    /// A structured field that is a list, such as `Cache-Status`. Nil if it is missing or breaks a rule: then it does not
    /// count.
    public func structuredList(forHTTPHeaderField field: String) -> [StructuredMember]? {
        headers.joined(field).flatMap([StructuredMember].init(parsing:))
    }

    /// A structured field that is a dictionary, such as `Priority`. Nil if it is missing or breaks a rule: then it does
    /// not count.
    public func structuredDictionary(forHTTPHeaderField field: String) -> StructuredDictionary? {
        headers.joined(field).flatMap(StructuredDictionary.init(parsing:))
    }
}
