import AFNetworkingTesting
import FoundationEssentials

@testable import AFURLSession
@testable import AFURLTypes
@testable import AFWire

extension FuzzTarget {
    /// HTTP as it arrives.
    static let messages = [
        response, connectResponse, statusLine, trailers, request, chunks, multipart, lines, events,
    ]

    /// What a decoder made of an answer.
    private struct Account: Equatable {
        var heads: [ResponseHead] = []
        var body: [UInt8] = []
        var trailers: String?
        var isExact = false
        var error: HTTP1Error.Kind?

        init(_ pieces: [[UInt8]], _ method: ResponseDecoder.Method) {
            var decoder = ResponseDecoder(method: method, allowsLeadingEmptyLine: true)
            do throws(HTTP1Error) {
                for piece in pieces {
                    try piece.span.withUnsafeBytes { bytes throws(HTTP1Error) in
                        var rest = bytes
                        while !decoder.isFinished {
                            let step = try decoder.decode(rest)
                            rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
                            if case .needMore = step.event { break }
                            note(step.event)
                        }
                    }
                }
                if !decoder.isFinished { note(try decoder.inputEnded()) }
                isExact = decoder.framedExactly
            } catch {
                self.error = error.kind
            }
        }

        private mutating func note(_ event: ResponseDecoder.Event) {
            switch event {
            case .needMore: break
            case .interim(let head), .head(let head): heads.append(head)
            case .body(let bytes): body += bytes
            case .end(let trailers): self.trailers = trailers.withBytes { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    private static let response = FuzzTarget(
        "response",
        "\u{0}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "\u{1}\u{26}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "\u{1}HTTP/1.1 204 \r\nServer: x\r\n\r\n",
        "\u{2}\u{3}\u{4}HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n"
            + "3;a=\"b\"\r\nabc\r\n0\r\nX: 1\r\n\r\n",
        "\u{0}HTTP/1.0 404 Not Found\r\nContent-Type: text/html; charset=utf-8\r\nConnection: keep-alive\r\n\r\n<p>",
        "\u{2}\u{8}\u{11}HTTP/1.1 200 OK\r\nX: a \r\n b\r\n\t\r\nContent-Length: 2\r\n\r\nhi",
        "\u{3}\u{9}\u{22}HTTP/1.1 200 OK\r\nX : a\r\nY\t:b\r\n c\r\nContent-Length: 2\r\n \t\r\n\r\nhi",
        "\u{2}\u{5}\u{2}HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n2 \r\nhi\r\n0\t\r\n\r\n",
        "\u{0}HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nKeep-Alive: timeout=5, max=2\r\nConnection: close\r\n\r\n"
    ) { input in
        let (whole, pieces) = input.cutByItself
        let method: ResponseDecoder.Method = whole.count % 7 == 0 ? .head : .other
        let one = Account([whole], method)
        let other = Account(pieces, method)
        try expect(one == other, "cut in \(pieces.count) pieces it is another answer: \(one) and \(other)")
        try expect(one.heads.count { $0.status >= 200 } <= 1, "there are two answers")
    }

    private static let connectResponse = FuzzTarget(
        "connect-response",
        "\u{0}HTTP/1.1 200 Connection established\r\nContent-Length: 4\r\n\r\n",
        "\u{0}HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"a\", nonce=\"b\", qop=\"auth\"\r\n\r\n"
    ) { input in
        let (whole, pieces) = input.cutByItself
        let one = Account([whole], .connect)
        let other = Account(pieces, .connect)
        try expect(one == other, "cut in pieces it is another answer")
        for head in one.heads where head.status < 300 && head.status >= 200 {
            try expect(one.body.isEmpty, "a tunnel has no body")
        }
    }

    private static let statusLine = FuzzTarget(
        "status-line",
        "HTTP/1.1 200 OK",
        "HTTP/1.0 404 ",
        "HTTP/1.1 599",
        "HTTP/1.1 999 Request denied"
    ) { input in
        let account = Account([input + Array("\r\nContent-Length: 0\r\n\r\n".utf8)], .other)
        guard account.error == nil, let head = account.heads.first else { return }
        try expect((100...999).contains(head.status), "the status is \(head.status)")
        // One empty line before it is passed over.
        let line = input.drop { $0 == 0x0D || $0 == 0x0A }
        let digits = line.dropFirst("HTTP/1.1 ".utf8.count).prefix(3)
        try expect(Array(digits).text == String(head.status), "\(Array(digits).text) is read as \(head.status)")
    }

    private static let trailers = FuzzTarget("trailers", "X-Sum: 1\r\nY:\t2\r\n", "A: b\r\n c\r\n") { input in
        let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n".utf8)
        let end = Array("\r\n".utf8)
        let (whole, pieces) = input.cutByItself
        let one = Account([head + whole + end], .other)
        let other = Account([head] + pieces + [end], .other)
        try expect(one == other, "cut in pieces there are other trailers: \(one), and \(other)")
    }

    private static let request = FuzzTarget(
        "request",
        "GET /a?b=c HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"
    ) { input in
        var decoder = RequestDecoder()
        do throws(HTTP1Error) {
            try input.span.withUnsafeBytes { bytes throws(HTTP1Error) in
                var rest = bytes
                while true {
                    let step = try decoder.decode(rest)
                    rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
                    if case .needMore = step.event { break }
                    if rest.isEmpty, step.consumed == 0 { break }
                }
            }
            _ = try decoder.inputEnded()
        } catch {}
    }

    private static let chunks = FuzzTarget(
        "chunks",
        "\u{2}\u{1}\u{1}5\r\nhello\r\n0\r\n\r\n",
        "\u{3}5 \t;a=b\r\nhello\r\n0 ;\r\n\r\n",
        "\u{2}\u{2}\u{1}5 \t\r\nhello\r\n0 \r\n\r\n",
        "\u{0}A;x\r\n0123456789\r\n00\r\nX-Sum: 1\r\nY:\t2\r\n\r\n",
        "\u{0}fFfFfFfFfFfFfFf\r\n"
    ) { input in
        let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        let (whole, pieces) = input.cutByItself
        let one = Account([head + whole], .other)
        let other = Account([head] + pieces, .other)
        try expect(one == other, "cut in pieces it is another body")
        try expect(one.error != nil || one.body.count < whole.count, "the body is longer than what came")
    }

    private static let multipart = FuzzTarget(
        "mixed-replace",
        "\u{1}\u{4}--a\r\nContent-Type: text/plain\r\n\r\none\r\n--a\r\n\r\ntwo\r\n--a--\r\nrest",
        "\u{0}preamble\r\n--a \t\r\nX: 1\r\n\r\n\r\n--a",
        "\u{1}\u{A}--a\r\n\r\none\r\n--a--"
    ) { input in
        let (whole, pieces) = input.cutByItself
        let (one, other) = (Result { try parts(of: [whole]) }, Result { try parts(of: pieces) })
        try expect("\(one)" == "\(other)", "cut in pieces there are other parts: \(one), and \(other)")
    }

    private static func parts(of pieces: [[UInt8]]) throws -> [String] {
        guard var parser = MixedReplaceParser(boundary: Array("a".utf8)) else { return [] }
        var told: [String] = []
        var body: [UInt8] = []
        func end() {
            if !body.isEmpty { told.append("\(body)") }
            body = []
        }
        for piece in pieces {
            for part in try parser.receive(piece) {
                switch part {
                case .body(let data): body += data
                case .head(let fields):
                    end()
                    told.append(fields.withBytes { "head \(Array($0))" })
                }
            }
        }
        body += parser.finish() ?? .init()
        end()
        return told
    }

    private static let events = FuzzTarget(
        "events",
        "\u{2}\u{1}\u{3}\u{FEFF}id: 1\nevent: a\r\ndata: b\rdata\n\n: c\nretry: 10\n\ndata:",
        "\u{0}data\n\nid: \u{0}\n\r\n\r"
    ) { input in
        let (whole, pieces) = input.cutByItself
        let (one, other) = (Stream([whole]), Stream(pieces))
        try expect(one == other, "cut in pieces it is another stream: \(one), and \(other)")
        for event in one.events {
            try expect(!event.name.isEmpty, "an event without a name")
            try expect(
                !event.id.utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D },
                "the identifier breaks the head"
            )
            try expect(event.data.utf8.count <= 3 * 64, "\(event.data.utf8.count) bytes of data")
        }
    }

    /// What a parser made of a stream of events.
    private struct Stream: Equatable {
        var events: [EventStreamParser.Event] = []
        var lastID = ""
        var retry: Int?
        var problem: EventStreamParser.TooLong?

        init(_ pieces: [[UInt8]]) {
            var parser = EventStreamParser(lineLimit: 100, eventLimit: 64)
            do {
                for piece in pieces {
                    try piece.span.withUnsafeBytes { bytes in
                        var rest = bytes
                        while let event = try parser.next(&rest) { events.append(event) }
                    }
                }
            } catch {
                problem = error as? EventStreamParser.TooLong
            }
            (lastID, retry) = (parser.lastID, parser.retry)
        }
    }

    private static let lines = FuzzTarget("lines", "\u{2}\u{1}\u{3}a\r\nb\rc\n\n\u{E9}", "\u{0}\n\r") { input in
        let (whole, pieces) = input.cutByItself
        let (one, other) = (Result { try splitLines([whole]) }, Result { try splitLines(pieces) })
        try expect("\(one)" == "\(other)", "cut in pieces there are other lines: \(one), and \(other)")
    }

    private static func splitLines(_ pieces: [[UInt8]]) throws -> [String] {
        var splitter = LineSplitter(limit: 100)
        let text = { (line: [UInt8]) in String(decoding: line, as: UTF8.self) }
        var lines: [String] = []
        for piece in pieces {
            try piece.span.withUnsafeBytes { bytes in
                var rest = bytes
                while let line = try splitter.next(&rest, form: text) { lines.append(line) }
            }
        }
        return lines + [splitter.finish(text)].compactMap { $0 }
    }
}
