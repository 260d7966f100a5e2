import AFWire
import Testing

/// One response on the wire, and what is to become of it.
struct WireRow: Sendable, CustomTestStringConvertible {
    let wire: String
    let expected: Expected

    enum Expected: Sendable, Equatable {
        /// Read to its end; the connection may serve another request.
        case reused(Int, String)
        /// Read to its end; the connection may not.
        case closed(Int, String)
        case refused(HTTP1Error.Kind)
    }

    init(_ wire: String, _ expected: Expected) {
        self.wire = wire
        self.expected = expected
    }

    var testDescription: String { wire.debugDescription }

    /// Checks the row in all four deliveries.
    func check(_ setting: ResponseSetting = ResponseSetting(), sourceLocation: SourceLocation = #_sourceLocation) {
        let outcome = setting.outcome(of: wire, sourceLocation: sourceLocation)
        let actual: Expected? =
            if let error = outcome.error {
                .refused(error)
            } else if let status = outcome.status, outcome.trailers != nil {
                outcome.mayReuse ? .reused(status, outcome.text) : .closed(status, outcome.text)
            } else {
                nil
            }
        #expect(actual == expected, "\(testDescription) gave \(outcome)", sourceLocation: sourceLocation)
    }
}

@Suite struct ResponseDecoderTests {
    @Test func `a response is reported as head, body and end`() {
        let wire = "HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nX-A:  b \r\n\r\nhello"

        let outcome = ResponseSetting().outcome(of: wire)

        #expect(outcome.head?.version == .http11)
        #expect(outcome.head?.reason == "Fine")
        #expect(outcome.head?.headers.fields.map(\.value) == ["5", "b"])
        #expect(outcome.head?.framing == .length(5))
        #expect(outcome.head?.contentLength == 5)
        #expect(outcome.text == "hello")
        #expect(outcome.trailers == [])
        #expect(outcome.mayReuse)
    }

    @Test func `a chunked response ends with its trailers`() {
        let wire = """
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            5;a=b\r\nhello\r\n01\r\n!\r\n0\r\nDigest: x\r\n\r\n
            """

        let outcome = ResponseSetting().outcome(of: wire)

        #expect(outcome.text == "hello!")
        #expect(outcome.trailers == ["Digest: x"])
        #expect(outcome.mayReuse)
    }
}
