/// Writes heads. Every line ends with CR LF, whatever the fields were received with.
///
/// The code that put the parts together has validated them; nothing is checked twice.
package enum HeadWriter {
    /// Appends request line, `Host`, fields, framing, `Connection` and the empty line.
    package static func append(_ head: RequestHead, framing: RequestFraming, to buffer: inout [UInt8]) {
        // Every request comes by here: the closure would copy the head, but not a pointer, and makes room once.
        withUnsafePointer(to: head) { head in
            buffer.append(addingCapacity: bound(of: head.pointee)) { output in
                output.append(utf8: head.pointee.method)
                output.append(0x20)
                if head.pointee.isAbsolute {
                    let place = head.pointee.url.endpoint
                    output.append(utf8: "\(place.scheme.text)://\(place.hostField)")
                }
                head.pointee.url.target.withUnsafeBytes { output.append($0) }
                output.append(head.pointee.version == .http11 ? " HTTP/1.1\r\nHost: " : " HTTP/1.0\r\nHost: ")
                head.pointee.host.withUnsafeBytes { output.append($0) }
                output.append(0x0D)
                output.append(0x0A)
                head.pointee.fields.withBytes { output.append($0) }
                switch framing {
                case .none: break
                case .length(let length):
                    output.append("Content-Length: ")
                    output.append(utf8: String(length))
                    output.append("\r\n")
                case .chunked: output.append("Transfer-Encoding: chunked\r\n")
                }
                if head.pointee.closesConnection { output.append("Connection: close\r\n") }
                output.append(0x0D)
                output.append(0x0A)
            }
        }
    }

    /// Appends a request for a tunnel (RFC 9110 §9.3.6): its target is the place that the tunnel leads to.
    package static func appendConnect(to place: Endpoint, fields: HTTPHeaders, to buffer: inout [UInt8]) {
        buffer += "CONNECT \(place.text) HTTP/1.1\r\nHost: \(place.text)\r\n".utf8
        fields.withBytes { buffer += $0 }
        buffer += "\r\n".utf8
    }

    /// A bound for the bytes of a head, close to what they are.
    private static func bound(of head: RequestHead) -> Int {
        let target = head.url.target.count + (head.isAbsolute ? head.url.endpoint.host.text.utf8.count : 0)
        return head.method.utf8.count + target + head.host.count + head.fields.byteCount + 128
    }

    /// Refuses a head that is too long.
    package static func checkLength(of head: RequestHead, framing: RequestFraming) throws(RequestRejection) {
        guard bound(of: head) > RequestSyntax.maximumHeadLength else { return }
        var bytes: [UInt8] = []
        append(head, framing: framing, to: &bytes)
        if bytes.count > RequestSyntax.maximumHeadLength { throw RequestRejection(.head, rule: .tooLong) }
    }

    /// All fields of a request as HTTP/1.1 sends them, with `Host`, framing and `Connection`.
    package static func fields(of head: RequestHead, framing: RequestFraming) -> HTTPHeaders {
        var bytes: [UInt8] = []
        append(head, framing: framing, to: &bytes)
        bytes.removeLast(2)
        let start = (bytes.firstIndex(of: 0x0A) ?? -1) + 1
        return HTTPHeaders(
            validated: bytes,
            fieldsStart: start,
            count: 1 + head.fields.count + (framing == .none ? 0 : 1) + (head.closesConnection ? 1 : 0)
        )
    }
}

extension OutputSpan<UInt8> {
    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        withUnsafeMutableBufferPointer { buffer, count in
            precondition(bytes.count <= buffer.count - count, "the head is longer than its bound")
            UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                .copyMemory(from: bytes)
            count += bytes.count
        }
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(utf8 text: String) {
        let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { append(UnsafeRawBufferPointer($0)) }
        if isWritten == nil { for byte in text.utf8 { append(byte) } }
    }
}
