import AFWire

@testable import AFURLSession
@testable import AFURLTypes

struct ContentPlanTests {
    private func plan(_ values: String..., status: Int = 200) -> ContentPlan {
        var headers = HTTPHeaders()
        for value in values { headers.append("Content-encoding", value: value) }
        return ContentPlan(headers, status: status)
    }

    @Test func `codings are found in any case, in one field or several, in their order`() {
        #expect(plan() == .asItIs)
        #expect(plan("gzip") == .decode([.gzip]))
        #expect(plan("X-GZip") == .decode([.gzip]))
        #expect(plan(" deflate ,, GZIP ") == .decode([.deflate, .gzip]))
        #expect(plan("deflate", "gzip, identity") == .decode([.deflate, .gzip]))
        #expect(plan("identity") == .asItIs)
        #expect(plan("") == .asItIs)
        #expect(plan("gzip", "gzip", "gzip, gzip", "gzip") == .decode([.gzip, .gzip, .gzip, .gzip, .gzip]))
    }

    @Test func `T-RES-04 an unknown coding leaves the whole body as it is`() {
        #expect(plan("compress") == .asItIs)
        #expect(plan("gzip, aes128gcm") == .asItIs)
        #expect(plan("aes128gcm, gzip") == .asItIs)
        #expect(plan("gzip;q=1") == .asItIs)
        #expect(plan("\u{212A}gzip") == .asItIs)
        #if !Brotli
            #expect(plan("br") == .asItIs)
        #endif
        #if !Zstd
            #expect(plan("zstd") == .asItIs)
        #endif
    }

    @Test func `T-RES-02 codings are counted over all fields, known or not`() {
        #expect(plan("gzip, gzip, gzip, gzip, gzip, gzip") == .tooMany)
        #expect(plan("gzip", "gzip", "gzip", "gzip", "gzip", "gzip") == .tooMany)
        #expect(plan("identity, identity, x, y", "z, gzip") == .tooMany)
        #expect(plan(Array(repeating: "gzip", count: 1000).joined(separator: ",")) == .tooMany)
    }

    @Test func `T-REQ-30 a part of coded content is not decoded`() {
        #expect(plan("gzip", status: 206) == .asItIs)
        #expect(plan("gzip", status: 404) == .decode([.gzip]))
    }

    @Test func `T-FIL-26 the length of what is decoded is not known, and the fields stay as they came`() throws {
        let url = try #require(URL(string: "http://a.test/"))
        func response(_ status: Int, _ coding: String?) throws -> HTTPURLResponse {
            var fields = ["Content-Length": "70"]
            fields["Content-Encoding"] = coding
            return try #require(
                HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
            )
        }

        #expect(try response(200, nil).expectedContentLength == 70)
        #expect(try response(200, "identity").expectedContentLength == 70)
        #expect(try response(200, "compress").expectedContentLength == 70)
        #expect(try response(206, "gzip").expectedContentLength == 70)
        let coded = try response(200, "gzip")
        #expect(coded.expectedContentLength == -1)
        #expect(coded.value(forHTTPHeaderField: "Content-Length") == "70")
        #expect(coded.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
    }
}
