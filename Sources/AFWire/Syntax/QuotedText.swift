/// A quoted string (RFC 9110 §5.6.4).
package enum QuotedText {
    /// Appends `bytes` between quotation marks, escaped where they have to be.
    ///
    /// - Returns: False, and nothing is appended, if they hold a control character: it would end the field, or mean
    ///   something else to the server that reads it.
    package static func append(_ bytes: some Collection<UInt8>, to field: inout [UInt8]) -> Bool {
        guard !bytes.contains(where: ByteScanning.isForbiddenControl) else { return false }
        field.append(UInt8(ascii: "\""))
        for byte in bytes {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { field.append(UInt8(ascii: "\\")) }
            field.append(byte)
        }
        field.append(UInt8(ascii: "\""))
        return true
    }
}
