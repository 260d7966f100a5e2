/// A policy that changes while closures of the manager answer challenges.
@Suite struct ChallengePolicyTests {
    private let site: ManagerSite
    private let manager: HTTPSessionManager

    init() throws {
        site = try ManagerSite(tls: true)
        // The site's authority is not among these.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([try CertificateAuthority().certificate])
        manager = site.owned(HTTPSessionManager(baseURL: site.server.url("/"), sessionConfiguration: configuration))
        manager.responseSerializer = HTTPResponseSerializer()
    }

    /// Nil if the manager gets the response.
    private func code(_ path: String = "get", from manager: HTTPSessionManager? = nil) async -> URLError.Code? {
        do {
            try await (manager ?? self.manager).get(path)
            return nil
        } catch {
            return URLError.Code(rawValue: (error.error as NSError).code)
        }
    }

    private func leaveToPolicy(_ manager: HTTPSessionManager) {
        manager.setAuthenticationChallengeHandler { _, _, _, _ in .performDefaultHandling }
    }

    private func trustEveryServer(_ manager: HTTPSessionManager) {
        manager.setAuthenticationChallengeHandler { _, _, challenge, _ in
            challenge.protectionSpace.serverTrust.map { .credential(URLCredential(trust: $0)) }
                ?? .performDefaultHandling
        }
    }

    /// A task that the test resumes after it has changed the policy.
    private func makeTask(
        _ manager: HTTPSessionManager,
        at site: ManagerSite,
        _ heard: Heard<Answer>
    ) -> URLSessionDataTask {
        manager.dataTask(with: site.request("/get"), completionHandler: heard.completion)
    }

    private func acceptEveryServer(_ manager: HTTPSessionManager) {
        manager.securityPolicy.allowInvalidCertificates = true
        manager.securityPolicy.validatesDomainName = false
    }

    private static func otherPins() throws -> [HostRule] {
        [try .pins("127.0.0.1", PinSet([.publicKey(try CertificateAuthority().certificate.pin)]))]
    }

    @Test(arguments: [false, true])
    func `T-TLS-10 a stricter policy gets no connection that a former one accepted`(isInPlace: Bool) async throws {
        leaveToPolicy(manager)
        acceptEveryServer(manager)
        #expect(await code() == nil)

        if isInPlace {
            manager.securityPolicy.allowInvalidCertificates = false
            manager.securityPolicy.validatesDomainName = true
        } else {
            manager.securityPolicy = SecurityPolicy()
        }

        #expect(await code() == .serverCertificateUntrusted)
        #expect(site.server.requests.count == 1)
    }

    @Test func `T-TLS-10 a stricter policy gets no response that is stored of a server that it refuses`() async throws {
        leaveToPolicy(manager)
        acceptEveryServer(manager)
        #expect(await code("cache/60") == nil)
        #expect(await code("cache/60") == nil)
        #expect(site.server.requests.count == 1)

        manager.securityPolicy.allowInvalidCertificates = false

        #expect(await code("cache/60") == .serverCertificateUntrusted)
        #expect(site.server.requests.count == 1)
    }

    @Test func `T-TLS-10 a new closure gets no connection that a former one trusted`() async throws {
        trustEveryServer(manager)
        #expect(await code() == nil)
        leaveToPolicy(manager)

        #expect(await code() == .serverCertificateUntrusted)
        #expect(site.server.requests.count == 1)
    }

    @Test func `T-TLS-10 two changes in a row do not undo each other`() async throws {
        trustEveryServer(manager)
        #expect(await code() == nil)
        manager.setAuthenticationChallengeHandler(nil)
        leaveToPolicy(manager)

        #expect(await code() == .serverCertificateUntrusted)
        #expect(site.server.requests.count == 1)
    }

    @Test func `T-TLS-10 a policy that begins to pin judges the tasks that are resumed after it`() async throws {
        trustEveryServer(manager)
        #expect(await code() == nil)
        let heard = Heard<Answer>()
        let made = makeTask(manager, at: site, heard)
        let socket = try manager.webSocket("ws/echo")
        var events = try manager.events("events/3").makeAsyncIterator()

        manager.securityPolicy.hostRules = try Self.otherPins()

        made.resume()
        #expect(try await heard.first.error?.code == URLError.Code.serverCertificateUntrusted.rawValue)
        await #expect { try await socket.open() } throws: { ($0 as? URLError)?.loadFailure?.reason == .trust }
        await #expect { try await events.next() } throws: { ($0 as? URLError)?.loadFailure?.reason == .trust }
        #expect(site.server.requests.count == 1)
    }

    @Test func `T-TLS-10 a policy that begins to pin forbids plain http to tasks that are resumed after it`()
        async throws
    {
        let site = try ManagerSite()
        let manager = site.manager
        manager.responseSerializer = HTTPResponseSerializer()
        trustEveryServer(manager)
        #expect(await code(from: manager) == nil)
        let heard = Heard<Answer>()
        let made = makeTask(manager, at: site, heard)
        let socket = try manager.webSocket("ws/echo")

        manager.securityPolicy.hostRules = try Self.otherPins()

        made.resume()
        #expect(try await heard.first.error?.code == URLError.Code.unsupportedURL.rawValue)
        await #expect(throws: URLError.self) { try await socket.open() }
        #expect(await code(from: manager) != nil)
        #expect(site.server.requests.count == 1)
    }

    @Test func `the error of a WebSocket says that its server is not trusted`() async throws {
        leaveToPolicy(manager)
        let socket = try manager.webSocket("ws/echo")

        await #expect { try await socket.open() } throws: { error in
            let error = error as? URLError
            return error?.code != .cancelled && error?.loadFailure?.reason == .trust
        }
        #expect(site.server.requests.isEmpty)
    }

    @Test func `a server that the session's block leaves to the policy is refused as untrusted, not cancelled`()
        async throws
    {
        manager.setSessionDidReceiveAuthenticationChallengeBlock { _, _, _ in .performDefaultHandling }

        #expect(await code() == .serverCertificateUntrusted)
        #expect(site.server.requests.isEmpty)
    }

    @Test func `a WebSocket of a manager whose session is over is cancelled without being resumed`() async throws {
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
        let socket = try manager.webSocket("ws/echo")

        await #expect(throws: URLError.self) { try await socket.receive() }
    }

    private final class API: HTTPSessionManager, @unchecked Sendable {}

    @Test(arguments: [false, true])
    func `the cache answers over TLS, also for a manager of a class of the program's`(isSubclass: Bool) async throws {
        let url = site.server.url("/")
        let manager =
            isSubclass
            ? API(baseURL: url, sessionConfiguration: site.configuration)
            : HTTPSessionManager(baseURL: url, sessionConfiguration: site.configuration)
        _ = site.owned(manager)
        manager.responseSerializer = HTTPResponseSerializer()

        for _ in 0..<3 { #expect(await code("cache/60", from: manager) == nil) }

        #expect(site.server.requests.count == 1)
    }
}
