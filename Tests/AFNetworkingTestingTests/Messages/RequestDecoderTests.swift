import AFNetworkingTesting
import AFWire
import Testing

/// The server's side, which accepts less, and what our writers make of it.
@Suite struct RequestDecoderTests {
    struct Outcome: Equatable {
        var head: RequestDecoder.Received?
        var body: [UInt8] = []
        var trailers: HTTPHeaders?
        var error: HTTP1Error.Kind?
        var surplus = 0
    }

    private static func outcome(of pieces: [[UInt8]]) -> Outcome {
        var decoder = RequestDecoder()
        var outcome = Outcome()
        for piece in pieces {
            piece.withUnsafeBytes { bytes in
                do throws(HTTP1Error) {
                    var offset = 0
                    while !decoder.isFinished {
                        let step = try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                        offset += step.consumed
                        switch step.event {
                        case .needMore: return
                        case .head(let head): outcome.head = head
                        case .body(let slice): outcome.body += slice
                        case .end(let trailers): outcome.trailers = trailers
                        }
                    }
                    outcome.surplus += bytes.count - offset
                } catch {
                    outcome.error = error.kind
                }
            }
            if outcome.error != nil { break }
        }
        return outcome
    }

    /// The one outcome of all deliveries: whole, byte by byte, and split in two at every offset.
    private static func outcome(of wire: String, sourceLocation: SourceLocation = #_sourceLocation) -> Outcome {
        let bytes = Array(wire.utf8)
        let whole = outcome(of: [bytes])
        let splits = bytes.indices.map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
        for pieces in splits + [bytes.map { [$0] }] where outcome(of: pieces) != whole {
            Issue.record("in \(pieces.map(\.count)) bytes it differs", sourceLocation: sourceLocation)
        }
        return whole
    }

    @Test func `a request is reported as head, body and end`() {
        let wire = "POST /a?b=c HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhelloGET"

        let outcome = Self.outcome(of: wire)

        #expect(outcome.head?.request.method == "POST")
        #expect(outcome.head?.request.target == "/a?b=c")
        #expect(outcome.head?.request.headers.first("host") == "h")
        #expect(outcome.head?.framing == .length(5))
        #expect(outcome.head?.version == .http11)
        #expect(outcome.head?.persistent == true && outcome.head?.expectsContinue == true)
        #expect(outcome.body == Array("hello".utf8))
        #expect(outcome.trailers == HTTPHeaders() && outcome.surplus == 3)
    }

