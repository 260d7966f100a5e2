import AFBase
import AFWire
import Testing

/// Field storage, T-MSG-31 to 33.
@Suite struct HTTPHeadersTests {
    private static func headers(_ fields: [(String, String)]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers.append(name, value: value) }
        return headers
    }

    private static func received(_ block: [UInt8]) -> HTTPHeaders? {
        let wire = Array("HTTP/1.1 204 X\r\n".utf8) + block + Array("\r\n".utf8)
        return ResponseSetting().outcome(of: wire).head?.headers
    }

    private static func text(_ headers: HTTPHeaders) -> String {
        headers.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `fields keep their order, their spelling and their duplicates`() {
        let headers = Self.headers([("B", "1"), ("a", "2"), ("b", "3")])

        #expect(headers.count == 3 && !headers.isEmpty)
        #expect(headers.fields.map(\.name) == ["B", "a", "b"])
        #expect(headers.values("B") == ["1", "3"])
        #expect(headers.first("b") == "1")
        #expect(headers.joined("B") == "1, 3")
        #expect(Self.text(headers) == "B: 1\r\na: 2\r\nb: 3\r\n")
    }

    @Test func `no field is no value`() {
        let headers = HTTPHeaders()

        #expect(headers.isEmpty && headers.count == 0)
        #expect(headers.first("A") == nil && headers.joined("A") == nil)
        #expect(headers.values("A").isEmpty && headers.fields.isEmpty)
        #expect(!headers.contains("A") && !headers.contains(""))
        #expect(Self.text(headers).isEmpty)
    }

    @Test func `a name that is part of another is not that name`() {
        let headers = Self.headers([("Content-Length", "5"), ("X", "Content: 7")])

        #expect(!headers.contains("Content") && !headers.contains("Length") && !headers.contains("Content-Length:"))
        #expect(!headers.contains("X: Content"))
    }

    @Test func `setting replaces the first and removes the others`() {
        var headers = Self.headers([("A", "1"), ("B", "2"), ("a", "3"), ("C", "4")])

        headers.set("a", value: "5")
        headers.set("D", value: "6")

        #expect(Self.text(headers) == "a: 5\r\nB: 2\r\nC: 4\r\nD: 6\r\n")
        #expect(headers.count == 4)
    }

    @Test func `a value begins behind its colon, with or without white space`() {
        let headers = Self.received(Array("A:b\r\nC:\r\nD: \te \r\nF:g:h\r\n".utf8))

        #expect(["a", "c", "d", "f"].map { headers?.first($0) } == ["b", "", "e", "g:h"])
        #expect(headers?.fields.map(\.value) == ["b", "", "e", "g:h"])
        // Without the status line, with which they came.
        #expect(headers?.byteCount == 24 && headers?.valuesInBytes("A") == [[0x62]])
    }

    @Test func `the first field of a name is one field, as it is`() {
        let headers = Self.headers([("B", "0"), ("A", "1"), ("a", "2")])

        #expect(Self.text(headers.firstField("a")) == "A: 1\r\n" && headers.firstField("a").count == 1)
        #expect(headers.firstField("C").isEmpty && Self.text(headers.firstField("C")).isEmpty)
    }

    @Test func `what is unwanted is removed, and the others stay as they are`() {
        var headers = Self.headers([("A", "1"), ("B", "2"), ("a", "3"), ("C", "4")])

        headers.removeAll { ByteScanning.equalsIgnoringCase($0, lowercase: "a") }
        #expect(Self.text(headers) == "B: 2\r\nC: 4\r\n" && headers.count == 2)
        headers.removeAll { _ in false }
        #expect(Self.text(headers) == "B: 2\r\nC: 4\r\n" && headers.count == 2)
        headers.removeAll { _ in true }
        #expect(headers.isEmpty && Self.text(headers).isEmpty)
    }

    @Test func `removing leaves the others in order`() {
        var headers = Self.headers([("A", "1"), ("B", "2"), ("a", "3")])

        headers.remove("A")
        headers.remove("missing")

        #expect(Self.text(headers) == "B: 2\r\n")
        #expect(headers.count == 1)
    }

    @Test func `fields of another block go behind, in place of those of their names, or only if they are lacking`() {
        let headers = Self.headers([("A", "1"), ("B", "2"), ("a", "3")])
        let others = Self.headers([("C", "4"), ("b", "5")])

        var appended = headers
        appended.append(contentsOf: others)
        var replaced = headers
        replaced.replace(with: others)
        var completed = headers
        completed.add(lacking: others)
        var empty = HTTPHeaders()
        empty.append(contentsOf: others)

        #expect(Self.text(appended) == "A: 1\r\nB: 2\r\na: 3\r\nC: 4\r\nb: 5\r\n" && appended.count == 5)
        #expect(Self.text(replaced) == "A: 1\r\na: 3\r\nC: 4\r\nb: 5\r\n" && replaced.count == 4)
        #expect(Self.text(completed) == "A: 1\r\nB: 2\r\na: 3\r\nC: 4\r\n" && completed.count == 4)
        #expect(empty == others && empty.byteCount == 12)
        var second = HTTPHeaders()
        second.append("B", value: "2")
        #expect(headers.firstField("b") == second && Set([headers.firstField("b"), second]).count == 1)
        #expect(headers.firstField("c").isEmpty)
    }

    @Test func `received fields can be changed and keep the rest as it was`() {
        var headers = Self.received(Array("A:1\r\nB:  2 \r\nC: 3\r\n".utf8)) ?? HTTPHeaders()

        headers.set("A", value: "x")
        headers.append("D", value: "4")

        #expect(Self.text(headers) == "A: x\r\nB:  2 \r\nC: 3\r\nD: 4\r\n")
        #expect(headers.fields.map(\.value) == ["x", "2", "3", "4"])
    }

    @Test func `equality is by fields, not by spacing`() {
        let sent = Self.headers([("A", "1"), ("B", "2")])

        #expect(Self.received(Array("A:1\r\nB:  2 \r\n".utf8)) == sent)
        #expect(Self.headers([("B", "2"), ("A", "1")]) != sent)
        #expect(Self.headers([("A", "1")]) != sent)
        #expect(Self.headers([("A", "1"), ("B", "3")]) != sent)
        #expect(Self.headers([("a", "1"), ("B", "2")]) != sent)
    }

    @Test func `T-MSG-31 cookies with commas stay separate values`() {
        let first = "a=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT"
        let block = "Set-Cookie: \(first)\r\nSet-cookie: c=d\r\n"

        #expect(Self.received(Array(block.utf8))?.values("set-cookie") == [first, "c=d"])
    }

    @Test(arguments: ["ETag", "Set-Cookie", "Location", "Content-Type", "X-Any", "Content-Disposition"])
    func `T-MSG-32 values that are not UTF-8 keep their bytes and read as Latin-1`(name: String) {
        for byte in UInt8(0x80)...0xFF {
            let value = Array("\"a".utf8) + [byte] + Array("z\"".utf8)
            let headers = Self.received(Array("\(name): ".utf8) + value + [0x0D, 0x0A])

            #expect(headers?.firstBytes(name) == value)
            #expect(headers?.first(name) == "\"a\(Character(Unicode.Scalar(byte)))z\"")
            var copy = HTTPHeaders()
            value.withUnsafeBytes { copy.append(name, bytes: $0) }
            #expect(copy == headers)
        }
    }

    @Test func `T-MSG-32 values that are UTF-8 read as such`() {
        #expect(Self.received(Array("X: gr\u{FC}n \u{1F7E2}\r\n".utf8))?.first("X") == "gr\u{FC}n \u{1F7E2}")
    }

    @Test func `T-MSG-33 names fold in ASCII only`() {
        let headers = Self.headers([("Keep-Alive", "x"), ("Stra\u{DF}e", "y")])

        #expect(headers.first("KEEP-aLIVE") == "x")
        #expect(headers.first("\u{212A}eep-Alive") == nil)
        #expect(headers.first("STRASSE") == nil)
        #expect(headers.first("Stra\u{DF}e") == "y")
        #expect(headers.first("Keep-Al\u{131}ve") == nil)
        #expect(headers.first("Keep\u{D}Alive") == nil)
    }

    @Test func `T-MSG-33 the Kelvin sign in a name is refused on the wire`() {
        #expect(ResponseSetting().outcome(of: "HTTP/1.1 204 X\r\n\u{212A}: a\r\n\r\n").error == .header)
    }
}
