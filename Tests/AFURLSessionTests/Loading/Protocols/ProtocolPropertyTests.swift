/// What `URLProtocol` says of a request.
struct ProtocolPropertyTests {
    private let url = URL(string: "https://a.test/path")!

    @Test func `properties that classes set on an object go along with its value`() throws {
        let request = NSMutableURLRequest(url: url)
        URLProtocol.setProperty(7, forKey: "seen", in: request)
        #expect(URLProtocol.property(forKey: "seen", in: URLRequest(request)) as? Int == 7)

        URLProtocol.removeProperty(forKey: "seen", in: request)
        #expect(URLProtocol.property(forKey: "seen", in: URLRequest(request)) == nil)
    }

    @Test func `requests are equivalent for a cache if they are canonically the same`() throws {
        final class WithoutQuery: URLProtocol, @unchecked Sendable {
            override class func canonicalRequest(for request: URLRequest) -> URLRequest {
                var request = request
                var parts = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
                parts?.query = nil
                request.url = parts?.url
                return request
            }
        }
        let plain = URLRequest(url: url)
        let asked = URLRequest(url: try #require(URL(string: "https://a.test/path?a=1")))
        var other = plain
        other.setValue("de", forHTTPHeaderField: "Accept-Language")

        #expect(WithoutQuery.requestIsCacheEquivalent(plain, to: asked))
        #expect(!WithoutQuery.requestIsCacheEquivalent(plain, to: other))
        #expect(!URLProtocol.requestIsCacheEquivalent(plain, to: asked))
        #expect(URLProtocol.requestIsCacheEquivalent(plain, to: URLRequest(url: url)))
    }
}
