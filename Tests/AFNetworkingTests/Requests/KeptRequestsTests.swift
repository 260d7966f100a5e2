import AFBase
import AFURLTypes

@testable import AFNetworking
@testable import AFSerialization

struct KeptRequestsTests {
    private func key(_ text: String, method: String = "GET", base: String? = nil) -> KeptRequests.Key {
        KeptRequests.Key(text: text, method: method, base: base)
    }

    private func request(
        _ serializer: HTTPRequestSerializer,
        text: String,
        method: String = "GET",
        base: String? = "http://a.test/",
        parameters: Any? = nil
    ) throws -> URLRequest {
        let base = base.flatMap(URL.init).map(BaseURL.init)
        return try serializer.request(
            method,
            text: text,
            relativeTo: base,
            parameters: parameters,
            form: nil,
            keeping: RedirectPolicy()
        ).request
    }

    @Test func `eight are kept, and the oldest goes for the ninth`() throws {
        var kept = KeptRequests()
        for number in 0..<10 {
            kept.keep(URLRequest(url: try #require(URL(string: "http://a.test/\(number)"))), for: key("\(number)"))
        }
        for number in 0..<10 {
            #expect(kept[key("\(number)")]?.url?.lastPathComponent == (number < 2 ? nil : "\(number)"))
        }
        #expect(kept[key("5", method: "HEAD")] == nil)
        #expect(kept[key("5", base: "http://a.test/")] == nil)
    }

    @Test(arguments: ["GET", "HEAD", "DELETE"])
    func `a text without parameters makes its request once`(method: String) throws {
        let serializer = HTTPRequestSerializer()
        let first = try request(serializer, text: "x", method: method)
        #expect(serializer.kept(key("x", method: method, base: "http://a.test/")) == first)
        #expect(try request(serializer, text: "x", method: method) == first)
        #expect(try request(serializer, text: "x", method: method, base: "http://b.test/").url?.host == "b.test")
        #expect(try request(serializer, text: "http://c.test/", method: method, base: nil).url?.host == "c.test")
    }

    @Test(
        arguments: [
            { $0.setValue("1", forHTTPHeaderField: "X") }, { $0.timeoutInterval = 3 },
            { $0.cachePolicy = .reloadIgnoringLocalCacheData }, { $0.clearAuthorizationHeader() },
            { $0.httpMethodsEncodingParametersInURI = ["PUT"] }, { $0.setQueryStringSerializationWith(.defaultStyle) },
        ] as [@Sendable (HTTPRequestSerializer) -> Void]
    )
    func `a change of the settings forgets them`(change: @Sendable (HTTPRequestSerializer) -> Void) throws {
        let serializer = HTTPRequestSerializer()
        _ = try request(serializer, text: "x")
        change(serializer)
        #expect(serializer.kept(key("x", base: "http://a.test/")) == nil)
        let fresh = HTTPRequestSerializer()
        change(fresh)
        #expect(try request(serializer, text: "x") == request(fresh, text: "x"))
    }

    @Test func `what a caller changes is the caller's`() throws {
        let serializer = HTTPRequestSerializer()
        var own = try request(serializer, text: "x")
        own.setValue("secret", forHTTPHeaderField: "Authorization")
        own.url = URL(string: "http://other.test/")
        let next = try request(serializer, text: "x")
        #expect(next.value(forHTTPHeaderField: "Authorization") == nil)
        #expect(next.url?.host == "a.test")
    }

    @Test func `a request for another server, with parameters or by a subclass is made each time`() throws {
        let serializer = HTTPRequestSerializer()
        serializer.setAuthorizationHeaderFieldWithUsername("u", password: "p")
        for _ in 0..<2 {
            let request = try request(serializer, text: "http://other.test/x")
            #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
        }
        #expect(serializer.kept(key("http://other.test/x", base: "http://a.test/")) == nil)

        #expect(try request(serializer, text: "x", parameters: ["a": 1]).url?.query == "a=1")
        #expect(try request(serializer, text: "x", parameters: ["a": 2]).url?.query == "a=2")
        #expect(try request(serializer, text: "x").url?.query == nil)

        let counting = CountingSerializer()
        for number in 1...2 {
            #expect(try request(counting, text: "x").value(forHTTPHeaderField: "Number") == "\(number)")
        }
    }

    @Test func `each manager sends a kept request with the fields and the base of its own session`() async throws {
        let server = try TestServer()
        server.route("GET", "/a", .json("1"))
        let serializer = HTTPRequestSerializer()
        for name in ["one", "two", "one"] {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["X-Manager": name]
            let manager = HTTPSessionManager(baseURL: server.url(), sessionConfiguration: configuration)
            manager.requestSerializer = serializer
            for _ in 0..<2 { #expect(try await manager.get("a", decode: Int.self) == 1) }
            manager.invalidateSessionCancelingTasks(true, resetSession: false)
        }
        let sent = server.requests.map { $0.headers.values(of: "X-Manager") }
        #expect(sent == [["one"], ["one"], ["two"], ["two"], ["one"], ["one"]])
        #expect(serializer.kept(key("a", base: server.url().absoluteString)) != nil)
    }

    @Test func `a method whose parameters go into the body keeps nothing`() throws {
        let serializer = JSONRequestSerializer()
        let request = try request(serializer, text: "x", method: "POST")
        #expect(request.httpMethod == "POST" && request.httpBody == nil)
        #expect(serializer.kept(key("x", method: "POST", base: "http://a.test/")) == nil)
    }
}

private final class CountingSerializer: HTTPRequestSerializer, @unchecked Sendable {
    private let count = Lock(0)

    override func request(
        bySerializing request: URLRequest,
        withParameters parameters: Any?,
        error: NSErrorPointer
    ) -> URLRequest? {
        var result = super.request(bySerializing: request, withParameters: parameters, error: error)
        let number = count.withLock { count in
            count += 1
            return count
        }
        result?.setValue("\(number)", forHTTPHeaderField: "Number")
        return result
    }
}
