import AFWire
import Testing

/// Status line and fields, T-MSG-21 to 28.
@Suite struct HeadTests {
    private static let fields = "Content-Length: 2\r\n\r\nok"

    @Test(arguments: [
        "<html>hello", "hello", "ICY 200 OK\r\n", "RTSP/1.0 200 OK\r\n", "http/1.1 200 OK\r\n", "Http/1.1 200 OK\r\n",
        "HTTP/1.10 200 OK\r\n", "HTTP/2.0 200 OK\r\n", "HTTP/2 200\r\n", "HTTP/3 200\r\n", "HTTP/0.9 200 OK\r\n",
        "HTTP/01.1 200 OK\r\n", "HTTP/1 200 OK\r\n", "HTTP/1. 200 OK\r\n", "HTTP/1.x 200 OK\r\n", "HTTP/11 200 OK\r\n",
        "HTTP/1,1 200 OK\r\n", "HTTP 1.1 200 OK\r\n", "HTTP\\1.1 200 OK\r\n", " HTTP/1.1 200 OK\r\n",
        "\tHTTP/1.1 200 OK\r\n", "XHTTP/1.1 200 OK\r\n", "HTTP/-1.1 200 OK\r\n", "HTTP/1.\u{FF11} 200 OK\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n", "220 mail.test ESMTP\r\n", "\u{16}\u{3}\u{1}", "\0", "H\0", "HTTP/1.-1 200 OK\r\n",
        "PRI * HTTP/2.0\r\n", "GET / HTTP/1.1\r\n",
    ])
    func `T-MSG-21 what is not HTTP 1 is refused at once`(start: String) {
        WireRow(start, .refused(.status)).check()
    }

