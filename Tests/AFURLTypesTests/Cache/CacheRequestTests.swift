import AFWire
import Foundation
import Testing

@testable import AFState
@testable import AFURLTypes

extension CacheTests {
    struct Requests {
        @Test func `a request has a body if there is a byte of it, or a stream`() throws {
            var request = URLRequest(url: try #require(URL(string: "http://a.test/")))
            request.httpMethod = "POST"
            func hasBody() throws -> [Bool?] {
                let plan: RequestFreezer.BodyPlan = request.httpBodyStream == nil ? .own : .stream
                let frozen = try RequestFreezer.freeze(request, defaults: .standard, plan: plan)
                return [CacheRequest.of(request)?.hasBody, CacheRequest.of(frozen).hasBody]
            }
            #expect(try hasBody() == [false, false])
            request.httpBody = Data()
            #expect(try hasBody() == [false, false])
            request.httpBody = Data([1])
            #expect(try hasBody() == [true, true])
            request.httpBodyStream = InputStream(data: Data())
            #expect(try hasBody() == [true, true])
        }
    }
}
