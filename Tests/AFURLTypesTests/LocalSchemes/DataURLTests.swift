import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite("Reading data URLs")
struct DataURLTests {
    private func read(_ text: String, limit: Int = 1 << 20) throws(DataURL.Flaw) -> DataURL {
        try text.withUTF8Bytes { bytes throws(DataURL.Flaw) in try DataURL(bytes, limit: limit) }
    }

    @Test(
        arguments: [
            ("data:,", "text/plain", "us-ascii", ""),
            ("data:,A%20brief%20note", "text/plain", "us-ascii", "A brief note"),
            ("DATA:text/html,<p>", "text/html", nil, "<p>"),
            ("data:TEXT/HTML;Charset=UTF-8,%e2%82%ac", "text/html", "utf-8", "\u{20AC}"),
            ("data:;charset=utf-8,x", "text/plain", "utf-8", "x"),
            ("data:text/plain;charset=%22utf-8%22,x", "text/plain", "utf-8", "x"),
            ("data:application/json;base64,eyJhIjoxfQ==", "application/json", nil, "{\"a\":1}"),
            ("data:;base64,", "text/plain", "us-ascii", ""),
            ("data:;BASE64,aGk=", "text/plain", "us-ascii", "hi"),
            ("data:;base64,aGk%3D", "text/plain", "us-ascii", "hi"),
            ("data:text/plain;a=b;charset=x;base64,aGk=", "text/plain", "x", "hi"),
            ("data:,a,b;base64,c", "text/plain", "us-ascii", "a,b;base64,c"),
            ("data:,a%23b#fragment", "text/plain", "us-ascii", "a#b"),
            ("data:,?a=b&c", "text/plain", "us-ascii", "?a=b&c"),
            ("data:image/svg+xml,%3Csvg/%3E", "image/svg+xml", nil, "<svg/>"),
        ] as [(String, String, String?, String)]
    )
    func `a well-formed URL is read`(text: String, type: String, charset: String?, body: String) throws {
        let url = try read(text)
        #expect(url.mimeType == type && url.charset == charset)
        #expect(String(decoding: url.body, as: UTF8.self) == body)
    }

    @Test(
        arguments: [
            ("data:", .noComma), ("data:text/plain", .noComma), ("data:#,", .noComma),
            ("data:text,x", .mediaType), ("data:/plain,x", .mediaType), ("data:text/,x", .mediaType),
            ("data:text/plain;base64;charset=x,aGk=", .mediaType), ("data:text/plain;charset,x", .mediaType),
            ("data:text/plain;,x", .mediaType), ("data:te%20xt/plain,x", .mediaType), ("data:base64,aGk=", .mediaType),
            ("data:,100%", .percent), ("data:,%4", .percent), ("data:,%GG", .percent), ("data:text/%,x", .percent),
            ("data:;base64,aGk", .base64), ("data:;base64,aGk==", .base64), ("data:;base64,a=k=", .base64),
            ("data:;base64,aGl=", .base64), ("data:;base64,====", .base64), ("data:;base64,aG%0Ak=", .base64),
            ("data:;base64,aGk-", .base64), ("data:;base64,aG k", .base64), ("data:;base64,=", .base64),
        ] as [(String, DataURL.Flaw)]
    )
    func `a malformed URL is refused, with the reason`(text: String, flaw: DataURL.Flaw) {
        #expect(throws: flaw) { try read(text) }
    }

    @Test func `more than may be in memory is refused`() throws {
        #expect(try read("data:,12345", limit: 5).body.count == 5)
        #expect(throws: DataURL.Flaw.tooLong(limit: 5)) { try read("data:,123456", limit: 5) }
        #expect(try read("data:;base64,MTIzNDU=", limit: 5).body.count == 5)
        #expect(throws: DataURL.Flaw.tooLong(limit: 5)) { try read("data:;base64,MTIzNDU2", limit: 5) }
        #expect(try read("data:,", limit: 0).body == [])
        #expect(throws: DataURL.Flaw.tooLong(limit: 0)) { try read("data:,1", limit: 0) }
    }

    @Test func `whatever bytes there are, reading ends`() {
        var random = SeededGenerator(seed: 7)
        let alphabet = Array("data:,;=%/base64textplincharset\"#AZ09+-\u{E9}".utf8)
        for _ in 0..<20_000 {
            let bytes =
                Array("data:".utf8)
                + (0..<Int.random(in: 0..<24, using: &random)).compactMap { _ in
                    alphabet.randomElement(using: &random)
                }
            _ = bytes.withUnsafeBytes { bytes in
                Result { () throws(DataURL.Flaw) in try DataURL(bytes, limit: 10) }
            }
        }
    }
}
