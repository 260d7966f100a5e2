import AFBase

/// The value of `Content-Type` (RFC 9110 §8.3.1).
package struct MediaType: Sendable, Equatable {
    /// In lower case.
    package let type: String
    /// In lower case.
    package let subtype: String
    /// Names in lower case, values with quotes and escapes resolved. A parameter that is malformed is left out; it
    /// invalidates neither the type nor those behind it.
    package let parameters: [Parameter]

    package struct Parameter: Sendable, Equatable {
        package let name: String
        package let value: [UInt8]
    }

    /// Nil unless both type and subtype are there.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        var scanner = FieldScanner(bytes)
        scanner.skipBlanks()
        guard let type = scanner.loweredToken(), scanner.take(UInt8(ascii: "/")), let subtype = scanner.loweredToken()
        else { return nil }
        scanner.skipBlanks()
        guard scanner.isAtEnd || scanner.next == UInt8(ascii: ";") else { return nil }
        self.type = type
        self.subtype = subtype
        parameters = scanner.parameters().map { Parameter(name: $0.name, value: $0.value) }
    }

    package init?(_ text: String) {
        guard let parsed = text.withUTF8Bytes({ MediaType($0) }) else { return nil }
        self = parsed
    }

    /// `type/subtype` in lower case, without parameters.
    package var essence: String { "\(type)/\(subtype)" }

    /// The first `charset`, in lower case; nil if there is none or it cannot be the name of one (RFC 2978 §2.3).
    package var charset: String? {
        guard let value = parameters.first(where: { $0.name == "charset" })?.value,
            (1...40).contains(value.count), value.allSatisfy({ ByteScanning.isToken($0) })
        else { return nil }
        return String(decoding: value.map(ASCII.folded), as: UTF8.self)
    }
}
