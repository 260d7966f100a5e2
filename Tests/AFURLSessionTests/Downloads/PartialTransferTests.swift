@testable import AFURLSession
@testable import AFURLTypes

@Suite("Partial transfers")
struct PartialTransferTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private func response(_ status: Int, _ fields: [String: String]) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://a.test/f"))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        )
    }

    @Test(
        arguments: [
            (206, ["Content-Range": "bytes 5-9/10"], .rest(upTo: 10)),
            (206, ["Content-Range": "bytes 5-9/*"], .rest(upTo: 10)),
            (206, ["Content-Range": "BYTES 5-9/10"], .rest(upTo: 10)),
            (206, ["Content-Range": "bytes 4-9/10"], .refused),
            (206, ["Content-Range": "bytes 5-8/10"], .refused), (206, ["Content-Range": "bytes 5-4/10"], .refused),
            (206, ["Content-Range": "lines 5-9/10"], .refused), (206, ["Content-Range": "bytes +5-9/10"], .refused),
            (206, ["Content-Range": "bytes 5-9/10", "Content-Encoding": "gzip"], .refused),
            (206, ["Content-Range": "bytes 5-9/10", "Content-Type": "multipart/byteranges; boundary=a"], .refused),
            (206, ["Content-Range": "bytes 5-9/10", "Content-Length": "4"], .refused), (206, [:], .refused),
            (200, ["Content-Range": "bytes 5-9/10"], .refused), (404, [:], .refused),
            (416, ["Content-Range": "bytes */5"], .complete), (416, ["Content-Range": "bytes */6"], .refused),
            (416, ["Content-Range": "bytes */*"], .refused), (416, [:], .refused),
        ] as [(Int, [String: String], PartialTransfer.Answer)]
    )
    func `T-FIL-12 only what fits goes on`(status: Int, fields: [String: String], answer: PartialTransfer.Answer) throws
    {
        #expect(PartialTransfer(offset: 5).answer(try response(status, fields)) == answer)
    }

    @Test func `T-FIL-11 what is recognized goes on with nothing else`() throws {
        let range = "bytes 5-9/10"
        let tagged = PartialTransfer(offset: 5, validator: "\"a\"")
        let dated = PartialTransfer(offset: 5, validator: Self.date)

        #expect(tagged.answer(try response(206, ["Content-Range": range, "ETag": "\"a\""])) == .rest(upTo: 10))
        #expect(tagged.answer(try response(206, ["Content-Range": range, "ETag": "\"b\""])) == .refused)
        #expect(tagged.answer(try response(206, ["Content-Range": range])) == .refused)
        #expect(tagged.answer(try response(416, ["Content-Range": "bytes */5", "ETag": "\"a\""])) == .complete)
        #expect(tagged.answer(try response(416, ["Content-Range": "bytes */5"])) == .refused)
        #expect(dated.answer(try response(206, ["Content-Range": range])) == .rest(upTo: 10))
        let other = "Sun, 06 Nov 1994 08:49:38 GMT"
        #expect(dated.answer(try response(206, ["Content-Range": range, "Last-Modified": other])) == .refused)
    }

    @Test func `a request for the rest has If-Range, if the resource can be recognized`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.test/f")))

        PartialTransfer(offset: 7, validator: "\"a\"").prepare(&request)
        #expect(request.allHTTPHeaderFields == ["Range": "bytes=7-", "If-Range": "\"a\""])
        for useless in ["W/\"a\"", "a", "", "\"a\r\nb: c\"", "1994"] {
            #expect(PartialTransfer(offset: 7, validator: useless).validator == nil, "\(useless)")
        }
        #expect(PartialTransfer(offset: 7, validator: Self.date).validator == Self.date)
    }

    @Test func `only the whole of something that can be recognized has a validator`() throws {
        let request = URLRequest(url: try #require(URL(string: "http://a.test/f")))
        var part = request
        part.setValue("bytes=0-1", forHTTPHeaderField: "Range")
        let tag = ["ETag": "\"a\""]

        #expect(PartialTransfer.validator(of: try response(200, tag), to: request) == "\"a\"")
        #expect(PartialTransfer.validator(of: try response(200, tag), to: part) == nil)
        #expect(PartialTransfer.validator(of: try response(404, tag), to: request) == nil)
        #expect(PartialTransfer.validator(of: try response(200, ["ETag": "W/\"a\""]), to: request) == nil)
        let coded = tag.merging(["Content-Encoding": "gzip"]) { $1 }
        #expect(PartialTransfer.validator(of: try response(200, coded), to: request) == nil)
    }
}
