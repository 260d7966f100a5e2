import Foundation

extension HeaderFields {
    init(_ headers: HTTPHeaders) {
        self.init(headers.fields.map { Field(name: $0.name, value: $0.value) })
    }
}

extension RecordedRequest {
    init(_ head: RequestHead, rawHead: Data, connection: Int, index: Int) {
        method = head.method
        target = head.target
        // The decoder accepts any minor version of HTTP/1 and reads it as 1.1.
        let line = rawHead.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        version = line.suffix(8).elementsEqual("HTTP/1.0".utf8) ? "HTTP/1.0" : "HTTP/1.1"
        headers = HeaderFields(head.headers)
        self.rawHead = rawHead
        self.connection = connection
        indexOnConnection = index
    }
}
