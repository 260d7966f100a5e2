import Glibc

/// Bytes from a peer as text.
package enum HTTPText {
    /// UTF-8 if the bytes are that, Latin-1 otherwise: no byte is lost and none can crash a reader.
    package static func decode(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { HTTPHeaders.text($0) } }

    /// Whether two names are one: ASCII letters are compared without regard to case.
    package static func isSameName(_ one: String, other: String) -> Bool {
        one.withUTF8Bytes { one in other.withUTF8Bytes { ByteScanning.equalsIgnoringCase(one, other: $0) } }
    }

    static func latin1(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

extension String {
    /// Whether the UTF-8 of both is the same. `==` also takes characters for the same that Unicode holds for equivalent.
    package func hasSameBytes(as other: String) -> Bool {
        withUTF8Bytes { one in
            other.withUTF8Bytes { other in
                guard one.count == other.count, let left = one.baseAddress, let right = other.baseAddress else {
                    return one.isEmpty && other.isEmpty
                }
                return memcmp(left, right, one.count) == 0
            }
        }
    }

    /// The UTF-8 bytes as one buffer, with typed errors passed through.
    @inline(__always)
    package func withUTF8Bytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try utf8Span.span.withUnsafeBytes(body)
    }
}
