import AFTLS

/// Whole sessions against a real TLS server on the loopback interface.
enum SecuredTests {}

/// A TLS server on the loopback interface with an authority of its own.
struct SecuredSite {
    let authority: CertificateAuthority
    let server: TestServer

    init(_ change: (inout ServerTLS, CertificateAuthority) throws -> Void = { _, _ in }) throws {
        authority = try CertificateAuthority()
        var tls = ServerTLS(try authority.issue(for: "localhost", "127.0.0.1", "::1"))
        try change(&tls, authority)
        server = try TestServer(tls: tls)
        server.route("GET", "/hello", .text("hello"))
    }

    /// A session that trusts the authority of the site.
    func session(
        delegate: (any URLSessionDelegate)? = nil,
        _ configure: (inout TLSConfiguration) -> Void = { _ in }
    ) -> URLSession {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        configure(&tls)
        return .loopback(delegate: delegate) { $0.tls = tls }
    }

    /// What the server knows of its connection number `number`, once that has ended.
    func ended(_ number: Int = 1) async throws -> RecordedConnection {
        try await server.waitForEnd(ofConnection: number)
        return server.connections[number - 1]
    }
}

extension SecuredTests {
    struct Basics {
        @Test func `a known server has to pass the evaluator each time, T-TLS-13`() async throws {
            let site = try SecuredSite.parting()
            let asked = Watched(0)
            let session = site.narrowSession { tls in
                tls.resumesSessions = false
                tls.evaluator = FixedEvaluator { trust in
                    asked.change { $0 += 1 }
                    guard trust.evaluation.isTrusted, asked.value < 3 else {
                        return .reject(rule: "third", explanation: "enough")
                    }
                    return .accept
                }
            }

            let outcomes = try await site.bye(session, 3)

            #expect(outcomes.map(\.code) == [nil, nil, outcomes[2].code])
            #expect(outcomes[2].error != nil)
            #expect(asked.value == 3)
        }

        @Test(arguments: [TLSVersion.v1_2, .v1_3])
        func `a request is answered over each version`(version: TLSVersion) async throws {
            let site = try SecuredSite()
            let session = site.session {
                $0.minimumVersion = version
                $0.maximumVersion = version
            }

            let outcome = try await session.outcome(of: site.server.url("/hello"))

            #expect(outcome.text == "hello", "\(outcome)")
            let handshake = try #require(site.server.connections.first?.tls)
            #expect(handshake.version?.rawValue == version.rawValue)
            #expect(handshake.chosenProtocol == "http/1.1")
        }

