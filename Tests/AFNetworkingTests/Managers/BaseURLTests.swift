@testable import AFNetworking

/// What a verb's text may choose, and which secrets are sent.
@Suite struct BaseURLTests {
    private static let canary = "canary-0f6d"

    private let site: ManagerSite
    /// Another origin: its port differs.
    private let other: TestServer
    private let heard = Heard<Answer>()

    init() throws {
        site = try ManagerSite()
        other = try TestServer()
        other.install(.everything)
    }

    /// A manager whose serializer and session have secrets for their own server.
    private func makeManager(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> HTTPSessionManager {
        let configuration = site.configuration
        configuration.httpAdditionalHeaders = ["X-Auth-Token": Self.canary, "X-Team": "blue"]
        configure(configuration)
        let base = site.server.url("/")
        let manager = site.owned(HTTPSessionManager(baseURL: base, sessionConfiguration: configuration))
        manager.requestSerializer.setValue("Bearer \(Self.canary)", forHTTPHeaderField: "Authorization")
        manager.requestSerializer.setValue(Self.canary, forHTTPHeaderField: "x-api-key")
        manager.requestSerializer.setValue("session=\(Self.canary)", forHTTPHeaderField: "Cookie")
        manager.requestSerializer.setValue("3.2", forHTTPHeaderField: "X-Client")
        manager.responseSerializer = HTTPResponseSerializer()
        return manager
    }

    private func url(_ text: String, relativeTo base: String) -> String? {
        site.task(text, relativeTo: base)?.originalRequest?.url?.absoluteString
    }

    @Test(
        "T-REQ-32 text without a scheme stays with the server of the base",
        arguments: [
            ("x", "https://h.test/a/b/x"), ("/x", "https://h.test/x"), ("../../../x", "https://h.test/x"),
            ("/../../x", "https://h.test/x"), ("..//evil.test/x", "https://h.test/a//evil.test/x"),
            ("/..//evil.test/x", "https://h.test//evil.test/x"), ("/.//evil.test", "https://h.test//evil.test"),
            (".//evil.test/x", "https://h.test/a/b//evil.test/x"), ("x//evil.test", "https://h.test/a/b/x//evil.test"),
            ("\\\\evil.test\\x", "https://h.test/a/b/%5C%5Cevil.test%5Cx"),
            ("/\\evil.test/x", "https://h.test/%5Cevil.test/x"),
            ("\\/evil.test/x", "https://h.test/a/b/%5C/evil.test/x"),
            ("/\\/evil.test/x", "https://h.test/%5C/evil.test/x"),
            ("%2F%2Fevil.test/x", "https://h.test/a/b/%2F%2Fevil.test/x"),
            ("/%2Fevil.test/x", "https://h.test/%2Fevil.test/x"),
            ("%5C%5Cevil.test/x", "https://h.test/a/b/%5C%5Cevil.test/x"),
            ("..%2F..%2F..%2Fx", "https://h.test/a/b/..%2F..%2F..%2Fx"),
            ("%2e%2e/%2e%2e/x", "https://h.test/a/b/%2e%2e/%2e%2e/x"),
            (" //evil.test/x", "https://h.test/a/b/%20//evil.test/x"),
            ("\t//evil.test/x", "https://h.test/a/b/%09//evil.test/x"),
            ("\r\n//evil.test/x", "https://h.test/a/b/%0D%0A//evil.test/x"),
            ("\0//evil.test/x", "https://h.test/a/b/%00//evil.test/x"),
            ("\u{FEFF}//evil.test/x", "https://h.test/a/b/%EF%BB%BF//evil.test/x"),
            ("／／evil.test", "https://h.test/a/b/%EF%BC%8F%EF%BC%8Fevil.test"),
            ("?//evil.test", "https://h.test/a/b/?//evil.test"), ("#//evil.test", "https://h.test/a/b/#//evil.test"),
            (";//evil.test", "https://h.test/a/b/;//evil.test"), ("@evil.test/x", "https://h.test/a/b/@evil.test/x"),
            ("./http://evil.test/", "https://h.test/a/b/http://evil.test/"),
            ("/http://evil.test/", "https://h.test/http://evil.test/"),
            ("//h.test/x", "https://h.test/x"), ("//H.TEST:443/x", "https://H.TEST:443/x"),
        ]
    )
    func staying(text: String, expected: String) {
        #expect(url(text, relativeTo: "https://h.test/a/b/") == expected)
    }

    @Test func `T-REQ-32 text that is too long for a request is not mistaken for another server`() async throws {
        let path = String(repeating: "x", count: 70_000)
        #expect(url(path, relativeTo: "https://h.test/a/") == "https://h.test/a/\(path)")
    }

    @Test(
        "T-REQ-32 text that names another server without a scheme, or no server, is refused",
        arguments: [
            "//evil.test/x", "//evil.test", "///evil.test/x", "////evil.test/x", "//", "//evil.test:443/x",
            "//h.test@evil.test/", "//h.test:443@evil.test/", "//h.test:8443/x", "//h.test.evil.test/",
            "//[::1]/x", "//127.1/", "//h.test%2eevil.test/", "//h.test%00.evil.test/", "//evil.test?h.test",
            "//evil.test#h.test", "file:///etc/passwd", "FILE:/etc/passwd", "data:text/plain,x", "ftp://h.test/x",
            "javascript:alert(1)", "h.test:443/x", "a:b", "ht\ttp://evil.test/", "+://evil.test/",
        ]
    )
    func refused(text: String) async throws {
        #expect(url(text, relativeTo: "https://h.test/a/b/") == nil)
        let manager = HTTPRequestOperationManager(baseURL: URL(string: "https://h.test/a/b/"))
        let operation = manager.get(text, parameters: nil, success: nil) { operation, error in
            heard.add(Answer(error: error as NSError))
        }
        let error = try await heard.first.error
        #expect(operation == nil && error?.domain == HTTPRequestSerializer.errorDomain)
        #expect([NSURLErrorBadURL, NSURLErrorUnsupportedURL].contains(error?.code ?? 0))
        #expect(error?.localizedDescription.contains("evil") == false)
    }

    @Test(
        "T-REQ-32 6.2 a whole URL of another server is requested, as in AFNetworking",
        arguments: [
            "http://h.test/x", "https://evil.test/x", "HTTPS://evil.test/x", "https://h.test:8443/x",
            "https://h.test@evil.test/", "https://h.test.evil.test/",
        ]
    )
    func whole(text: String) {
        #expect(url(text, relativeTo: "https://h.test/a/b/") == text)
    }

    @Test func `T-REQ-32 text that begins with //host reaches no other server`() async throws {
        let manager = makeManager()
        let place = "//127.0.0.1:\(other.port)/get"
        #expect(manager.get(place, parameters: nil, success: heard.success, failure: heard.failure) == nil)
        let error = try await heard.first.error
        #expect(error?.code == NSURLErrorBadURL)
        #expect(error?.localizedDescription.contains("base URL") == true)
        await #expect(throws: RequestFailure.self) { try await manager.post(place, parameters: ["a": "b"]) }
        #expect(other.acceptedConnections == 0 && site.server.requests.isEmpty)
    }

    @Test func `T-REQ-32 a manager's secrets for its server go to no other`() async throws {
        let manager = makeManager { $0.redirectPolicy.sensitiveFields = ["x-client"] }
        _ = try await manager.get(other.url("/get").absoluteString)
        _ = try await manager.post(other.url("/post").absoluteString, parameters: ["a": "b"])
        _ = try await manager.post(other.url("/post").absoluteString) { $0.appendPart(withFormData: Data(), name: "n") }
        #expect(other.requests.count == 3)
        for request in other.requests {
            #expect(!String(decoding: request.rawHead, as: UTF8.self).contains(Self.canary))
            #expect(request.headers["X-Client"] == nil && request.headers["X-Team"] == "blue")
            #expect(request.headers["User-Agent"] != nil)
        }
        for text in ["get", site.server.url("/get").absoluteString] { _ = try await manager.get(text) }
        for request in site.server.requests {
            #expect(request.headers["Authorization"] == "Bearer \(Self.canary)")
            #expect(request.headers["X-Api-Key"] == Self.canary && request.headers["X-Auth-Token"] == Self.canary)
            #expect(request.headers["Cookie"] == "session=\(Self.canary)" && request.headers["X-Client"] == "3.2")
        }
        #expect(site.server.requests.count == 2)
    }

    /// A serializer that sets fields by server.
    private final class Signing: HTTPRequestSerializer, @unchecked Sendable {
        override func request(withMethod method: String, urlString: String, parameters: Any?) throws -> URLRequest {
            var request = try super.request(withMethod: method, urlString: urlString, parameters: parameters)
            request.setValue("signed for \(request.url?.port ?? 0)", forHTTPHeaderField: "Authorization")
            return request
        }
    }

    @Test func `T-REQ-32 fields that a call or a serializer sets for another server are sent`() async throws {
        let manager = makeManager()
        let place = other.url("/get").absoluteString
        _ = try await manager.get(place, headers: ["Authorization": "for the other one"])
        manager.requestSerializer = Signing()
        _ = try await manager.get(place)
        #expect(
            other.requests.map { $0.headers["Authorization"] }
                == ["for the other one", "signed for \(other.port)"]
        )
    }

