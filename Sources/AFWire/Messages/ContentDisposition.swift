/// The value of `Content-Disposition` (RFC 6266), read as browsers do: many servers write names that are neither tokens
/// nor quoted strings, or leave out the type. What is malformed is skipped up to the next `;`.
package struct ContentDisposition: Sendable, Equatable {
    /// `attachment`, `inline` or another, in lower case, if there is one.
    package let kind: String?
    /// A name that is safe to create in a directory of ours, if one was given; `filename*` goes before `filename`.
    package let fileName: String?

    /// Nil if there is neither a type nor a name in it.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        var scanner = FieldScanner(bytes)
        var (kind, extended, plain): (String?, String?, String?)
        var isFirst = true
        repeat {
            scanner.skipBlanks()
            let name = scanner.loweredToken()
            scanner.skipBlanks()
            if scanner.take(UInt8(ascii: "=")) {
                let value = Self.value(&scanner)
                if name == "filename*" { extended = extended ?? value.flatMap(Self.extendedValue) }
                if name == "filename" { plain = plain ?? value.map(HTTPText.decode) }
            } else if isFirst, scanner.isAtEnd || scanner.next == Self.separator {
                kind = name
            }
            scanner.skip(to: Self.separator)
            isFirst = false
        } while scanner.take(Self.separator)
        self.kind = kind
        fileName = extended.flatMap(FileNameSyntax.sanitized) ?? plain.flatMap(FileNameSyntax.sanitized)
        if kind == nil, fileName == nil { return nil }
    }

    private static let separator = UInt8(ascii: ";")

    /// A quoted string, or everything up to the next `;`. Nil for a quoted string without its end.
    private static func value(_ scanner: inout FieldScanner) -> [UInt8]? {
        scanner.skipBlanks()
        if scanner.next == UInt8(ascii: "\"") { return scanner.quotedString() }
        return Array(ByteScanning.trimmingOWS(scanner.text(before: separator)))
    }

    package init?(_ text: String) {
        guard let parsed = text.withUTF8Bytes({ ContentDisposition($0) }) else { return nil }
        self = parsed
    }

    /// `UTF-8'en'%e2%82%ac` (RFC 8187 §3.2). Only the two charsets the RFCs ever named, in any case; some servers write
    /// the first without its hyphen, as browsers accept.
    static func extendedValue(_ bytes: [UInt8]) -> String? {
        let parts = bytes.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let encoded = Array(parts[2])
        guard let decoded = encoded.withUnsafeBytes({ PercentEncoding.decode($0) }) else { return nil }
        let charset = Array(parts[0])
        return charset.withUnsafeBytes { charset in
            if ByteScanning.equalsIgnoringCase(charset, lowercase: "utf-8")
                || ByteScanning.equalsIgnoringCase(charset, lowercase: "utf8")
            {
                return String(validating: decoded, as: UTF8.self)
            }
            guard ByteScanning.equalsIgnoringCase(charset, lowercase: "iso-8859-1") else { return nil }
            return HTTPText.latin1(decoded)
        }
    }
}
