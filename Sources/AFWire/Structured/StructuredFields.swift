// From text to values and back. Reading gives nil for a field that breaks a rule anywhere: it counts as not there
// (RFC 9651 §4.2). Lines of one field are joined by commas before they are read.

extension StructuredItem {
    /// Reads a field that is one item. Nil if it breaks a rule.
    public init?(parsing text: String) {
        guard let item = text.withUTF8Bytes({ StructuredReader.item($0) }) else { return nil }
        self = item
    }

    /// The text for a header field.
    ///
    /// - Throws: For what the type of the value cannot hold.
    public func serialized() throws(StructuredFieldError) -> String {
        var writer = StructuredWriter()
        try writer.append(self)
        return writer.text
    }
}

extension [StructuredMember] {
    /// Reads a field that is a list. Nil if it breaks a rule.
    public init?(parsing text: String) {
        guard let members = text.withUTF8Bytes({ StructuredReader.list($0) }) else { return nil }
        self = members
    }

    /// The text for a header field; nil for an empty list, which is no field.
    ///
    /// - Throws: For what the type of a value cannot hold.
    public func serialized() throws(StructuredFieldError) -> String? {
        var writer = StructuredWriter()
        try writer.append(self)
        return isEmpty ? nil : writer.text
    }
}

extension StructuredDictionary {
    /// Reads a field that is a dictionary. Nil if it breaks a rule.
    public init?(parsing text: String) {
        guard let members = text.withUTF8Bytes({ StructuredReader.dictionary($0) }) else { return nil }
        self = members
    }

    /// The text for a header field; nil for an empty dictionary, which is no field.
    ///
    /// - Throws: For a name that no member can have, and for what the type of a value cannot hold.
    public func serialized() throws(StructuredFieldError) -> String? {
        var writer = StructuredWriter()
        try writer.append(self)
        return names.isEmpty ? nil : writer.text
    }
}
