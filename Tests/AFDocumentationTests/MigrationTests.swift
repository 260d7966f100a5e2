import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

#if canImport(AFURLSession)
    import AFURLSession
#elseif canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct User: Decodable, Sendable { let name: String }
private struct Form: Encodable, Sendable { let user: String }
private struct Ticket: Decodable, Sendable { let ticket: String }

/// The snippets of the article for those who come from AFNetworking; `ComingFromAFNetworkingTests` looks up its tables.
@Suite struct UsualCallsTests {
    private let site: Site
    private let shown = Heard<String>()

    init() throws {
        site = try Site()
        site.server.route("GET", "/users", .json(#"[{"name": "anna"}]"#))
    }

    @Test func `verbs with closures and with await`() async throws {
        let (url, shown) = (site.url("/"), shown)
        @Sendable func show(_ object: Any?) { shown.add("object") }
        @Sendable func report(_ error: any Error) { shown.add("error") }

        let manager = AFHTTPSessionManager(baseURL: url)
        manager.get("users", parameters: ["page": 2], headers: nil, progress: nil) { task, object in
            show(object)
        } failure: { task, error in
            report(error)
        }

        #expect(try await shown.wait() == ["object"])
        let users = try await manager.get("users", parameters: ["page": 2], decode: [User].self)
        #expect(users.map(\.name) == ["anna"])
        #expect(site.owned(manager).baseURL == url)
    }

    @Test func `certificates are pinned`() throws {
        let manager = site.manager
        let certificates: Set<Data> = [Data(try CertificateAuthority().der)]

        manager.securityPolicy = AFSecurityPolicy(pinningMode: .publicKey, withPinnedCertificates: certificates)

        #expect(manager.securityPolicy.pinnedCertificates == certificates)
    }

    @Test func `an operation calls back`() async throws {
        let (queue, request, shown) = (OperationQueue(), URLRequest(url: site.url("/users")), shown)
        @Sendable func show(_ object: Any?) { shown.add("object") }
        @Sendable func report(_ error: any Error) { shown.add("error") }

        let operation = AFHTTPRequestOperation(request: request)
        operation.responseSerializer = AFJSONResponseSerializer()
        operation.setCompletionBlockWithSuccess { operation, object in
            show(object)
        } failure: { operation, error in
            report(error)
        }
        queue.addOperation(operation)

        #expect(try await shown.wait() == ["object"])
    }
}

/// The snippets of the article for those who come from Alamofire.
@Suite struct ComingFromAlamofireTests {
    private let key = "sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="
    private let spare = "sha256/hxqRlPTu1bMS/0DITB1SSu0vd4u/8l8TjPgfaAp63Gc="

    /// Compiled as it stands, and not run: there is no server at its URL.
    private func load() async throws -> User {
        let api = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1/"))
        let user = try await api.get("users/1", decode: User.self)
        return user
    }

    @Test func `values are sent and taken`() async throws {
        let site = try Site()
        site.server.route("POST", "/login") { request in
            let user = try request.json(as: [String: String].self)["user"] ?? ""
            return .json(#"{"ticket": "for \#(user)"}"#)
        }
        let api = site.manager

        api.requestSerializer = EncodableRequestSerializer()
        let ticket = try await api.post("login", parameters: Form(user: "anna"), decode: Ticket.self)

        #expect(ticket.ticket == "for anna")
    }

    @Test func `hosts have rules, and others are refused`() throws {
        let policy = SecurityPolicy()
        policy.hostRules = [
            try .pins("api.example.com", PinSet([key], backups: [spare])),
            try .noPins("*.cdn.example.com"),
        ]
        policy.refusesHostsWithoutRule = true

        #expect(policy.lint().isEmpty)
        #expect(policy.rule(for: "a.cdn.example.com")?.requirement == .noPins)
        #expect(policy.rule(for: "example.com") == nil)
    }

    @Test func `interceptors adapt and try again`() async throws {
        let site = try Site()
        site.server.enqueue(.status(503), .text("fine"))
        let configuration = site.configuration

        configuration.requestInterceptors = [
            AdaptingInterceptor { request, _ in
                var request = request
                request.setValue("2", forHTTPHeaderField: "X-Api-Version")
                return request
            },
            RetryRules(maximumAttempts: 3),
        ]

        _ = try await site.owned(URLSession(configuration: configuration)).data(from: site.url("/none"))
        #expect(site.server.requests.map { $0.headers["X-Api-Version"] } == ["2", "2"])
    }

    @Test func `forms, files and bytes`() async throws {
        let site = try Site()
        site.server.route("POST", "/photos", .json("{}"))
        let photo = Data("picture".utf8)
        let (api, url) = (site.manager, site.url("/bytes/100"))

        try await api.post("photos") { form in
            form.appendPart(withFileData: photo, name: "photo", fileName: "a.png", mimeType: "image/png")
        }
        let (file, _) = try await api.session.download(from: url)
        let (bytes, _) = try await api.session.bytes(from: url)

        #expect(try Data(contentsOf: file).count == 100)
        #expect(try await bytes.reduce(0) { count, _ in count + 1 } == 100)
        try FileManager.default.removeItem(at: file)
    }
}

/// The snippets of the article for those who come from AsyncHTTPClient.
@Suite struct ComingFromAsyncHTTPClientTests {
    private let site: Site

    init() throws {
        site = try Site()
    }

    @Test func `a request has a time`() async throws {
        let (session, url) = (site.session, site.url("/bytes/10"))

        var request = URLRequest(url: url)
        request.timeoutIntervalForResource = 30
        let (body, response) = try await session.data(for: request)

        #expect(body.count == 10 && (response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test func `a configuration has what the other one had`() throws {
        let folder = try ScratchFolder()
        let root = try folder.write("root.pem", Data(CertificateAuthority().pem.utf8)).path

        let configuration = URLSessionConfiguration.default
        configuration.tls.anchors = try .file(root)
        configuration.redirectPolicy.maximumCount = 5
        configuration.connectTimeout = 5
        configuration.timeoutIntervalForRequest = 30
        configuration.maximumContentRatio = 25
        let session = URLSession(configuration: configuration)

        configuration.requestInterceptors = [RetryRules()]

        #expect(session.configuration.connectTimeout == 5)
        #expect(configuration.requestInterceptors.count == 1)
    }

    @Test func `a body arrives in pieces`() async throws {
        let (session, url) = (site.session, site.url("/bytes/1000"))
        let sizes = Heard<Int>()
        func handle(_ piece: Data) async throws { sizes.add(piece.count) }

        let (bytes, _) = try await session.bytes(from: url)
        for try await piece in bytes.chunks {
            try await handle(piece)
        }

        #expect(sizes.all.reduce(0, +) == 1000)
    }

    @Test func `what cannot work fails at once`() async throws {
        let gone = try TestServer()
        let url = gone.url("/")
        gone.stop()
        let session = site.session

        let error = await #expect(throws: URLError.self) { _ = try await session.data(from: url) }

        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.loadFailure?.attempts.count == 1)
    }
}

/// The snippets of the article for those who come from Foundation's loader.
@Suite struct ComingFromURLSessionTests {
    @Test func `code for Foundation's loader loads`() async throws {
        let server = try TestServer()
        server.route("GET", "/", .text("hi"))
        let url = server.url("/")

        let (data, response) = try await URLSession.shared.data(from: url)
        let status = (response as? HTTPURLResponse)?.statusCode

        #expect(status == 200 && String(decoding: data, as: UTF8.self) == "hi")
    }

    @Test func `requests become objects and values again`() throws {
        let request = URLRequest(url: try #require(URL(string: "https://example.com/")))

        let marked = (request as NSURLRequest).mutableCopy() as! NSMutableURLRequest
        URLProtocol.setProperty(true, forKey: "isHandled", in: marked)
        let next = marked as URLRequest

        #expect(URLProtocol.property(forKey: "isHandled", in: next) as? Bool == true && next == request)
    }
}
