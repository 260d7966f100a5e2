import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite struct ResumeRulesTests {
    private static let early = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let late = "Sun, 06 Nov 1994 08:49:38 GMT"

    private func response(_ status: Int, _ fields: [String: String]) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://a.test/f"))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        )
    }

    // MARK: - What may be resumed

    private func point(
        _ fields: [String: String],
        status: Int = 200,
        to change: (inout URLRequest) -> Void = { _ in }
    ) throws -> ResumePoint? {
        var request = URLRequest(url: try #require(URL(string: "http://a.test/f")))
        change(&request)
        return ResumePoint(try response(status, fields), to: request)
    }

    @Test func `T-FIL-18 only the whole of a GET that can be recognized is resumed`() throws {
        let tag = ["ETag": "\"a\"", "Content-Length": "10"]

        #expect(try point(tag) == ResumePoint(offset: 0, total: 10, validator: .entityTag("\"a\"")))
        #expect(try point(tag) { $0.httpBody = Data() } != nil)
        #expect(try point(tag) { $0.httpBody = Data("q".utf8) } == nil)
        #expect(try point(tag) { $0.httpMethod = "HEAD" } == nil)
        #expect(try point(tag) { $0.setValue("bytes=0-", forHTTPHeaderField: "Range") } == nil)
        for status in [201, 203, 206, 404] { #expect(try point(tag, status: status) == nil) }
        #expect(try point(tag.merging(["Content-Encoding": "gzip"]) { $1 }) == nil)
        #expect(try point(tag.merging(["Content-Encoding": "identity"]) { $1 }) != nil)
        #expect(try point(tag.merging(["Accept-Ranges": "None"]) { $1 }) == nil)
    }

    @Test(
        arguments: [
            (["ETag": "\"\""], .entityTag("\"\"")), (["ETag": "\"!#~\""], .entityTag("\"!#~\"")),
            (["ETag": "W/\"a\""], nil), (["ETag": "a"], nil), (["ETag": "\""], nil), (["ETag": "\"a"], nil),
            (["ETag": "a\""], nil), (["ETag": "\"a\"b\""], nil), (["ETag": "\"a b\""], nil),
            (["ETag": "\"é\""], nil),
            (
                ["ETag": "\"\(String(repeating: "a", count: 1022))\""],
                .entityTag("\"\(String(repeating: "a", count: 1022))\"")
            ),
            (["ETag": "\"\(String(repeating: "a", count: 1023))\""], nil),
            (["ETag": "W/\"a\"", "Last-Modified": early, "Date": late], .lastModified(early)),
            (["Last-Modified": early, "Date": late], .lastModified(early)),
            (["Last-Modified": early, "Date": early], nil), (["Last-Modified": late, "Date": early], nil),
            (["Last-Modified": early], nil), (["Last-Modified": "yesterday", "Date": late], nil),
            (["Last-Modified": early, "Date": "now"], nil), ([:], nil),
        ] as [([String: String], ResumeValidator?)]
    )
    func `T-FIL-11 a strong entity tag recognizes, or a date of a second before`(
        fields: [String: String],
        validator: ResumeValidator?
    ) throws {
        #expect(try point(fields)?.validator == validator)
    }

    @Test(arguments: ["W/\"a\"", "a", "yesterday", "", "\"a\nb\""])
    func `T-FIL-17 a validator that was kept is judged again`(text: String) {
        #expect(ResumeValidator(fieldValue: text) == nil)
    }

    @Test func `T-FIL-17 what was kept is what it was`() {
        #expect(ResumeValidator(fieldValue: "\"a\"") == .entityTag("\"a\""))
        #expect(ResumeValidator(fieldValue: Self.early) == .lastModified(Self.early))
    }

    // MARK: - What the answer means

    private static let part = ["Content-Range": "bytes 5-9/10"]
    private static let refusal = ["Content-Range": "bytes */5"]

    @Test(
        arguments: [
            // Status, fields, length, the whole as it was announced, whether the tag "a" was kept, the meaning.
            (206, part, 5, 10, false, .rest(end: 10, total: 10)),
            (206, part, -1, nil, false, .rest(end: 10, total: 10)),
            (206, part, 4, 10, false, .unusable), (206, part, 6, nil, false, .unusable),
            (206, part, 5, 11, false, .unusable), (206, part, 5, 9, false, .unusable),
            (206, ["Content-Range": "bytes 5-9/*"], 5, nil, false, .rest(end: 10, total: nil)),
            (206, ["Content-Range": "bytes 5-9/*"], 5, 10, false, .rest(end: 10, total: 10)),
            (206, ["Content-Range": "bytes 5-9/*"], 5, 11, false, .unusable),
            (206, ["Content-Range": "bytes 5-8/10"], 4, nil, false, .unusable),
            (206, ["Content-Range": "bytes 6-9/10"], 4, nil, false, .unusable),
            (206, part, 5, 10, true, .unusable),
            (206, part.merging(["ETag": "\"b\""]) { $1 }, 5, 10, true, .unusable),
            (206, part.merging(["ETag": "\"a\""]) { $1 }, 5, 10, true, .rest(end: 10, total: 10)),
            (416, refusal, 0, nil, false, .complete), (416, refusal, 0, 5, false, .complete),
            (416, refusal, 0, 6, false, .unusable), (416, ["Content-Range": "bytes */6"], 0, nil, false, .unusable),
            (416, part, 0, nil, false, .unusable), (416, [:], 0, nil, false, .unusable),
            (416, refusal, 0, 5, true, .unusable),
            (416, refusal.merging(["ETag": "\"b\""]) { $1 }, 0, 5, true, .unusable),
            (416, refusal.merging(["ETag": "\"a\""]) { $1 }, 0, 5, true, .complete),
            (200, part, 10, 10, true, .whole), (299, [:], 10, 10, true, .whole), (199, [:], 0, 10, true, .other),
            (300, [:], 10, 10, true, .other), (503, [:], 10, 10, true, .other),
        ] as [(Int, [String: String], Int64, Int64?, Bool, ResumeAnswer)]
    )
    func `T-FIL-10 T-FIL-12 T-FIL-15 only the rest goes on, and only a refusal that fits completes`(
        status: Int,
        fields: [String: String],
        length: Int64,
        known: Int64?,
        isTagged: Bool,
        meaning: ResumeAnswer
    ) throws {
        let answer = ResumeAnswer.judge(
            status,
            headers: try response(status, fields).headers,
            length: length,
            at: 5,
            of: known,
            validator: isTagged ? .entityTag("\"a\"") : nil
        )
        #expect(answer == meaning)
    }

    @Test func `T-FIL-11 a 206 need not repeat a date, and a 416 must`() throws {
        let kept = ResumePoint(offset: 5, total: nil, validator: .lastModified(Self.early))
        func answer(_ status: Int, _ fields: [String: String]) throws -> ResumeAnswer {
            ResumeAnswer.judge(status, headers: try response(status, fields).headers, length: -1, at: kept)
        }
        let dated = ["Last-Modified": Self.early]
        let other = ["Last-Modified": Self.late]

        #expect(try answer(206, Self.part) == .rest(end: 10, total: 10))
        #expect(try answer(206, Self.part.merging(dated) { $1 }) == .rest(end: 10, total: 10))
        #expect(try answer(206, Self.part.merging(other) { $1 }) == .unusable)
        #expect(try answer(416, Self.refusal) == .unusable)
        #expect(try answer(416, Self.refusal.merging(dated) { $1 }) == .complete)
        #expect(try answer(416, Self.refusal.merging(other) { $1 }) == .unusable)
    }
}
