import AFWire
import Testing

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
