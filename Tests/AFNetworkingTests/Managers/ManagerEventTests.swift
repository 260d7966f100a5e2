/// Streams of events of a manager.
@Suite struct ManagerEventTests {
    private let site: ManagerSite
    private let manager: HTTPSessionManager

    init() throws {
        site = try ManagerSite(tls: true)
        manager = site.manager
    }

    /// Connects again after a tenth of a second.
    private var quick: EventStreamOptions {
        var options = EventStreamOptions()
        options.initialDelay = .zero
        return options
    }

    private func pinning(_ authority: CertificateAuthority?) throws -> SecurityPolicy {
        SecurityPolicy(pinningMode: .publicKey, certificates: [try #require(authority).certificate])
    }

    @Test func `T-SSE-09 a server without a pin gets no request of a stream, and is not asked again`() async throws {
        manager.securityPolicy = try pinning(CertificateAuthority())
        let stream = try manager.events("events/3", options: quick)

        let error = await #expect(throws: URLError.self) { for try await _ in stream {} }

        #expect(error?.code == .serverCertificateUntrusted)
        #expect(error?.loadFailure?.security?.rule == "pinned public keys")
        #expect(site.server.requests.isEmpty && site.server.connections.count == 1)
    }

    @Test func `T-SSE-09 closures hear once of a server without a pin, and of no event`() async throws {
        manager.securityPolicy = try pinning(CertificateAuthority())
        let words = Watched<[String]>([])
        let source = EventStreamReader(site.request("/events/3"), session: manager.session, options: quick) { event in
            words.change { $0.append(event.id) }
        } completion: { error in
            words.change { $0.append((error as? URLError)?.loadFailure?.security?.rule ?? "no error of a policy") }
        }
        source.resume()

        #expect(try await words.wait("the end") { !$0.isEmpty } == ["pinned public keys"])
        source.cancel()
        #expect(site.server.requests.isEmpty && site.server.connections.count == 1)
    }

    @Test func `a server with a pin is connected to as often as the stream needs it`() async throws {
        manager.securityPolicy = try pinning(site.root)
        var ids: [String] = []

        for try await event in try manager.events("events/3?per_response=2", options: quick) { ids.append(event.id) }

        #expect(ids == ["1", "2", "3"])
        #expect(site.server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "2", "3"])
    }

    @Test func `T-SSE-09 a policy that has changed judges the server when the stream connects again`() async throws {
        manager.securityPolicy = try pinning(site.root)
        var events = try manager.events("events/3?per_response=1", options: quick).makeAsyncIterator()

        #expect(try await events.next()?.id == "1")
        manager.securityPolicy = try pinning(CertificateAuthority())
        let error = await #expect(throws: URLError.self) { try await events.next() }

        #expect(error?.loadFailure?.security?.rule == "pinned public keys" && site.server.requests.count == 1)
    }

    @Test func `the fields of the serializer go with each request of a stream`() async throws {
        manager.requestSerializer.setValue("Bearer t", forHTTPHeaderField: "Authorization")

        for try await _ in try manager.events("events/2?per_response=1", headers: ["X-A": "b"], options: quick) {}

        let requests = site.server.requests
        #expect(requests.count == 3 && requests.allSatisfy { $0.headers["Authorization"] == "Bearer t" })
        #expect(requests.allSatisfy { $0.headers["X-A"] == "b" && $0.headers["Accept"] == "text/event-stream" })
    }

    @Test func `the manager's answer to a challenge goes along when the stream connects again`() async throws {
        site.server.route("GET", "/secret") { request in
            guard request.headers["Authorization"] != nil else {
                return .status(401).header("WWW-Authenticate", "Basic realm=\"r\"")
            }
            return request.headers["Last-Event-ID"] == nil ? .events("id: 1\ndata: a") : .status(204)
        }
        manager.setAuthenticationChallengeHandler { _, _, challenge, _ in
            guard challenge.protectionSpace.realm == "r" else { return .performDefaultHandling }
            return .credential(URLCredential(user: "me", password: "secret", persistence: .forSession))
        }
        var data: [String] = []

        for try await event in try manager.events("secret", options: quick) { data.append(event.data) }

        #expect(data == ["a"])
        #expect(site.server.requests.map { $0.headers["Authorization"] != nil } == [false, true, true])
    }

    @Test func `a manager whose session ends ends a stream that waits to connect again`() async throws {
        var slow = EventStreamOptions()
        (slow.initialDelay, slow.maximumDelay) = (.seconds(3600), .seconds(3600))
        let stream = try manager.events("events/3?per_response=1", options: slow)
        let seen = Watched(0)
        let reading = Task {
            for try await _ in stream { seen.change { $0 += 1 } }
        }
        try await seen.wait("the event") { $0 == 1 }

        manager.invalidateSessionCancelingTasks(false, resetSession: false)

        let error = await #expect(throws: URLError.self) { try await reading.value }
        #expect(error?.code == .cancelled && site.server.requests.count == 1)
    }
}
