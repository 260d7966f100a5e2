import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

final class Directory: Sendable {
    let manager: HTTPSessionManager

    init(at url: URL?) {
        manager = HTTPSessionManager(baseURL: url)
    }

    deinit {
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    func name(ofUser number: Int) async throws -> String {
        try await manager.get("users/\(number)", decode: [String: String].self)["name"] ?? ""
    }
}

@Test func `a user has a name`() async throws {
    let server = try TestServer()
    server.route("GET", "/users/7", .json(#"{"name": "Ada"}"#))

    let name = try await Directory(at: server.url("/")).name(ofUser: 7)

    #expect(name == "Ada")
    #expect(server.requests.map(\.target) == ["/users/7"])
}

/// The snippets of the article about testing.
@Suite struct TestingYourCodeTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
    }

    private var directory: Directory {
        Directory(at: server.url("/"))
    }

    @Test func `things go wrong as they are told to`() async throws {
        defer { server.stop() }
        let directory = directory

        server.enqueue(.status(503), .status(503), .json(#"{"name": "Ada"}"#))

        for _ in 1...2 {
            let error = await #expect(throws: RequestFailure.self) { _ = try await directory.name(ofUser: 7) }
            #expect(error?.statusCode == 503)
        }
        #expect(try await directory.name(ofUser: 7) == "Ada")

        server.route("GET", "/users/8", ServerReply.json(#"{"name": "Grace"}"#).closing(after: 5))
        server.route("GET", "/users/9", ServerReply.json(#"{"name": "Joan"}"#).stalling(after: 5))
        server.script(.expectHead, .reset)

        let cut = await #expect(throws: RequestFailure.self) { _ = try await directory.name(ofUser: 8) }
        #expect(cut?.kind == .transport)
        let reset = await #expect(throws: RequestFailure.self) { _ = try await directory.name(ofUser: 8) }
        #expect(reset?.kind == .transport)
    }

    @Test func `a reply that is held waits for the test`() async throws {
        defer { server.stop() }
        let directory = directory

        server.route("GET", "/users/7", ServerReply.json(#"{"name": "Ada"}"#).held(until: "go"))
        async let name = directory.name(ofUser: 7)
        try await server.waitForRequests(1)
        #expect(!directory.manager.tasks.isEmpty)
        server.signal("go")
        #expect(try await name == "Ada")
    }

    @Test func `a server without the pin gets nothing`() async throws {
        let authority = try CertificateAuthority()
        let site = try authority.issue(for: "localhost")
        let other = try authority.issue(for: "localhost")
        let server = try TestServer(tls: ServerTLS(site))
        server.route("GET", "/secret", .text("42"))

        let policy = SecurityPolicy()
        policy.hostRules = [try .pins("localhost", PinSet([.publicKey(site.certificate.pin)]))]
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([authority.certificate])
        configuration.tls.evaluator = policy
        let session = URLSession(configuration: configuration)
        let url = server.url("/secret", host: "localhost")

        #expect(try await session.data(from: url).0 == Data("42".utf8))
        session.invalidateAndCancel()

        try server.use(tls: ServerTLS(other))
        let again = URLSession(configuration: configuration)
        await #expect(throws: URLError.self) { _ = try await again.data(from: url) }
        #expect(server.connections.last?.bytesReceived == 0)
    }

    @Test func `an authority of one's own is named, and looked at`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let authority = try CertificateAuthority("My CA") { $0.keyUsage = nil }
        try Data(authority.pem.utf8).write(to: URL(filePath: path))
        let configuration = URLSessionConfiguration.ephemeral
        var printed: [String] = []
        func print(_ flaw: AuthorityFlaw) { printed.append("\(flaw)") }

        configuration.tls.anchors = try .file(path)
        for flaw in configuration.tls.anchors.lint() { print(flaw) }

        #expect(printed == authority.certificate.authorityFlaws.map(\.message) && printed.count == 1)
    }

    @Test func `a request goes through a proxy`() async throws {
        server.route("GET", "/users/7", .text("Ada"))
        let configuration = URLSessionConfiguration.ephemeral

        let proxy = try TestProxy()
        proxy.rules.names["origin.test"] = server.address
        configuration.proxies = ProxyConfiguration(try ProxyServer(proxy.url.absoluteString))
        let session = URLSession(configuration: configuration)
        _ = try await session.data(from: URL(string: "http://origin.test/users/7")!)
        #expect(proxy.requests.map(\.target) == ["http://origin.test/users/7"])
    }

    @Test func `a class answers in place of the network`() async throws {
        let configuration = URLSessionConfiguration.ephemeral

        configuration.protocolClasses = [Stub.self]

        let session = URLSession(configuration: configuration)
        let (data, _) = try await session.data(from: server.url("/nowhere"))
        #expect(data == Data("hello".utf8) && server.requests.isEmpty)
    }
}

final class Stub: URLProtocol, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { true }

    override func startLoading() {
        let response = HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("hello".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }
}
