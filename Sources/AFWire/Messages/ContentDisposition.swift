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

/// File names that come from a peer.
package enum FileNameSyntax {
    /// The longest name in bytes. File systems end at 255; this leaves room for a suffix of ours.
    package static let maximumLength = 200

    /// The last path component, with what could do harm replaced or removed; nil when nothing is left.
    ///
    /// Both slashes separate: the name may travel to another system. Controls, NUL, characters that reorder or hide
    /// text, and `:` become `_`. Dots and blanks go from both ends: no hidden files, no `..`, nothing Windows drops.
    package static func sanitized(_ name: String) -> String? {
        let component = name.unicodeScalars.reversed().prefix { $0 != "/" && $0 != "\\" }.reversed()
        var cleaned = String.UnicodeScalarView()
        cleaned.append(contentsOf: component.map { isHarmful($0) ? "_" : $0 })
        let trimmed = trimmedEnds(Array(cleaned))
        var length = 0
        let fitting = trimmed.prefix { scalar in
            length += UTF8.width(scalar)
            return length <= maximumLength
        }
        let result = trimmedEnds(Array(fitting))
        return result.isEmpty ? nil : String(String.UnicodeScalarView(result))
    }

    private static func trimmedEnds(_ scalars: [Unicode.Scalar]) -> ArraySlice<Unicode.Scalar> {
        let isDropped = { (scalar: Unicode.Scalar) in scalar == "." || scalar == " " }
        guard let first = scalars.firstIndex(where: { !isDropped($0) }),
            let last = scalars.lastIndex(where: { !isDropped($0) })
        else { return [] }
        return scalars[first...last]
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x3A: true
        // Directional marks, embeddings, overrides and isolates; line and paragraph separators; zero widths; BOM.
        case 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF: true
        default: false
        }
    }
}
