import AFBase
package import AFWire

/// A field of the request that the response depends on, and its value.
package struct VaryField: Sendable, Hashable {
    /// In lower case.
    package let name: String
    /// The digest of the value; nil if the request had none. The value itself may be a secret.
    package let value: ShortDigest?

    init(name: String, value: ShortDigest?) {
        self.name = name
        self.value = value
    }

    package init(_ name: String, of headers: HTTPHeaders) {
        self.name = name
        value = VaryField.normalized(name, of: headers).map { ShortDigest(of: $0) }
    }

    /// All lines as one list, without blanks around its commas (RFC 9111 §4.1).
    static func normalized(_ name: String, of headers: HTTPHeaders) -> [UInt8]? {
        var list: [UInt8]?
        headers.forEach { candidate, value in
            let isWanted = name.withUTF8Bytes { ByteScanning.equalsIgnoringCase(candidate, other: $0) }
            guard isWanted else { return }
            list = (list.map { $0 + [UInt8(ascii: ",")] } ?? []) + withoutBlanks(value)
        }
        return list
    }

    /// Inside quotes every byte counts.
    private static func withoutBlanks(_ value: UnsafeRawBufferPointer) -> [UInt8] {
        var kept: [UInt8] = []
        var blanks: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in value {
            if !isQuoted, ByteScanning.isOWS(byte) {
                blanks.append(byte)
                continue
            }
            let isComma = byte == UInt8(ascii: ",") && !isQuoted
            // A comma in quotes is followed at least by the closing quote, so this one separates.
            if !isComma, kept.last != UInt8(ascii: ",") { kept += blanks }
            blanks = []
            kept.append(byte)
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
        }
        return kept
    }

    /// The names in `Vary`, in order and each once. Nil if they cannot be read, or if the response depends on more than
    /// the fields (`*`).
    package static func names(in headers: HTTPHeaders) -> [String]? {
        var names: Set<String> = []
        var isReadable = true
        headers.forEach { name, value in
            guard ByteScanning.equalsIgnoringCase(name, lowercase: "vary") else { return }
            ByteScanning.forEachListElement(of: value) { element in
                guard !element.isEmpty else { return }
                guard ByteScanning.isToken(element), !element.elementsEqual("*".utf8) else {
                    isReadable = false
                    return
                }
                names.insert(String(decoding: element.map(ASCII.folded), as: UTF8.self))
            }
        }
        return isReadable ? names.sorted() : nil
    }
}
