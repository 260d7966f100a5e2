/// The value of `Content-Disposition` (RFC 6266).
package struct ContentDisposition: Sendable, Equatable {
    /// `attachment`, `inline` or another, in lower case.
    package let kind: String
    /// A name that is safe to create in a directory of ours, if one was given; `filename*` goes before `filename`.
    package let fileName: String?

    package init?(_ bytes: UnsafeRawBufferPointer) {
        var scanner = FieldScanner(bytes)
        scanner.skipBlanks()
        guard let kind = scanner.loweredToken() else { return nil }
        let parameters = scanner.parameters()
        self.kind = kind
        let extended = parameters.first { $0.name == "filename*" }.flatMap { Self.extendedValue($0.value) }
        let plain = parameters.first { $0.name == "filename" }.map { HTTPText.decode($0.value) }
        fileName = extended.flatMap(FileNameSyntax.sanitized) ?? plain.flatMap(FileNameSyntax.sanitized)
    }

    package init?(_ text: String) {
        guard let parsed = text.withUTF8Bytes({ ContentDisposition($0) }) else { return nil }
        self = parsed
    }

    /// `UTF-8'en'%e2%82%ac` (RFC 8187 §3.2). Only the two charsets the RFCs ever named.
    static func extendedValue(_ bytes: [UInt8]) -> String? {
        let parts = bytes.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let encoded = Array(parts[2])
        guard let decoded = encoded.withUnsafeBytes({ PercentEncoding.decode($0) }) else { return nil }
        let charset = Array(parts[0])
        return charset.withUnsafeBytes { charset in
            if ByteScanning.equalsIgnoringCase(charset, "utf-8") { return String(validating: decoded, as: UTF8.self) }
            guard ByteScanning.equalsIgnoringCase(charset, "iso-8859-1") else { return nil }
            return HTTPText.latin1(decoded)
        }
    }
}
