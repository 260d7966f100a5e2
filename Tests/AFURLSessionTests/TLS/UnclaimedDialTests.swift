import AFTLS

extension SecuredTests {
    /// Connections in the making whose requests were served by others meanwhile.
    struct UnclaimedDials {
        @Test("T-TLS-30 a server is not trusted while there is no delegate to ask", arguments: TLSVersion.allCases)
        func question(version: TLSVersion) async throws {
            let site = try SecuredSite()
            let delegate = TrustDelegate { TrustDelegate.trusting($0) }
            let session = site.session(delegate: delegate) { $0.speak(version) }

            try await Self.leaveHandshake(of: session, with: site)
            #expect(delegate.methods.value.count == 1)
            try await Self.useBoth(of: session, with: site)

            #expect(delegate.methods.value.count == 2 && site.server.acceptedConnections == 2)
        }

        @Test("T-TLS-30 no identity is shown while there is no delegate to ask", arguments: TLSVersion.allCases)
        func identity(version: TLSVersion) async throws {
            let site = try SecuredSite { tls, _ in tls.clientCertificates = .required() }
            let client = try site.authority.issueClient("somebody")
            let identity = try ClientIdentity(
                certificates: [client.certificate],
                privateKeyPEM: Array(client.privateKeyPEM.utf8)
            )
            let delegate = TrustDelegate { challenge in
                guard challenge.protectionSpace.serverTrust == nil else { return TrustDelegate.trusting(challenge) }
                return (.useCredential, URLCredential(identity: identity))
            }
            let session = site.session(delegate: delegate) { $0.speak(version) }

            try await Self.leaveHandshake(of: session, with: site)
            try await Self.useBoth(of: session, with: site)

            #expect(site.server.connections.allSatisfy { $0.tls?.clientCertificates == [client.certificate] })
        }

        @Test("a server that gives up while no request waits fails none", arguments: TLSVersion.allCases)
        func impatientServer(version: TLSVersion) async throws {
            let site = try SecuredSite()
            let delegate = TrustDelegate { TrustDelegate.trusting($0) }
            let session = site.session(delegate: delegate) { $0.speak(version) }
            try await Self.leaveHandshake(of: session, with: site)

            site.server.stop()
            // By then the network thread has seen the end of both connections.
            for _ in 1...2 { await session.settled() }
            let tls = ServerTLS(try site.authority.issue(for: "127.0.0.1"))
            let successor = try TestServer(on: site.server.address, tls: tls)
            successor.route("POST", "/late", .text("late"))
            // Nothing that could be sent twice.
            var request = URLRequest(url: successor.url("/late"))
            request.httpMethod = "POST"
            let answer = try await session.outcome(of: request)

            #expect(answer.text == "late" && successor.acceptedConnections == 1)
        }

        /// Leaves a second connection behind before its server is judged: the request that it was for has been served by
        /// the first one.
        private static func leaveHandshake(of session: URLSession, with site: SecuredSite) async throws {
            let outcomes = Outcomes()
            site.server.script(on: .connection(2), .pause(until: "go"), .handshake, .serve)
            for _ in 1...2 {
                session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler).resume()
            }
            #expect(try await outcomes.wait(for: 2).allSatisfy { $0.text == "hello" })
            try await site.server.waitForConnections(2)
            site.server.signal("go")
            try await eventually { site.server.connections[1].tls?.offeredVersions.isEmpty == false }
            for _ in 1...100 { await session.settled() }
        }

        /// Needs the second connection, since the first one is busy.
        private static func useBoth(of session: URLSession, with site: SecuredSite) async throws {
            let held = Outcomes()
            site.server.route("GET", "/held", ServerReply.text("held").held(until: "end"))
            session.dataTask(with: site.server.url("/held"), completionHandler: held.handler).resume()
            try await site.server.waitForRequests(3)
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
            site.server.signal("end")
            #expect(try await held.first().text == "held")
        }

        @Test func `an answer on behalf of a task that was served meanwhile fails no other`() async throws {
            let site = try SecuredSite()
            site.server.route("GET", "/held", ServerReply.text("held").held(until: "end"))
            let delegate = PatientDelegate()
            let (first, held, last) = (Outcomes(), Outcomes(), Outcomes())
            let session = site.session(delegate: delegate) { $0.decisionTimeout = 60 }
            session.dataTask(with: site.server.url("/hello"), completionHandler: first.handler).resume()
            session.dataTask(with: site.server.url("/held"), completionHandler: held.handler).resume()
            let asked = try await delegate.asked.wait("two questions") { $0.count == 2 }

            // The first task's, and then the connection of both.
            asked[0].trust()
            #expect(try await first.first().text == "hello")
            try await site.server.waitForRequests(2)
            session.dataTask(with: site.server.url("/hello"), completionHandler: last.handler).resume()
            await session.settled()
            asked[1].cancel()
            let again = try await delegate.asked.wait("a third question") { $0.count == 3 }
            again[2].trust()

            #expect(try await last.first().text == "hello")
            site.server.signal("end")
            #expect(try await held.first().text == "held")
        }

        @Test func `T-TLS-30 a task that has ended without an answer has not decided for waiting ones`() async throws {
            let site = try SecuredSite()
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            queue.isSuspended = true
            var tls = TLSConfiguration()
            tls.anchors = .certificates([])
            let session = URLSession.loopback(queue: queue) { [tls] in
                $0.tls = tls
                $0.httpMaximumConnectionsPerHost = 1
            }
            let (silent, trusting) = (SilentDelegate(), TaskTrustDelegate())
            let answer = Outcomes()
            let first = session.dataTask(with: site.server.url("/hello"))
            first.delegate = silent
            first.resume()
            try await eventually { queue.operationCount > 0 }
            let second = session.dataTask(with: site.server.url("/hello"), completionHandler: answer.handler)
            second.delegate = trusting
            second.resume()
            first.cancel()
            try await eventually { first.state == .completed }

            queue.isSuspended = false

            #expect(try await answer.first().text == "hello")
            // Each delegate's connection is its own.
            #expect(trusting.count == 1 && site.server.acceptedConnections == 2)
        }

        @Test func `a delegate that refuses is asked once for each request`() async throws {
            let site = try SecuredSite()
            let delegate = TrustDelegate { _ in (.cancelAuthenticationChallenge, nil) }
            let outcomes = Outcomes()
            let session = site.session(delegate: delegate)
            for _ in 1...6 {
                session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler).resume()
            }

            #expect(try await outcomes.wait(for: 6).allSatisfy { $0.code == -999 })
            #expect(delegate.methods.value.count == 6)
        }
    }
}

/// Keeps questions until the test answers them.
private final class PatientDelegate: URLSessionDataDelegate {
    struct Question: Sendable {
        let server: ServerTrust?
        let answer: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

        func trust() { answer(.useCredential, server.map { URLCredential(trust: $0) }) }
        func cancel() { answer(.cancelAuthenticationChallenge, nil) }
    }

    let asked = Watched<[Question]>([])

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        asked.change { $0.append(Question(server: challenge.protectionSpace.serverTrust, answer: completionHandler)) }
    }
}
