/// A `Content-Range` in bytes (RFC 9110 §14.4).
package struct ContentRange: Hashable, Sendable {
    /// The first and the last byte, both included; nil in an answer that no byte satisfies.
    package let span: ClosedRange<Int64>?
    /// The length of the whole, if that is known.
    package let total: Int64?

    /// Nil unless `bytes` is a range in bytes that can be true.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 6, bytes[5] == 0x20,
            ByteScanning.equalsIgnoringCase(UnsafeRawBufferPointer(rebasing: bytes[..<5]), lowercase: "bytes")
        else { return nil }
        let value = UnsafeRawBufferPointer(rebasing: bytes[6...])
        guard let slash = ByteScanning.firstIndex(of: UInt8(ascii: "/"), in: value) else { return nil }
        let range = UnsafeRawBufferPointer(rebasing: value[..<slash])
        let length = UnsafeRawBufferPointer(rebasing: value[(slash + 1)...])
        let isUnknown = length.elementsEqual([UInt8(ascii: "*")])
        total = ByteScanning.decimal(length)
        guard total != nil || isUnknown else { return nil }

        if range.elementsEqual([UInt8(ascii: "*")]) {
            guard total != nil else { return nil }
            span = nil
            return
        }
        guard let dash = ByteScanning.firstIndex(of: UInt8(ascii: "-"), in: range),
            let first = ByteScanning.decimal(UnsafeRawBufferPointer(rebasing: range[..<dash])),
            let last = ByteScanning.decimal(UnsafeRawBufferPointer(rebasing: range[(dash + 1)...])),
            first <= last, last < total ?? .max
        else { return nil }
        span = first...last
    }

    package init?(_ text: String) {
        var text = text
        guard let range = text.withUTF8({ ContentRange(UnsafeRawBufferPointer($0)) }) else { return nil }
        self = range
    }
}