    @Test func `T-REQ-32 without a base no field is kept back`() async throws {
        let manager = site.owned(HTTPSessionManager(sessionConfiguration: site.configuration))
        manager.requestSerializer.setAuthorizationHeaderField(withUsername: "user", password: "passwd")
        _ = try await manager.get(other.url("/hidden-basic-auth/user/passwd").absoluteString)
        #expect(await #expect(throws: RequestFailure.self) { try await manager.get("//h.test/x") } != nil)
    }

    @Test func `T-REQ-32 an operation manager's credential and fields are for its own server`() async throws {
        let manager = HTTPRequestOperationManager(baseURL: site.server.url("/"))
        manager.requestSerializer.setValue(Self.canary, forHTTPHeaderField: "Authorization")
        manager.credential = URLCredential(user: "user", password: "passwd", persistence: .none)
        manager.shouldUseCredentialStorage = false
        let statuses = Heard<Int>()
        let get: @Sendable (String) -> Void = { text in
            manager.get(text, parameters: nil) { operation, _ in
                statuses.add(operation.response?.statusCode ?? 0)
            } failure: { operation, _ in
                statuses.add(operation?.response?.statusCode ?? 0)
            }
        }
        get(other.url("/basic-auth/user/passwd").absoluteString)
        #expect(try await statuses.first == 401)
        #expect(other.requests.map { $0.headers["Authorization"] } == [nil])
        manager.requestSerializer.clearAuthorizationHeader()
        get("basic-auth/user/passwd")
        #expect(try await statuses.wait(for: 2) == [401, 200])
    }
}
