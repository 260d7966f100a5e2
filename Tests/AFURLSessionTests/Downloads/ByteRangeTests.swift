import AFURLSession
import Foundation
import Testing

struct ByteRangeTests {
    @Test func `T-REQ-29 a byte range is set or refused with an error`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.test/")))

        try request.setByteRange(from: 100, through: 199)

        #expect(request.value(forHTTPHeaderField: "Range") == "bytes=100-199")
        let error = #expect(throws: URLError.self) { try request.setByteRange(from: 5, through: 4) }
        #expect(error?.code == .badURL)
        #expect(error?.loadFailure?.reason == .request)
        #expect(throws: URLError.self) { try request.setByteRange(last: 0) }
        #expect(request.value(forHTTPHeaderField: "Range") == "bytes=100-199")
    }
}
