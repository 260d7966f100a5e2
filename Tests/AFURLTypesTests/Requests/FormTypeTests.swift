import AFRequest
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

/// Foundation sends the body of a POST as a form if neither the request nor the session says what it is.
@Suite("The type of a body that has none")
struct FormTypeTests {
    private let form = "application/x-www-form-urlencoded"

    private func types(
        _ method: String = "POST",
        _ body: String = "a=b",
        defaults: HeaderDefaults = testDefaults,
        _ change: (inout URLRequest) -> Void = { _ in }
    ) throws -> [String] {
        let frozen = try freeze("http://a.test/", defaults: defaults) { request in
            request.httpMethod = method
            request.httpBody = Data(body.utf8)
            change(&request)
        }
        return frozen.values("Content-Type")
    }

    @Test func `the body of a POST is a form unless the request, its session or its owner says otherwise`() throws {
        let session = HeaderDefaults(additionalHeaders: ["content-type": "text/csv"], userAgent: "test/1")

        #expect(try types() == [form] && types("post") == [form])
        #expect(try types { $0.setValue("text/plain", forHTTPHeaderField: "content-type") } == ["text/plain"])
        #expect(try types { $0.setValue("", forHTTPHeaderField: "Content-Type") } == [""])
        #expect(try types(defaults: session) == ["text/csv"])
        #expect(try types { $0.withheldHeaderFields = ["CONTENT-TYPE"] } == [])
        #expect(try types(defaults: session) { $0.withheldHeaderFields = ["Content-Type"] } == [])
    }

    @Test(arguments: ["PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func `nothing is said of the body of another method`(method: String) throws {
        #expect(try types(method) == [])
    }

    @Test func `nothing is said of no body`() throws {
        #expect(try types("POST", "") == [] && types("GET", "") == [])
        #expect(try freeze("http://a.test/", bodyLength: 0) { $0.httpMethod = "POST" }.values("Content-Type") == [])
        let brought = try freeze("http://a.test/", bodyLength: 7) { $0.httpMethod = "POST" }
        #expect(brought.values("Content-Type") == [form] && brought.values("Content-Length") == ["7"])
    }

    @Test func `a stream is a form, whether its length is known or not`() throws {
        for length in [nil, "3"] {
            var request = URLRequest("POST", try #require(URL(string: "http://a.test/")))
            request.httpBodyStream = InputStream(data: Data("a=b".utf8))
            request.setValue(length, forHTTPHeaderField: "Content-Length")
            let frozen = try RequestFreezer.freeze(request, defaults: testDefaults, plan: .stream)
            #expect(frozen.values("Content-Type") == [form] && (frozen.body.framing == .chunked) == (length == nil))
        }
    }
}
