import AFWire
import Foundation
import Testing

@testable import AFURLTypes

struct HTTPURLResponseTests {
    /// The response a peer's head becomes, by way of the real parser.
    private static func response(
        _ fields: String,
        url: String = "http://a.test/dir/file.txt?x"
    ) throws -> AFURLTypes.HTTPURLResponse {
        try response(Array(fields.utf8), url: url)
    }

    private static func response(
        _ fields: [UInt8],
        url: String = "http://a.test/"
    ) throws -> AFURLTypes.HTTPURLResponse {
        var decoder = ResponseDecoder(method: "GET")
        let bytes = Array("HTTP/1.1 200 OK\r\n".utf8) + fields + Array("\r\n".utf8)
        let event = try bytes.withUnsafeBytes { try decoder.decode($0).event }
        guard case .head(let head) = event else { throw URLError(.cannotParseResponse) }
        return AFURLTypes.HTTPURLResponse(url: try #require(URL(string: url)), head: head)
    }

    @Test func `a head becomes a response`() throws {
        let response = try Self.response("Content-Type: Text/HTML; Charset=\"UTF-8\"\r\nContent-Length: 5\r\n")

        #expect(response.statusCode == 200)
        #expect(response.mimeType == "text/html")
        #expect(response.textEncodingName == "utf-8")
        #expect(response.expectedContentLength == 5)
        #expect(response.suggestedFilename == "file.txt")
        #expect(response.url?.absoluteString == "http://a.test/dir/file.txt?x")
    }

    @Test func `nothing is known without fields`() throws {
        let response = try Self.response("")

        #expect(response.mimeType == nil)
        #expect(response.textEncodingName == nil)
        #expect(response.expectedContentLength == -1)
        #expect(response.allHeaderFields.isEmpty)
        #expect(response.headerFields.isEmpty)
    }

    @Test func `T-ANS-01 lines of a structured field are one value, which counts as a whole`() throws {
        let response = try Self.response("X-A: a;b=1\r\nX-L: a, b\r\nx-l: (c)\r\nX-D: u=1\r\nX-D: i\r\nX-D: u=2\r\n")
        let broken = try Self.response("X-L: a\r\nX-L: b,\r\nX-A: 1\r\nX-A: 2\r\nX-D: a=1\r\nX-D: B\r\n")

        #expect(response.structuredItem(forHTTPHeaderField: "x-a")?.parameters["b"] == .integer(1))
        #expect(response.structuredList(forHTTPHeaderField: "X-L")?.count == 3)
        #expect(response.structuredDictionary(forHTTPHeaderField: "X-D")?["u"] == .value(.integer(2)))
        for none in [broken, try Self.response("")] {
            #expect(none.structuredItem(forHTTPHeaderField: "X-A") == nil)
            #expect(none.structuredList(forHTTPHeaderField: "X-L") == nil)
            #expect(none.structuredDictionary(forHTTPHeaderField: "X-D") == nil)
        }
    }

    @Test(arguments: ["text", "", "/", "text/", "text html"])
    func `T-MSG-56 a malformed media type is none`(value: String) throws {
        #expect(try Self.response("Content-Type: \(value)\r\n").mimeType == nil)
    }

    @Test func `chunked content has no expected length`() throws {
        #expect(try Self.response("Transfer-Encoding: chunked\r\n").expectedContentLength == -1)
    }

    // MARK: - Fields

    @Test func `T-MSG-30 lists are joined in order, single values are the first, all lines are kept`() throws {
        let response = try Self.response("Via: a\r\nETag: \"1\"\r\nvia: b\r\nETAG: \"2\"\r\nVIA: c\r\n")

        #expect(response.value(forHTTPHeaderField: "vIA") == "a, b, c")
        #expect(response.value(forHTTPHeaderField: "etag") == "\"1\"")
        #expect(response.headerFields.map(\.name) == ["Via", "ETag", "via", "ETAG", "VIA"])
        #expect(response.headerFields.map(\.value) == ["a", "\"1\"", "b", "\"2\"", "c"])
        #expect(response.allHeaderFields as? [String: String] == ["Via": "a, b, c", "Etag": "\"1\""])
    }

    @Test func `T-MSG-31 Set-Cookie lines are never joined by commas`() throws {
        let first = "a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT"
        let response = try Self.response("Set-Cookie: \(first)\r\nset-cookie: b=2\r\n")

        #expect(response.value(forHTTPHeaderField: "Set-Cookie") == "\(first)\nb=2")
        #expect(response.headerFields.map(\.value) == [first, "b=2"])
    }

    @Test(arguments: 0x80...0xFF as ClosedRange<UInt8>)
    func `T-MSG-32 bytes that are not UTF-8 survive as Latin-1`(byte: UInt8) throws {
        let expected = "\"" + String(Unicode.Scalar(byte)) + "\""
        for name in ["ETag", "Content-Type", "Location", "Set-Cookie", "Content-Disposition", "X"] {
            let response = try Self.response(Array("\(name): \"".utf8) + [byte] + Array("\"\r\n".utf8))

            #expect(response.value(forHTTPHeaderField: name) == expected)
            #expect(response.headers.firstBytes(name) == [0x22, byte, 0x22])
            _ = (response.mimeType, response.suggestedFilename, response.textEncodingName, response.description)
        }
    }

    @Test(arguments: [
        ("content-type", "Content-Type"), ("CONTENT-TYPE", "Content-Type"), ("ETag", "Etag"), ("etag", "Etag"),
        ("www-authenticate", "WWW-Authenticate"), ("x-lower-case", "x-lower-case"), ("X-UPPER-case", "X-UPPER-case"),
        ("x-", "x-"), ("X", "X"), ("x", "X"), ("xylo-Fone", "Xylo-Fone"), ("Content-MD5", "Content-Md5"), ("TE", "Te"),
        ("foo_bar.bazQux", "Foo_Bar.Bazqux"), ("foo1bar", "Foo1Bar"), ("set-cookie", "Set-Cookie"), ("-a--b", "-A--B"),
    ])
    func `keys of the dictionary are spelled as Foundation spells them`(name: String, key: String) throws {
        let response = try Self.response("\(name): 1\r\n")
        let made = AFURLTypes.HTTPURLResponse(
            url: try #require(URL(string: "http://a.test/")),
            statusCode: 200,
            httpVersion: nil,
            headerFields: [name: "1"]
        )

        for response in [response, try #require(made)] {
            #expect(response.allHeaderFields as? [String: String] == [key: "1"])
            #expect(response.value(forHTTPHeaderField: name.uppercased()) == "1")
            #expect(response.headerFields.map(\.name) == [name])
        }
    }

    @Test func `cookies are read from the dictionary, however their field was spelled`() throws {
        let response = try Self.response("set-COOKIE: a=1\r\nSET-cookie: b=2\r\n")
        let fields = try #require(response.allHeaderFields as? [String: String])

        let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: try #require(response.url))

        #expect(cookies.map(\.name) == ["a", "b"])
    }

    @Test(arguments: [
        "utf-8\u{0}", "../../x", "\u{1B}[0m", String(repeating: "a", count: 100), "a b", "(", "\u{202E}",
    ])
    func `T-MSG-55 a hostile charset is no name`(name: String) throws {
        let response = AFURLTypes.HTTPURLResponse(
            url: try #require(URL(string: "http://a.test/")),
            statusCode: 200,
            httpVersion: nil,
            headerFields: ["Content-Type": "text/plain; charset=\"\(name.filter { $0 >= " " })\""]
        )

        #expect(response?.textEncodingName == (name == "utf-8\u{0}" ? "utf-8" : nil))
    }

    // MARK: - File names

    @Test(arguments: [
        ("http://a.test/", "Unknown"), ("http://a.test", "Unknown"), ("http://a.test/a/", "a"),
        ("http://a.test/a%2F..%2Fb", "b"), ("http://a.test/..", "Unknown"), ("http://a.test/.x", "x"),
        ("http://a.test/a%00b", "a_b"), ("http://a.test/%C3%BC", "ü"),
    ])
    func `T-FIL-08 the suggested name comes from the path`(url: String, expected: String) throws {
        #expect(try Self.response("", url: url).suggestedFilename == expected)
        let plain = AFURLTypes.URLResponse(
            url: try #require(URL(string: url)),
            mimeType: nil,
            expectedContentLength: -1,
            textEncodingName: nil
        )
        #expect(plain.suggestedFilename == expected)
    }

    @Test func `T-FIL-08 Content-Disposition goes before the path`() throws {
        let response = try Self.response("Content-Disposition: attachment; filename=\"../../x.sh\"\r\n")

        #expect(response.suggestedFilename == "x.sh")
        let plain = try Self.response("Content-Disposition: x; ; filename=/tmp/a b.txt\r\n")
        #expect(plain.suggestedFilename == "a b.txt" && plain.contentDispositionFilename == "a b.txt")
        #expect(try Self.response("Content-Disposition: attachment\r\n").suggestedFilename == "file.txt")
    }

    @Test(arguments: [
        "attachment; bad; filename=\"a.txt\"", "attachment; =x; filename=a.txt", "attachment; x=; filename=a.txt",
        "attachment;; filename=a.txt", "attachment; (; x=\";\" y; filename*=UTF-8''a.txt",
        "attachment x; filename=a.txt",
    ])
    func `a malformed parameter does not take the name behind it along`(value: String) throws {
        #expect(try Self.response("Content-Disposition: \(value)\r\n").suggestedFilename == "a.txt")
    }

    @Test func `a malformed parameter does not take the character set behind it along`() throws {
        #expect(try Self.response("Content-Type: a/b; bad; charset=utf-8\r\n").textEncodingName == "utf-8")
        #expect(try Self.response("Content-Type: a/b; x=\"; charset=utf-8\r\n").textEncodingName == nil)
        #expect(try Self.response("Content-Type: a/b; x=\"; charset=utf-8\"\r\n").textEncodingName == nil)
    }

    // MARK: - Made by hand

    @Test func `a response can be made from a dictionary`() throws {
        let response = AFURLTypes.HTTPURLResponse(
            url: try #require(URL(string: "http://a.test/")),
            statusCode: 404,
            httpVersion: "HTTP/1.0",
            headerFields: ["Content-Type": "text/plain", "Content-Length": " 7 "]
        )

        #expect(response?.statusCode == 404)
        #expect(response?.mimeType == "text/plain")
        #expect(response?.expectedContentLength == 7)
        #expect(response?.version == .http10)
    }

    @Test(arguments: [
        ("identity", 5), ("Identity", 5), ("chunked", -1), ("gzip, chunked", -1), ("identity, chunked", -1), ("", -1),
    ])
    func `a transfer coding makes the length unknown, and identity is none`(coding: String, length: Int64) throws {
        let response = AFURLTypes.HTTPURLResponse(
            url: try #require(URL(string: "http://a.test/")),
            statusCode: 200,
            httpVersion: nil,
            headerFields: ["Transfer-Encoding": coding, "Content-Length": "5"]
        )

        #expect(response?.expectedContentLength == length)
    }

    @Test(arguments: ["+5", "-0", "0x5", "5,5", "5 5", "", "９", "99999999999999999999"])
    func `a length that is not digits is unknown`(value: String) throws {
        let response = AFURLTypes.HTTPURLResponse(
            url: try #require(URL(string: "http://a.test/")),
            statusCode: 200,
            httpVersion: nil,
            headerFields: ["Content-Length": value]
        )

        #expect(response?.expectedContentLength == -1)
    }

    @Test(arguments: [("X\r\nY", "1"), ("", "1"), ("X", "1\r\nY: 2"), ("X", "\u{0}"), ("X Y", "1")])
    func `T-REQ-01 a field that could not be received cannot be made`(name: String, value: String) throws {
        let url = try #require(URL(string: "http://a.test/"))

        let response = AFURLTypes.HTTPURLResponse(
            url: url,
            statusCode: 200,
            httpVersion: nil,
            headerFields: [name: value]
        )

        #expect(response == nil)
    }

    @Test func `every status code has a phrase`() {
        let phrase = { AFURLTypes.HTTPURLResponse.localizedString(forStatusCode: $0) }

        #expect(phrase(200) == "no error")
        #expect(phrase(404) == "not found")
        #expect(phrase(299) == "success")
        #expect(phrase(499) == "client error")
        #expect(Set([599, 600, 777, 999].map(phrase)) == ["server error"])
        #expect(Set([-1, 0, 99, 1000, .min, .max].map(phrase)) == ["unknown status"])
        #expect((100...999).allSatisfy { !phrase($0).isEmpty })
    }
}
