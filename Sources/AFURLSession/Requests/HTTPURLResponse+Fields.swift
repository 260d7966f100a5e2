import AFWire
import Foundation

extension HTTPURLResponse {
    /// All fields in the order and spelling of the wire, each line its own. Values are read as UTF-8 where they are
    /// that, and as Latin-1 otherwise.
    public var headerFields: [(name: String, value: String)] { headers.fields }

    /// All fields by name, as ``value(forHTTPHeaderField:)`` gives them.
    ///
    /// Names that differ only in case are one. The key has the spelling of the wire, except that a name without any
    /// capital gets the usual ones (`content-type` becomes `Content-Type`), as dictionary look-ups expect them.
    public var allHeaderFields: [AnyHashable: Any] {
        var fields: [AnyHashable: Any] = [:]
        var seen: Set<String> = []
        for (name, _) in headers.fields where seen.insert(HTTPText.lowered(name)).inserted {
            fields[FieldNames.capitalized(name)] = value(forHTTPHeaderField: name)
        }
        return fields
    }

    /// The value of a field. Names are compared without regard to ASCII case.
    ///
    /// Lines of the same name are joined in order by a comma and a space. Two kinds are not, because that would change
    /// their meaning: of fields that may stand only once the first counts, and `Set-Cookie` lines are joined by line
    /// feeds, which no value can hold. All lines are in ``headerFields``.
    public func value(forHTTPHeaderField field: String) -> String? {
        let values = headers.values(field)
        guard values.count > 1 else { return values.first }
        let name = HTTPText.lowered(field)
        if name == "set-cookie" { return values.joined(separator: "\n") }
        return FieldNames.singletons.contains(name) ? values.first : values.joined(separator: ", ")
    }
}

/// What is known about field names.
private enum FieldNames {
    /// Fields whose grammar is one value, not a list (RFC 9110 and RFC 9111).
    static let singletons: Set<String> = [
        "age", "authorization", "content-disposition", "content-length", "content-location", "content-range",
        "content-type", "date", "etag", "expires", "last-modified", "location", "referer", "retry-after", "server",
    ]

    /// `content-type` as `Content-Type`; a name with a capital in it as it is.
    static func capitalized(_ name: String) -> String {
        if name.utf8.contains(where: { (0x41...0x5A).contains($0) }) { return name }
        switch name {
        case "etag": return "ETag"
        case "www-authenticate": return "WWW-Authenticate"
        default: break
        }
        var atStart = true
        let bytes = name.utf8.map { byte in
            let isLetter = (0x61...0x7A).contains(byte)
            defer { atStart = byte == UInt8(ascii: "-") }
            return atStart && isLetter ? byte - 0x20 : byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
