import AFURLSession

@testable import AFNetworking

@Suite("Answers to a request for the rest")
struct RangeReplyTests {
    private func response(_ status: Int, _ fields: [String: String]) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://host.test/"))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        )
    }

    @Test(
        "3 a range is accepted only if it is the requested one",
        arguments: [
            ("bytes 5-9/10", true), ("BYTES 5-9/10", true), ("bytes 5-9/*", true), ("bytes 4-9/10", false),
            ("bytes 5-9/11", false), ("bytes */10", false), ("bytes 5-", false), ("bytes 9-5/10", false),
            ("bytes 5-9", false), ("bytes -5-9/10", false), ("items 5-9/10", false), ("", false),
            ("bytes 99999999999999999999-9/10", false), ("bytes 5-8/10", false), ("bytes 5-8/*", false),
            ("bytes 5-9 /10", false), ("bytes\u{A0}5-9/10", false), ("byte\u{17F} 5-9/10", false),
        ]
    )
    func ranges(text: String, isRest: Bool) throws {
        let first = try response(200, ["Content-Length": "10"])
        let reply = RangeReply(try response(206, ["Content-Range": text]), to: first, from: 5)
        #expect(reply == (isRest ? .rest : .useless))
    }

    @Test("3 a part with a content coding cannot be appended")
    func coded() throws {
        let first = try response(200, [:])
        let coded = try response(206, ["Content-Range": "bytes 5-9/10", "Content-Encoding": "gzip"])
        #expect(RangeReply(coded, to: first, from: 5) == .useless)
    }
}
