import AFBase
import AFWire
import Foundation

extension HTTPURLResponse {
    /// All fields in the order and spelling of the wire, each line its own. Values are read as UTF-8 where they are
    /// that, and as Latin-1 otherwise.
    public var headerFields: [(name: String, value: String)] { headers.fields }

    /// All fields by name, as ``value(forHTTPHeaderField:)`` gives them.
    ///
    /// Names that differ only in case are one. The keys have Foundation's spelling, whatever the server wrote: names
    /// that begin with `x-` as they came, `WWW-Authenticate`, and all others with a capital for the first letter of
    /// each word and no other (`Content-Type`, `Etag`, `Content-Md5`). Use ``value(forHTTPHeaderField:)`` for a field
    /// whose spelling you do not know. The spelling of the wire is in ``headerFields``.
    public var allHeaderFields: [AnyHashable: Any] {
        var fields: [AnyHashable: Any] = [:]
        var seen: Set<String> = []
        for (name, _) in headers.fields where seen.insert(ASCII.lowered(name)).inserted {
            fields[FieldNames.key(name)] = value(forHTTPHeaderField: name)
        }
        return fields
    }

    /// The value of a field. Names are compared without regard to ASCII case.
    ///
    /// Lines of the same name are joined in order by a comma and a space. Two kinds are not, because that would change
    /// their meaning: of a field that may occur only once, the first line counts; `Set-Cookie` lines are joined by line
    /// feeds, which no value can hold. All lines are in ``headerFields``.
    public func value(forHTTPHeaderField field: String) -> String? {
        let values = headers.values(field)
        guard values.count > 1 else { return values.first }
        let name = ASCII.lowered(field)
        if name == "set-cookie" { return values.joined(separator: "\n") }
        return FieldNames.singletons.contains(name) ? values.first : values.joined(separator: ", ")
    }
}

/// The rules about field names.
private enum FieldNames {
    /// Fields whose grammar is one value, not a list (RFC 9110 and RFC 9111).
    static let singletons: Set<String> = [
        "age", "authorization", "content-disposition", "content-length", "content-location", "content-range",
        "content-type", "date", "etag", "expires", "last-modified", "location", "referer", "retry-after", "server",
    ]

    /// The name as a key of `allHeaderFields`.
    static func key(_ name: String) -> String {
        if ASCII.lowered(name).hasPrefix("x-") { return name }
        if HTTPText.isSameName(name, other: "WWW-Authenticate") { return "WWW-Authenticate" }
        var isInWord = false
        let bytes = name.utf8.map { byte in
            let lowered = ASCII.folded(byte)
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowered)
            defer { isInWord = isLetter }
            return isLetter && !isInWord ? lowered - 0x20 : lowered
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