        @Test func `requests one after the other share a secured connection`() async throws {
            let site = try SecuredSite()
            let session = site.session()

            for _ in 1...5 { #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello") }

            #expect(site.server.acceptedConnections == 1)
        }

        @Test(arguments: [TLSVersion.v1_2, .v1_3])
        func `a second connection has a short handshake`(version: TLSVersion) async throws {
            let site = try SecuredSite()
            site.server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
            let session = site.session { $0.maximumVersion = version }

            for _ in 1...3 { #expect(try await session.outcome(of: site.server.url("/bye")).text == "bye") }

            #expect(site.server.connections.map { $0.tls?.isResumed } == [false, true, true])
        }

        @Test(arguments: [0, 1, 1000, 16_384, 16_385, 300_000, 5_000_000])
        func `bodies of any size travel both ways`(size: Int) async throws {
            let site = try SecuredSite()
            site.server.route("POST", "/echo") { request in .data(request.body) }
            let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

            let outcome = try await site.session().outcome(of: URLRequest("POST", site.server.url("/echo"), body: body))

            #expect(outcome.data == body)
        }

        @Test func `an unknown authority is refused, and the error has everything in it`() async throws {
            let site = try SecuredSite()
            let session = site.session { $0.anchors = .certificates([]) }

            let outcome = try await session.outcome(of: site.server.url("/hello"))

            #expect(outcome.code == -1203, "\(outcome)")
            let failure = try #require(outcome.error?.loadFailure)
            #expect(failure.reason == .trust && failure.detail == .unknownRoot && failure.phase == .tls)
            #expect(failure.security?.reasons == [.unknownRoot])
            let served = try #require(failure.security?.servedChain.first)
            #expect(failure.description.contains(served.pin.description))
            let ended = try await site.ended()
            #expect(ended.received.isEmpty && ended.tls?.receivedAlert?.number == 48)
        }

        @Test func `a certificate for another host is -1202, whatever else is wrong with it`() async throws {
            let site = try SecuredSite { tls, authority in tls = ServerTLS(try authority.issue(for: "other.test")) }
            let old = try SecuredSite { tls, authority in
                tls = ServerTLS(
                    try authority.issue(for: "other.test") { template in
                        template.notBefore = Date(timeIntervalSinceNow: -9 * 86_400)
                        template.notAfter = Date(timeIntervalSinceNow: -86_400)
                    }
                )
            }
            let cases: [(SecuredSite, TrustAnchors?, [TrustFailure.Reason])] = [
                (site, nil, [.name]), (site, .certificates([]), [.name, .unknownRoot]), (old, nil, [.name, .expired]),
            ]

            for (site, anchors, reasons) in cases {
                let session = site.session { if let anchors { $0.anchors = anchors } }
                let outcome = try await session.outcome(of: site.server.url("/hello"))

                let failure = try #require(outcome.error?.loadFailure)
                #expect(outcome.code == -1202 && failure.reason == .trust && failure.detail == .name)
                #expect(failure.security?.reasons == reasons)
                #expect(failure.message.contains("is for other.test, not for"))
                #expect(failure.message.contains("besides") == (reasons.count > 1))
            }
        }

        @Test func `Foundation's names set the same versions`() {
            let configuration = URLSessionConfiguration.ephemeral
            #expect(configuration.tlsMinimumSupportedProtocolVersion == .TLSv12)
            #expect(configuration.tlsMaximumSupportedProtocolVersion == .TLSv13)

            configuration.tlsMinimumSupportedProtocolVersion = .TLSv13
            configuration.tlsMaximumSupportedProtocolVersion = .TLSv10

            #expect(configuration.tls.minimumVersion == .v1_3 && configuration.tls.maximumVersion == .v1_2)
            configuration.tlsMinimumSupportedProtocolVersion = .TLSv11
            #expect(configuration.tls.minimumVersion == .v1_2)
        }

        @Test func `metrics of a refused server say where it is`() async throws {
            let site = try SecuredSite()
            let log = EventLog()

            site.session(delegate: log) { $0.anchors = .certificates([]) }.dataTask(with: site.server.url("/")).resume()
            try await log.finished()

            let metrics = try #require(log.metrics.withLock { $0?.transactionMetrics.first })
            #expect(metrics.remotePort == Int(site.server.port) && metrics.remoteAddress == "127.0.0.1")
            #expect(metrics.secureConnectionStartDate != nil && metrics.secureConnectionEndDate == nil)
            #expect(metrics.requestStartDate == nil)
        }

        @Test func `metrics tell of the handshake`() async throws {
            let site = try SecuredSite()
            let log = EventLog()
            let session = site.session(delegate: log)

            session.dataTask(with: site.server.url("/hello")).resume()
            try await log.finished()

            let metrics = try #require(log.metrics.withLock { $0?.transactionMetrics.first })
            let start = try #require(metrics.secureConnectionStartDate)
            let end = try #require(metrics.secureConnectionEndDate)
            #expect(start <= end && metrics.connectStartDate ?? .distantFuture <= start)
            #expect(metrics.negotiatedTLSProtocolVersion == .TLSv13)
            #expect(metrics.negotiatedTLSCipherSuite != nil && !metrics.isResumedTLSSession)
        }
    }
}