    @Test func `a request without framing fields has no body`() {
        let outcome = Self.outcome(of: "\r\nGET * HTTP/1.1\r\nhost:\r\nConnection: close\r\n\r\nGET")

        #expect(outcome.head?.framing == BodyFraming.none)
        #expect(outcome.head?.persistent == false)
        #expect(outcome.body.isEmpty && outcome.surplus == 3)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a", "GET / HTTP/1.1\r\nA: b", "GET / HTTP/1.0\r\nHost: a\r\nHost: b",
        "GET / HTTP/1.1\nHost: a", "GET / HTTP/1.1\r\nHost: a\nB: c", "GET / HTTP/1.1\r\nHost : a",
        "GET / HTTP/1.1\r\nHost: a\r\n B: c", "GET / HTTP/1.1\r\nHost: a\r\nB : c",
        "GET / HTTP/1.1\r\nHost: a\r\nB\t: c", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n ",
        "GET / HTTP/1.1\r\nHost: a\r\nB: \0", "GET / HTTP/1.1\r\nHost: a\rB: c",
    ])
    func `a request with a doubtful head is refused`(head: String) {
        let isLine = head.hasPrefix("GET / HTTP/1.1\n")
        #expect(Self.outcome(of: head + "\r\n\r\n").error == (isLine ? .request : .header))
    }

    @Test(arguments: [
        "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5, 5", "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: +5", "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked, chunked",
    ])
    func `a request framed in two ways is refused`(fields: String) {
        #expect(Self.outcome(of: "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n0\r\n\r\n").error == .framing)
    }

    @Test(arguments: ["1 \r\na\r\n0\r\n\r\n", "1\r\na\r\n0 \r\n\r\n", "1\t\r\na\r\n0\r\n\r\n"])
    func `blanks behind the size of a request's chunk are refused`(body: String) {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(Self.outcome(of: head + body).error == .chunk)
    }

    @Test func `chunked in an HTTP 1.0 request is refused`() {
        #expect(Self.outcome(of: "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").error == .framing)
    }

    @Test(arguments: [
        "GET /", "GET / HTTP/2.0", "GET / http/1.1", "GET / HTTP/1.1 ", " GET / HTTP/1.1", "GET  / HTTP/1.1",
        "GET /  HTTP/1.1", "GET /a b HTTP/1.1", "G\u{E9}T / HTTP/1.1", "GET /\u{E9} HTTP/1.1", "GET /\t HTTP/1.1",
        "GET /\u{7F} HTTP/1.1", "GET\t/ HTTP/1.1", "G(T / HTTP/1.1", "GET / HTTP/1.10", "GET / HTTP/1.", "/ HTTP/1.1",
        "GET /\0 HTTP/1.1", "GET  HTTP/1.1", "GET \u{1}/ HTTP/1.1", "GET /\u{1F} HTTP/1.1",
        "", "\r\n\r\nGET / HTTP/1.1", "GET / HTTP/1.1\r",
    ])
    func `a malformed request line is refused`(line: String) {
        let wire = line.isEmpty ? "\r\n\r\n" : "\(line)\r\nHost: a\r\n\r\n"
        #expect(Self.outcome(of: wire).error == .request)
    }

    @Test(arguments: ["!", "~", "/", "/!~", "*"])
    func `a target is any visible ASCII`(target: String) {
        #expect(Self.outcome(of: "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n").head?.request.target == target)
    }

    @Test(arguments: [0, 1, 17, 45, 50])
    func `a request cut short says where`(length: Int) throws {
        let wire = Array("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhello".utf8)
        var decoder = RequestDecoder()
        var offset = 0
        while offset < length {
            offset += try wire[..<length].withUnsafeBytes {
                try decoder.decode(UnsafeRawBufferPointer(rebasing: $0[offset...])).consumed
            }
        }

        let error = #expect(throws: HTTP1Error.self) { _ = try decoder.inputEnded() }

        #expect(error?.kind == .closed(length == 0 ? .beforeHead : length < 47 ? .inHead : .inBody))
    }

    @Test(arguments: [
        ("Expect: 100-continue", true), ("expect:\t100-Continue ", true), ("Expect: 100-continued", false),
        ("Expect: 200-ok", false), ("Expecs: 100-continue", false), ("X: y", false),
    ])
    func `a request waits for a 100 if it says so`(field: String, expects: Bool) {
        let outcome = Self.outcome(of: "PUT / HTTP/1.1\r\nHost: h\r\n\(field)\r\n\r\n")

        #expect(outcome.head?.expectsContinue == expects)
    }

    @Test(arguments: ["Hosd: h", "Hos: h", "Hosts: h", "Etag: h"])
    func `a request has a Host field by no other name`(field: String) {
        #expect(Self.outcome(of: "GET / HTTP/1.1\r\n\(field)\r\n\r\n").error == .header)
    }

    // MARK: - Round trips

    @Test func `a written request is read back`() throws {
        let defaults = HeaderDefaults(additionalHeaders: ["Connection": "close"], userAgent: "t/1")
        var head = try RequestHead(
            url: RequestURL("http://a.test/x"),
            method: "PUT",
            traits: MethodTraits("PUT"),
            defaults: defaults
        )
        head.fields.append("X", value: "y")
        var trailers = HTTPHeaders()
        trailers.append("Digest", value: "x")
        var wire: [UInt8] = []

        HeadWriter.append(head, framing: .chunked, to: &wire)
        for size in [1, 15, 16, 255, 256, 4_097] {
            ChunkWriter.appendHeader(for: size, to: &wire)
            wire += [UInt8](repeating: 0x61, count: size)
            wire += ChunkWriter.chunkEnd
        }
        wire += Array("0\r\nDigest: x\r\n\r\n".utf8)
        let outcome = Self.outcome(of: [wire])

        let received = try #require(outcome.head?.request)
        #expect(received.method == "PUT" && received.target == "/x")
        #expect(received.headers == HeadWriter.fields(of: head, framing: .chunked) && received.headers.count == 4)
        #expect(received.headers.fields.map(\.name) == ["Host", "X", "Transfer-Encoding", "Connection"])
        #expect(outcome.body.count == 1 + 15 + 16 + 255 + 256 + 4_097)
        #expect(outcome.trailers == trailers && outcome.surplus == 0 && outcome.error == nil)
    }
}
