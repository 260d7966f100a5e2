/// Policies in sessions, against a server.
@Suite struct PinnedSessionTests {
    private let root: CertificateAuthority
    private let site: IssuedCertificate

    init() throws {
        root = try CertificateAuthority()
        site = try root.issue(for: "127.0.0.1")
    }

    private func session(_ policy: SecurityPolicy) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([root.certificate])
        configuration.tls.evaluator = policy
        return URLSession(configuration: configuration)
    }

    private func failure(_ session: URLSession, _ url: URL) async throws -> URLError {
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        return try #require(error)
    }

    @Test("a session refuses plain http to hosts that its policy pins, and does not connect, T-TLS-20")
    func plainText() async throws {
        let server = try TestServer()
        server.route("GET", "/hello", .text("hello"))
        let rule = SecurityPolicy()
        rule.hostRules = [try .pins("127.0.0.1", PinSet([.certificate(site.certificate)]))]
        let pinning = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        let exempt = pinning.copy()
        exempt.hostRules = [try .noPins("127.0.0.1")]

        for policy in [rule, pinning] {
            let error = try await failure(session(policy), server.url("/hello"))
            #expect(error.code == .unsupportedURL)
            #expect(error.loadFailure?.reason == .request && error.loadFailure?.detail == .scheme)
            #expect(error.loadFailure?.message.contains("Use https") == true)
        }
        #expect(server.connections.isEmpty)
        for policy in [exempt, SecurityPolicy()] {
            #expect(try await session(policy).data(from: server.url("/hello")).0 == Data("hello".utf8))
        }
    }

    @Test("a change of the policy object reaches a session's requests that wait, and its idle connections, T-TLS-12")
    func waiting() async throws {
        let server = try TestServer(tls: ServerTLS(site))
        server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
        server.route("GET", "/hello", .text("hello"))
        let policy = SecurityPolicy()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([root.certificate])
        configuration.tls.evaluator = policy
        configuration.httpMaximumConnectionsPerHost = 1
        let session = URLSession(configuration: configuration)
        let (held, waiting, idle) = (
            server.url("/held"), server.url("/hello"), URLSession(configuration: configuration)
        )
        #expect(try await idle.data(from: waiting).0 == Data("hello".utf8))
        let (late, refused) = (Heard<Data?>(), Heard<(any Error)?>())
        session.dataTask(with: held) { data, _, _ in late.add(data) }.resume()
        try await server.waitForRequests(2)
        session.dataTask(with: waiting) { _, _, error in refused.add(error) }.resume()
        // The answer comes from the network thread, when the task waits there.
        #expect(await session.allTasks.count == 2)

        let other = PinSet([.certificate(try CertificateAuthority().certificate)])
        policy.hostRules = [try .pins("127.0.0.1", other)]

        // The other session's connection is idle, and no task of it starts.
        try await server.waitForEnd(ofConnection: 1)
        #expect((try await refused.wait(for: 1)[0] as? URLError)?.loadFailure?.reason == .trust)
        server.signal("go")
        #expect(try await late.wait(for: 1) == [Data("late".utf8)])
        #expect(server.requests.count == 2)
    }

    @Test("a server with a pin is loaded from, one without receives nothing, T-TLS-15, T-TLS-22")
    func pinned() async throws {
        let server = try TestServer(tls: ServerTLS(site))
        server.route("GET", "/hello", .text("hello"))
        let policy = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        let session = session(policy)

        #expect(try await session.data(from: server.url("/hello")).0 == Data("hello".utf8))
        policy.pinnedCertificates = [Data(try CertificateAuthority().certificate.derBytes)]
        let error = try await failure(session, server.url("/secret"))

        #expect(error.code == .serverCertificateUntrusted)
        #expect(error.loadFailure?.security?.rule == "pinned public keys")
        #expect(error.loadFailure?.message.contains(site.certificate.pin.description) == true)
        #expect(server.requests.map(\.path) == ["/hello"])
    }
}
