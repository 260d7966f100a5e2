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

    @Test func `bytes after a response are refused, and so is each call after that`() throws {
        var decoder = ResponseDecoder(method: "GET")
        try feed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", to: &decoder)
        try feed("", to: &decoder)
        try #require(decoder.isFinished)
        try feed("", to: &decoder)

        for _ in 1...2 {
            let error = #expect(throws: HTTP1Error.self) { try feed("x", to: &decoder) }
            #expect(error?.kind == .framing && error?.detail == #"bytes after the message: "x""#)
        }
    }

    @Test func `nothing, at no address, is no part of a response`() throws {
        var decoder = ResponseDecoder(method: "GET")
        for _ in 1...2 {
            let step = try decoder.decode(UnsafeRawBufferPointer(start: nil, count: 0))
            guard case .needMore = step.event, step.consumed == 0 else {
                Issue.record("\(step)")
                return
            }
        }
        try feed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", to: &decoder)
        try feed("", to: &decoder)
        #expect(decoder.framedExactly)
    }

    @Test func `after the end of the connection each call repeats the error`() throws {
        var decoder = ResponseDecoder(method: "GET")
        try feed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", to: &decoder)
        let error = try #require(throws: HTTP1Error.self) { _ = try decoder.inputEnded() }

        #expect(error.kind == .closed(.inBody))
        #expect(throws: error) { try feed("ok", to: &decoder) }
        #expect(throws: error) { _ = try decoder.inputEnded() }
    }

    @Test(arguments: [(101, BodyFraming.untilClose), (204, .none), (200, .length(2))])
    func `101 ends HTTP where a WebSocket was asked for`(status: Int, framing: BodyFraming) throws {
        var decoder = ResponseDecoder(method: .webSocket)
        let wire = Array("HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\n".utf8)

        let step = try wire.withUnsafeBytes { try decoder.decode($0) }

        guard case .head(let head) = step.event else {
            Issue.record("\(step.event)")
            return
        }
        #expect(head.status == status && head.framing == framing)
    }

    @Test func `a budget as large as a head may be leaves the limit of a head`() {
        var setting = ResponseSetting()
        setting.limits.headBytes = 64
        let wire = "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 80))\r\n\r\n"

        for (budget, limit) in [(64, HTTP1Error.Limit.headBytes), (63, .taskHeadBytes)] {
            setting.headBudget = budget
            #expect(setting.outcome(of: wire).error == .limit(limit))
        }
    }

    private func feed(_ text: String, to decoder: inout ResponseDecoder) throws {
        let bytes = Array(text.utf8)
        var offset = 0
        repeat {
            offset += try bytes.withUnsafeBytes {
                try decoder.decode(UnsafeRawBufferPointer(rebasing: $0[offset...])).consumed
            }
        } while offset < bytes.count
        #expect(offset == bytes.count)
    }
}
