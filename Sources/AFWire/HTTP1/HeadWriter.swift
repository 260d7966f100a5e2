/// Writes heads. Every line ends with CR LF, whatever the fields were received with.
///
/// The code that put the parts together has validated them; nothing is checked twice.
package enum HeadWriter {
    /// Appends request line, fields and empty line.
    package static func append(_ head: RequestHead, to buffer: inout [UInt8]) {
        let fieldBytes = head.headers.withBytes { $0.count }
        buffer.reserveCapacity(buffer.count + head.method.utf8.count + head.target.utf8.count + fieldBytes + 14)
        buffer.append(contentsOf: head.method.utf8)
        buffer.append(0x20)
        buffer.append(contentsOf: head.target.utf8)
        append(" HTTP/1.1\r\n", to: &buffer)
        append(head.headers, to: &buffer)
    }

    /// Appends status line, fields and empty line.
    package static func append(
        status: Int,
        reason: String,
        headers: HTTPHeaders,
        version: HTTPVersion = .http11,
        to buffer: inout [UInt8]
    ) {
        append(version == .http11 ? "HTTP/1.1 " : "HTTP/1.0 ", to: &buffer)
        buffer.append(contentsOf: String(status).utf8)
        buffer.append(0x20)
        buffer.append(contentsOf: reason.utf8)
        append("\r\n", to: &buffer)
        append(headers, to: &buffer)
    }

    private static func append(_ headers: HTTPHeaders, to buffer: inout [UInt8]) {
        headers.withBytes { buffer.append(contentsOf: $0) }
        append("\r\n", to: &buffer)
    }

    private static func append(_ text: StaticString, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
