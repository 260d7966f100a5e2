import AFWire
import Foundation

extension HeaderFields {
    init(_ headers: HTTPHeaders) {
        self.init(headers.fields.map { Field(name: $0.name, value: $0.value) })
    }
}

extension RecordedRequest {
    init(_ received: RequestDecoder.Received, rawHead: Data, connection: Int, index: Int) {
        method = received.request.method
        target = received.request.target
        version = received.version == .http10 ? "HTTP/1.0" : "HTTP/1.1"
        headers = HeaderFields(received.request.headers)
        wantsPersistence = received.persistent
        // RFC 9110 section 10.1.1: a 1.0 client's wish is ignored.
        expectsContinue = received.expectsContinue && received.version != .http10
        self.rawHead = rawHead
        self.connection = connection
        indexOnConnection = index
    }
}
