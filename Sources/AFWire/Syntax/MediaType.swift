import AFBase

/// The value of `Content-Type` (RFC 9110 §8.3.1).
package struct MediaType: Sendable, Equatable {
    /// `type/subtype` in lower case, without parameters.
    package let essence: String
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
        guard let essence = Self.essence(&scanner) else { return nil }
        self.essence = essence
        parameters = scanner.parameters().map { Parameter(name: $0.name, value: $0.value) }
    }

    /// Nil for all but one type, which is given in lower case: of others nothing is read after the name.
    package init?(_ bytes: UnsafeRawBufferPointer, of essence: StaticString) {
        guard bytes.count >= essence.utf8CodeUnitCount else { return nil }
        var scanner = FieldScanner(bytes)
        guard let name = Self.name(&scanner), ByteScanning.equalsIgnoringCase(name, lowercase: essence) else {
            return nil
        }
        self.init(bytes)
    }

    package init?(_ text: String) {
        guard let parsed = text.withUTF8Bytes({ MediaType($0) }) else { return nil }
        self = parsed
    }

    /// The ``essence`` of a value, whose parameters are not read; nil for a value that is no media type.
    package static func essence(of bytes: UnsafeRawBufferPointer) -> String? {
        var scanner = FieldScanner(bytes)
        return essence(&scanner)
    }

    private static func essence(_ scanner: inout FieldScanner) -> String? {
        guard let name = name(&scanner) else { return nil }
        return String(unsafeUninitializedCapacity: name.count) { room in
            for index in 0..<name.count { room[index] = ASCII.folded(name[index]) }
            return name.count
        }
    }

    /// `type/subtype` as it was sent.
    private static func name(_ scanner: inout FieldScanner) -> UnsafeRawBufferPointer? {
        scanner.skipBlanks()
        let start = scanner.position
        guard scanner.token() != nil, scanner.take(UInt8(ascii: "/")), scanner.token() != nil else { return nil }
        let name = UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.position])
        scanner.skipBlanks()
        return scanner.isAtEnd || scanner.next == UInt8(ascii: ";") ? name : nil
    }

    /// The first `charset`, in lower case; nil if there is none or it cannot be the name of one (RFC 2978 §2.3).
    package var charset: String? {
        guard let value = parameters.first(where: { $0.name == "charset" })?.value,
            (1...40).contains(value.count), value.allSatisfy({ ByteScanning.isToken($0) })
        else { return nil }
        return String(decoding: value.map(ASCII.folded), as: UTF8.self)
    }
}
