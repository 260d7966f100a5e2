extension String {
    /// The UTF-8 bytes as one buffer, with typed errors passed through.
    @inline(__always)
    package func withUTF8Bytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try utf8Span.span.withUnsafeBytes(body)
    }
}