    @Test func `T-MSG-21 the error names a server that speaks TLS`() {
        let records: [[UInt8]] = [[0x15], [0x16], [0x15, 3], [0x16, 3, 1], [0x15, 3, 3, 0, 2, 0x0A]]
        let others: [[UInt8]] = [
            [0x14, 3, 3], [0x17, 3, 3], [0x15, 2], [0x16, 4, 3], [0x16, 0x16], [0x68, 0x69, 0x0A],
        ]

        for bytes in records { #expect(detail(of: bytes).hasPrefix("TLS, not an HTTP/1 response"), "\(bytes)") }
        for bytes in others { #expect(detail(of: bytes).hasPrefix("not an HTTP/1 response"), "\(bytes)") }
    }

    private func detail(of bytes: [UInt8]) -> String {
        var decoder = ResponseDecoder(method: "GET")
        do throws(HTTP1Error) {
            _ = try bytes.withUnsafeBufferPointer { (bytes) throws(HTTP1Error) in
                try decoder.decode(UnsafeRawBufferPointer(bytes))
            }
            return ""
        } catch {
            return error.detail
        }
    }

    @Test(
        arguments: zip(
            ["HTTP/1.0", "HTTP/1.1", "HTTP/1.2", "HTTP/1.9"],
            [HTTPVersion.http10, .http11, .http11, .http11]
        )
    )
    func `T-MSG-21 any minor version but 0 is read as 1.1`(text: String, version: HTTPVersion) {
        let outcome = ResponseSetting().outcome(of: "\(text) 200 OK\r\n" + Self.fields)

        #expect(outcome.head?.version == version)
        #expect(outcome.text == "ok")
    }

    @Test(arguments: [
        "HTTP/1.1 99 X", "HTTP/1.1 000 X", "HTTP/1.1 099 X", "HTTP/1.1 001 X", "HTTP/1.1 :00 X", "HTTP/1.1 1000 X",
        "HTTP/1.1 2x0 X", "HTTP/1.1 x00 X", "HTTP/1.1 20x X", "HTTP/1.1 20 X", "HTTP/1.1 2 X", "HTTP/1.1 20",
        "HTTP/1.1 ", "HTTP/1.1", "HTTP/1.1200 OK", "HTTP/1.1 200OK", "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK",
        "HTTP/1.1 200\tOK", "HTTP/1.1 \t200 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 -20 OK", "HTTP/1.1 2 0 OK",
        "HTTP/1.1 200 O\rK", "HTTP/1.1 200 OK\r", "HTTP/1.1 200 \0", "HTTP/1.1 200 O\u{1B}[1mK", "HTTP/1.1 200 \u{7F}",
        "HTTP/1.1 200 a\u{8}b", "HTTP/1.1 2\u{FF10}0", "HTTP/1.1 200\u{A0}OK", "HTTP/1.1 0x1 OK",
    ])
    func `T-MSG-22 a malformed status line is refused`(line: String) {
        WireRow("\(line)\r\n" + Self.fields, .refused(.status)).check()
    }

    @Test(
        arguments: zip(
            ["", " ", " OK", " Not  So\tBad ", " \u{E9}", "  two"],
            ["", "", "OK", "Not  So\tBad ", "\u{E9}", " two"]
        )
    )
    func `T-MSG-22 the reason is optional text`(written: String, reason: String) {
        let outcome = ResponseSetting().outcome(of: "HTTP/1.1 200\(written)\r\n" + Self.fields)

        #expect(outcome.head?.reason == reason)
        #expect(outcome.mayReuse)
    }

    @Test func `T-MSG-22 a reason in Latin-1 is text too`() {
        let wire = Array("HTTP/1.1 200 D".utf8) + [0xE9] + Array("j\u{E0}\r\n".unicodeScalars.map { UInt8($0.value) })
        let outcome = ResponseSetting().outcome(of: wire + Array(Self.fields.utf8))

        #expect(outcome.head?.reason == "D\u{E9}j\u{E0}")
    }

    @Test(arguments: [100, 101, 199, 200, 299, 418, 500, 599, 600, 777, 999])
    func `T-MSG-22 status codes from 100 to 999 are known by their number`(status: Int) {
        let outcome = ResponseSetting().outcome(of: "HTTP/1.1 \(status) X\r\n" + Self.fields)

        switch status {
        case 101: #expect(outcome.error == .status)
        case ..<200: #expect(outcome.interim.map(\.status) == [status])
        default: #expect(outcome.status == status)
        }
    }

    @Test func `T-MSG-23 one empty line may come first, on a fresh connection only`() {
        let response = "HTTP/1.1 200 OK\r\n" + Self.fields
        var fresh = ResponseSetting()
        fresh.isFresh = true

        WireRow(response, .reused(200, "ok")).check(fresh)
        WireRow("\r\n" + response, .closed(200, "ok")).check(fresh)
        WireRow("\r\n\r\n" + response, .refused(.status)).check(fresh)
        WireRow("\n" + response, .refused(.status)).check(fresh)
        WireRow("\r" + response, .refused(.status)).check(fresh)
        WireRow("\r\n\n" + response, .refused(.status)).check(fresh)
        WireRow(String(repeating: "\r\n", count: 100), .refused(.status)).check(fresh)
        WireRow("\r\n" + response, .refused(.status)).check()
        WireRow("HTTP/1.1 100 Continue\r\n\r\n\r\n" + response, .refused(.status)).check(fresh)
        // At once: nothing that may follow makes it good.
        WireRow("\r", .refused(.status)).check()
        WireRow("X", .refused(.status)).check(fresh)
    }

    private static let lines = ["HTTP/1.1 200 OK", "A: b", "Content-Length: 2", ""]

    private static func wire(line: Int, endedBy end: String) -> String {
        lines.enumerated().map { $1 + ($0 == line ? end : "\r\n") }.joined() + "ok"
    }

    @Test(arguments: lines.indices)
    func `T-MSG-24 a bare LF ends a line of a head and forbids reuse`(line: Int) {
        WireRow(Self.wire(line: line, endedBy: "\n"), .closed(200, "ok")).check()
    }

    @Test func `T-MSG-24 a head of bare LFs is read the same, and stored with CR LF`() {
        let wire = "HTTP/1.1 200 OK\nA:b\nContent-Length:  2 \n\nok"

        let outcome = ResponseSetting().outcome(of: wire)

        #expect(outcome.text == "ok" && !outcome.mayReuse)
        #expect(outcome.head?.headers.withBytes { Array($0) } == Array("A:b\r\nContent-Length:  2 \r\n".utf8))
        #expect(outcome.head?.headers.first("content-length") == "2")
    }

    @Test(arguments: lines.indices, ["\r", "\rX", "\r\r\n", "\n\r"])
    func `T-MSG-24 a CR without LF is refused`(line: Int, end: String) {
        // After the empty line there is no head any more: LF CR there is an end and a body.
        guard line < 3 || end != "\n\r" else { return }
        let kind: HTTP1Error.Kind = line == 0 && end != "\n\r" ? .status : .header

        WireRow(Self.wire(line: line, endedBy: end), .refused(kind)).check()
    }

    @Test(arguments: 0..<6)
    func `T-MSG-25 only the right bytes may stand in each place of a field`(place: Int) {
        for byte in UInt8.min...UInt8.max where byte != 0x0A {
            var field = Array("NAM: val".utf8)
            field[[0, 1, 2, 5, 6, 7][place]] = byte
            let wire = Array("HTTP/1.1 204 X\r\n".utf8) + field + Array("\r\n\r\n".utf8)
            let isColonInName = byte == 0x3A && (1...2).contains(place)
            let isBlankBehindName = place == 2 && ByteScanning.isOWS(byte)
            let isGood = place < 3 ? Self.isToken(byte) || isColonInName || isBlankBehindName : Self.isText(byte)

            let outcome = ResponseSetting().outcome(of: wire)

            #expect(outcome.error == (isGood ? nil : .header), "byte \(byte)")
            #expect(outcome.mayReuse == (isGood && !isBlankBehindName))
        }
    }

    @Test(arguments: 0..<3)
    func `T-MSG-25 only text may stand in each place of a reason`(place: Int) {
        for byte in UInt8.min...UInt8.max where byte != 0x0A {
            var line = Array("HTTP/1.1 200 abc".utf8)
            line[13 + place] = byte
            let outcome = ResponseSetting().outcome(of: line + Array("\r\n\r\n".utf8))

            #expect(outcome.error == (Self.isText(byte) ? nil : .status), "byte \(byte)")
        }
    }

    @Test func `T-MSG-25 a control character is found wherever it stands in a long value`() {
        for length in 1...40 {
            for place in 0..<length {
                var value = [UInt8](repeating: 0x61, count: length)
                value[place] = place.isMultiple(of: 2) ? 0 : 0x7F
                let wire = Array("HTTP/1.1 200 OK\r\nX:".utf8) + value + Array("\r\n\r\n".utf8)
                let whole = Delivery(description: "whole", cuts: [])

                #expect(ResponseSetting().outcome(of: wire, whole).error == .header)
            }
        }
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        let others = "!#$%&'*+-.^_`|~"
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        return (others + letters).utf8.contains(byte)
    }

    private static func isText(_ byte: UInt8) -> Bool {
        byte == 9 || (byte >= 32 && byte != 127)
    }

    @Test(arguments: [
        "Content-Length : 2", "Content-Length\t: 2", "content-length : 2", "Transfer-Encoding : chunked",
        "TRANSFER-ENCODING\t: identity", "Connection : close", "connection : keep-alive", "Keep-Alive : timeout=9",
        "Upgrade : websocket", "Trailer : X", "TE : trailers", "Proxy-Connection : close",
        "X y : z", "X : y z\u{1}", "X\u{B}: y", "X \u{B}: y", "X\u{A0}: y", " : y", "\t: y", "X ", "X \t", "X y",
    ])
    func `T-MSG-26 white space before the colon of a framing field, or in a name, is refused`(field: String) {
        WireRow("HTTP/1.1 200 OK\r\n\(field)\r\n" + Self.fields, .refused(.header)).check()
        WireRow("HTTP/1.1 103 Early\r\n\(field)\r\n\r\nHTTP/1.1 200 OK\r\n" + Self.fields, .refused(.header)).check()
        let isFold = field.first == " " || field.first == "\t"
        if !isFold { WireRow("HTTP/1.1 200 OK\r\nA: b\r\n\(field)\r\n\r\nok", .refused(.header)).check() }
    }

    @Test(
        arguments: [
            "X : y", "X\t: y", "X \t :y", "X  : \t y \t", "X\t:\ty", "X : y\r\n ",
        ],
        ["", "A: b\r\n", "A:b\r\n C\r\n", "A : b\r\n"]
    )
    func `T-MSG-26 a field is read without the white space before its colon, and the connection ends`(
        field: String,
        before: String
    ) {
        for after in ["", "Content-Type:text/plain\r\n"] {
            let wire = "HTTP/1.1 200 OK\r\n\(before)\(field)\r\n\(after)" + Self.fields
            let outcome = ResponseSetting().outcome(of: wire)

            #expect(outcome.head?.headers.first("x") == "y" && outcome.head?.headers.values("X") == ["y"])
            #expect(outcome.head?.headers.contains("A") == !before.isEmpty)
            #expect(outcome.head?.headers.first("content-type") == (after.isEmpty ? nil : "text/plain"))
            let names = outcome.head?.headers.fields.map(\.name) ?? []
            #expect(!names.isEmpty && names.allSatisfy { !$0.contains { $0 == " " || $0 == "\t" } })
            let lines = outcome.head?.headers.withBytes { String(decoding: $0, as: UTF8.self) } ?? ""
            #expect(lines.hasPrefix("\(before.prefix(1))\(before.isEmpty ? "X" : ""):") && lines.hasSuffix("\r\n"))
            #expect(outcome.text == "ok" && outcome.error == nil && outcome.trailers == [])
            #expect(!outcome.framedExactly && outcome.head?.persistent == false)
        }
    }

    @Test func `T-MSG-26 what is noted of fields is noted of those with white space before the colon`() {
        let fields = "Set-Cookie : a=1\r\nContent-Encoding\t: gzip\r\n"
        let head = ResponseSetting().outcome(of: "HTTP/1.1 200 OK\r\n\(fields)" + Self.fields).head

        #expect(head?.setsCookies == true && head?.hasContentCoding == true)
        #expect(head?.headers.values("Set-Cookie") == ["a=1"])
    }

    @Test func `T-MSG-26 white space before a colon of an interim response ends the connection`() {
        let interim = "HTTP/1.1 103 Early\r\nLink : x\r\n\r\n"
        let outcome = ResponseSetting().outcome(of: "\(interim)HTTP/1.1 200 OK\r\n" + Self.fields)

        #expect(outcome.interim.first?.headers.first("Link") == "x")
        #expect(outcome.text == "ok" && !outcome.framedExactly)
    }

    @Test func `T-MSG-26 a connection that goes on as something else has no white space before a colon`() {
        let tunnel = ResponseSetting(method: "CONNECT")
        WireRow("HTTP/1.1 200 OK\r\nX : y\r\n\r\n", .refused(.header)).check(tunnel)
        WireRow("HTTP/1.1 407 No\r\nX : y\r\n" + Self.fields, .refused(.header)).check(tunnel)

        var decoder = ResponseDecoder(method: .webSocket)
        let wire = Array("HTTP/1.1 101 Switching\r\nSec-WebSocket-Accept : x\r\n\r\n".utf8)
        let error = #expect(throws: HTTP1Error.self) {
            _ = try wire.withUnsafeBytes { try decoder.decode($0).consumed }
        }
        #expect(error?.kind == .header)
    }

    @Test func `T-MSG-26 a line is no longer for white space before its colon`() {
        var setting = ResponseSetting()
        setting.limits.lineBytes = 40
        let wire = { "HTTP/1.1 200 OK\r\nX\(String(repeating: " ", count: $0)): y\r\n" + Self.fields }

        #expect(setting.outcome(of: wire(36)).text == "ok")
        #expect(setting.outcome(of: wire(37)).error == .limit(.lineBytes))
    }

    @Test(arguments: [" Content-Length: 2", "\tX: y", " ", "\t\r\nX: y", " folded", " \r\n b"])
    func `T-MSG-27 white space before the first field is refused`(field: String) {
        WireRow("HTTP/1.1 200 OK\r\n\(field)\r\n" + Self.fields, .refused(.header)).check()
    }

    @Test(
        arguments: zip(
            [
                "X: a\r\n b", "X: a\r\n\tb", "X: a\n b", "X: a \t\r\n \t b \t", "X:\r\n a", "X: a\r\n ", "X:\r\n ",
                "X: a\r\n b\r\n c", "X: a\r\n \r\n b", "X: a\r\n Content-Length: 9",
                "X: a\r\n Transfer-Encoding: chunked",
                "X: a\r\n :", "X: a\r\n HTTP/1.1 200 OK",
            ],
            [
                "a b", "a b", "a b", "a b", "a", "a", "",
                "a b c", "a  b", "a Content-Length: 9", "a Transfer-Encoding: chunked",
                "a :", "a HTTP/1.1 200 OK",
            ]
        )
    )
    func `T-MSG-27 a folded field has one blank for each fold, and its connection is not used again`(
        field: String,
        value: String
    ) {
        for (before, after) in [("", ""), ("A: b\r\n", "C: d\r\n"), ("", "C: d\r\n"), ("A: b\r\n", "")] {
            let wire = "HTTP/1.1 200 OK\r\n\(before)\(field)\r\n\(after)" + Self.fields
            let outcome = ResponseSetting().outcome(of: wire)

            #expect(outcome.head?.headers.first("X") == value)
            #expect(outcome.head?.headers.contains("A") == !before.isEmpty)
            #expect(outcome.head?.headers.contains("C") == !after.isEmpty)
            let lines = outcome.head?.headers.withBytes { $0.split(separator: 0x0A).map { Array($0) } } ?? []
            #expect(lines.count == outcome.head?.headers.count && lines.allSatisfy { !ByteScanning.isOWS($0[0]) })
            #expect(outcome.text == "ok" && outcome.trailers == [] && outcome.error == nil)
            #expect(!outcome.framedExactly && outcome.head?.persistent == false)
        }
    }

    @Test(arguments: [
        "Transfer-Encoding: chunked\r\n ,identity", "Transfer-Encoding: chunked\r\n ", "transfer-encoding: chunked\n\t",
        "Content-Length: 2\r\n 2", "CONTENT-LENGTH: 2\r\n \r\n 2", "Content-Length: 2\r\n\t,",
        "X: a\r\n b\r\nContent-Length: 2\r\n ,2",
    ])
    func `T-MSG-27 a folded field that says where the body ends is refused`(field: String) {
        WireRow("HTTP/1.1 200 OK\r\n\(field)\r\n\r\nok", .refused(.header)).check()
        WireRow("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n", .refused(.header)).check(ResponseSetting(method: "CONNECT"))
        WireRow("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n", .refused(.header)).check(ResponseSetting(method: "HEAD"))
    }

    @Test(arguments: ["Content-Length: 2\r\n ", "CONTENT-LENGTH: 2\r\n\t\r\n  \t", "Content-Length:2\n "])
    func `T-MSG-27 an empty fold adds nothing to a length, and the connection is not used again`(field: String) {
        for after in ["", "\r\nX: y"] {
            let outcome = ResponseSetting().outcome(of: "HTTP/1.1 200 OK\r\n\(field)\(after)\r\n\r\nok")

            #expect(outcome.text == "ok" && outcome.error == nil && outcome.head?.contentLength == 2)
            #expect(!outcome.framedExactly && outcome.head?.persistent == false)
            #expect(outcome.head?.headers.first("Content-Length") == "2")
        }
        WireRow("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n", .closed(200, "")).check(ResponseSetting(method: "HEAD"))
    }

    @Test func `T-MSG-27 the error for a folded length shows all of its lines`() {
        let text = detail(of: Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n ,3\r\n".utf8))

        #expect(text.contains("Content-Length: 2") && text.contains(" ,3"), "\(text)")
    }

    @Test(arguments: ["\0", "\u{1B}[2J", "\u{7F}", "a\rb", "a\u{8}"])
    func `T-MSG-27 a control character in a continued line is refused`(text: String) {
        WireRow("HTTP/1.1 200 OK\r\nX: a\r\n b\(text)c\r\n" + Self.fields, .refused(.header)).check()
    }

    @Test func `T-MSG-27 a folded Connection closes, whatever it says`() {
        for value in ["keep-alive,\r\n close", "close\r\n ", "keep-alive\r\n ", "clo\r\n se"] {
            WireRow("HTTP/1.1 200 OK\r\nConnection: \(value)\r\n" + Self.fields, .closed(200, "ok")).check()
        }
    }

    @Test func `T-MSG-27 an interim response with a fold is read, and its connection is not used again`() {
        let wire = "HTTP/1.1 103 Early Hints\r\nLink: </a>;\r\n rel=preload\r\n\r\nHTTP/1.1 200 OK\r\n" + Self.fields
        let outcome = ResponseSetting().outcome(of: wire)

        #expect(outcome.interim.first?.headers.first("Link") == "</a>; rel=preload")
        #expect(outcome.text == "ok" && !outcome.framedExactly)
    }

    @Test func `T-MSG-27 each Set-Cookie keeps its own continuation`() {
        let cookies = "Set-Cookie: a=1;\r\n Path=/\r\nSet-Cookie: b=2\r\nSet-Cookie: c=3;\r\n\tSecure;\r\n HttpOnly\r\n"
        let outcome = ResponseSetting().outcome(of: "HTTP/1.1 200 OK\r\n" + cookies + Self.fields)

        #expect(outcome.head?.headers.values("Set-Cookie") == ["a=1; Path=/", "b=2", "c=3; Secure; HttpOnly"])
        #expect(outcome.head?.setsCookies == true)
    }

    @Test func `T-MSG-27 a folded field is no longer than a line may be, and is one field`() {
        var setting = ResponseSetting()
        setting.limits.lineBytes = 30
        setting.limits.headFields = 2
        // "X: a" and the line ends between count, as they arrived.
        let wire = { "HTTP/1.1 200 OK\r\nX: a\r\n \(String(repeating: "b", count: $0))\r\n" + Self.fields }

        #expect(setting.outcome(of: wire(23)).text == "ok")
        #expect(setting.outcome(of: wire(24)).error == .limit(.lineBytes))
        #expect(setting.outcome(of: "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n c\r\n d\r\n" + Self.fields).text == "ok")
        #expect(setting.outcome(of: "HTTP/1.1 204 X\r\nA: b\r\nX: a\r\n b\r\n c\r\n\r\n").error == nil)
    }

    @Test func `T-MSG-27 a length on a folded line is no length`() {
        WireRow("HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok", .refused(.framing)).check()
    }

    @Test(arguments: [
        "no colon", "nocolon", ":", ": value", ":value", "a b: c", "a\u{E9}: c", "a(b): c", "a/b: c", "a[b]: c",
        "a{b}: c", "a\"b\": c", "a,b: c", "a;b: c", "a=b: c", "a@b: c", "a\\b: c", "a?b: c", "<a>: c",
        "HTTP/1.1 200 OK",
        "\u{212A}eep-Alive: timeout=5", "a\u{A0}: b",
    ])
    func `T-MSG-28 a line without a proper name is refused, never skipped`(line: String) {
        for before in ["", "A: b\r\n"] {
            WireRow("HTTP/1.1 200 OK\r\n\(before)\(line)\r\n" + Self.fields, .refused(.header)).check()
        }
    }

    @Test func `T-MSG-28 every token is a name and an empty value is a value`() {
        let outcome = ResponseSetting().outcome(
            of: "HTTP/1.1 200 OK\r\n!#$%&'*+-.^_`|~09azAZ:\r\nX:  \t\r\nlong-name_with.everything-0123456789: v\r\n"
                + Self.fields
        )

        let names = outcome.head?.headers.fields.map(\.name)
        #expect(names == ["!#$%&'*+-.^_`|~09azAZ", "X", "long-name_with.everything-0123456789", "Content-Length"])
        #expect(outcome.head?.headers.first("X") == "")
        #expect(outcome.mayReuse)
    }
}
