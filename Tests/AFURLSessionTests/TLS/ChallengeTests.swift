import AFTLS

extension SecuredTests {
    /// What delegates can say about a server.
    struct Challenges {
        private let site: SecuredSite

        init() throws {
            site = try SecuredSite()
        }

        private var untrusting: (inout TLSConfiguration) -> Void { { $0.anchors = .certificates([]) } }

        @Test func `a delegate can trust a server that nothing else trusts`() async throws {
            let delegate = TrustDelegate { TrustDelegate.trusting($0) }

            let outcome = try await site.session(delegate: delegate, untrusting).outcome(of: site.server.url("/hello"))

            #expect(outcome.text == "hello", "\(outcome)")
            #expect(delegate.methods.value == [NSURLAuthenticationMethodServerTrust])
            let trust = try #require(delegate.trusts.withLock { $0.first })
            #expect(trust.host == "127.0.0.1" && !trust.evaluation.isTrusted && trust.servedChain.count == 1)
        }

        @Test(
            arguments: [
                (.performDefaultHandling, -1203), (.cancelAuthenticationChallenge, -999),
                (.rejectProtectionSpace, -1202),
                (.useCredential, -1202),
            ] as [(URLSession.AuthChallengeDisposition, Int)]
        )
        func `every other answer refuses an untrusted server`(
            disposition: URLSession.AuthChallengeDisposition,
            code: Int
        ) async throws {
            let delegate = TrustDelegate { _ in (disposition, nil) }

            let outcome = try await site.session(delegate: delegate, untrusting).outcome(of: site.server.url("/hello"))

            #expect(outcome.code == code, "\(outcome)")
            #expect(try await site.ended().received.isEmpty)
        }

        @Test func `default handling accepts a server that the standard evaluation trusts`() async throws {
            let delegate = TrustDelegate { _ in (.performDefaultHandling, nil) }

            let outcome = try await site.session(delegate: delegate).outcome(of: site.server.url("/hello"))

            #expect(outcome.text == "hello")
        }

        @Test func `a credential for another server says nothing about this one`() async throws {
            let stranger = try CertificateAuthority().issue(for: "127.0.0.1").certificate
            let delegate = TrustDelegate { _ in
                (.useCredential, URLCredential(trust: ServerTrust(servedChain: [stranger], host: "127.0.0.1")))
            }

            let outcome = try await site.session(delegate: delegate, untrusting).outcome(of: site.server.url("/hello"))

            #expect(outcome.code == -1202)
        }

        @Test("a delegate that never answers is a refusal after the deadline, T-TLS-29")
        func silence() async throws {
            let delegate = TrustDelegate { _ in nil }
            let session = site.session(delegate: delegate) { $0.decisionTimeout = 0.1 }

            let outcome = try await session.outcome(of: site.server.url("/hello"))

            #expect(outcome.code == -1202 && outcome.error?.loadFailure?.detail == .delegate, "\(outcome)")
            #expect(try await site.ended().received.isEmpty)
        }

        @Test("the first of two answers counts, T-TLS-29")
        func twoAnswers() async throws {
            let delegate = RepeatingDelegate()

            let outcome = try await site.session(delegate: delegate, untrusting).outcome(of: site.server.url("/hello"))

            #expect(outcome.code == -999)
        }

        @Test("an answer after the task was cancelled comes to nothing, T-TLS-29")
        func lateAnswer() async throws {
            let delegate = TrustDelegate(after: .milliseconds(50)) { TrustDelegate.trusting($0) }
            let session = site.session(delegate: delegate, untrusting)
            let outcomes = Outcomes()
            let task = session.dataTask(with: site.server.url("/hello"), completionHandler: outcomes.handler)
            task.resume()
            try await delegate.methods.wait("the challenge") { !$0.isEmpty }

            task.cancel()

            #expect(try await outcomes.first().code == -999)
            #expect(try await site.ended().received.isEmpty)
        }

        @Test func `a delegate without the method is no obstacle`() async throws {
            let log = EventLog()

            let session = site.session(delegate: log)

            for _ in 1...2 { #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello") }
        }

        @Test func `the task's method is asked where the session has none`() async throws {
            let delegate = TaskTrustDelegate()

            let outcome = try await site.session(delegate: delegate, untrusting).outcome(of: site.server.url("/hello"))

            #expect(outcome.text == "hello")
            #expect(delegate.methods == [NSURLAuthenticationMethodServerTrust])
        }

        @Test func `no delegate is asked about a server that an evaluator refused`() async throws {
            let delegate = TrustDelegate { TrustDelegate.trusting($0) }
            let session = site.session(delegate: delegate) { $0.evaluator = FixedEvaluator.refusing }

            let outcome = try await session.outcome(of: site.server.url("/hello"))

            #expect(outcome.code == -1202 && outcome.error?.loadFailure?.security?.rule == "pins of the test")
            #expect(delegate.methods.value.isEmpty)
        }

        @Test(arguments: [ServerTrustDecision.accept, .reject(rule: "pins of the test", explanation: "no pin matches")])
        func `an evaluator that takes its time holds up no other server`(decision: ServerTrustDecision) async throws {
            let (isAsked, mayDecide) = (Watched(false), DispatchSemaphore(value: 0))
            let evaluator = SlowEvaluator { _ in
                isAsked.change { $0 = true }
                mayDecide.wait()
                return decision
            }
            let delegate = TrustDelegate { _ in (.performDefaultHandling, nil) }
            let session = site.session(delegate: delegate) { $0.evaluator = evaluator }
            let judged = Outcomes()
            session.dataTask(with: site.server.url("/hello"), completionHandler: judged.handler).resume()
            _ = try await isAsked.wait("the evaluator") { $0 }

            let plain = try TestServer()
            plain.route("GET", "/plain", ServerReply.text("plain"))
            #expect(try await session.outcome(of: plain.url("/plain")).text == "plain")
            mayDecide.signal()

            let outcome = try await judged.first()
            if decision == .accept {
                #expect(outcome.text == "hello", "\(outcome)")
                #expect(delegate.methods.value == [NSURLAuthenticationMethodServerTrust])
            } else {
                #expect(outcome.code == -1202 && outcome.error?.loadFailure?.security?.rule == "pins of the test")
                #expect(delegate.methods.value.isEmpty)
                #expect(try await site.ended().received.isEmpty)
            }
        }

        @Test func `an evaluator that takes too long refuses, and is asked about the next handshake`() async throws {
            let (mayGoOn, isLate) = (DispatchSemaphore(value: 0), Lock(true))
            let evaluator = SlowEvaluator { _ in
                if isLate.withLock({ $0 }) { mayGoOn.wait() }
                return .accept
            }
            let session = site.session {
                $0.evaluator = evaluator
                $0.decisionTimeout = 0.05
            }

            let late = try await session.outcome(of: site.server.url("/hello"))
            #expect(late.code == -1202 && late.error?.loadFailure?.security?.rule == "time for a decision", "\(late)")
            #expect(try await site.ended().received.isEmpty)

            isLate.withLock { $0 = false }
            mayGoOn.signal()
            session.tls.decisionTimeout = 10
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
        }

        @Test func `a delegate can identify us`() async throws {
            let client = try site.authority.issueClient("somebody")
            let identity = try ClientIdentity(
                certificates: [client.certificate],
                privateKeyPEM: Array(client.privateKeyPEM.utf8)
            )
            var tls = ServerTLS(try site.authority.issue(for: "127.0.0.1"))
            tls.clientCertificates = .required(by: [site.authority.certificate])
            try site.server.use(tls: tls)
            let delegate = TrustDelegate { challenge in
                guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate
                else {
                    return (.performDefaultHandling, nil)
                }
                return (.useCredential, URLCredential(identity: identity))
            }

            let outcome = try await site.session(delegate: delegate).outcome(of: site.server.url("/hello"))

            #expect(outcome.text == "hello", "\(outcome)")
            #expect(site.server.connections[0].tls?.clientCertificates == [client.certificate])
            #expect(
                delegate.methods.value
                    == [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate]
            )
        }

        private static let withoutIdentity: [(URLSession.AuthChallengeDisposition, Int?)] = [
            (.cancelAuthenticationChallenge, -999), (.rejectProtectionSpace, nil), (.performDefaultHandling, nil),
            (.useCredential, nil),
        ]

        @Test("without an identity the handshake shows no certificate, or fails, T-TLS-79", arguments: withoutIdentity)
        func unidentified(disposition: URLSession.AuthChallengeDisposition, code: Int?) async throws {
            var tls = ServerTLS(try site.authority.issue(for: "127.0.0.1"))
            tls.clientCertificates = .requested
            try site.server.use(tls: tls)
            let delegate = TrustDelegate { challenge in
                guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate
                else {
                    return (.performDefaultHandling, nil)
                }
                let password = URLCredential(user: "somebody", password: "secret", persistence: .none)
                return (disposition, disposition == .useCredential ? password : nil)
            }

            let outcome = try await site.session(delegate: delegate).outcome(of: site.server.url("/hello"))

            #expect(outcome.code == code && (outcome.text == "hello") == (code == nil), "\(outcome)")
            #expect(delegate.methods.value.last == NSURLAuthenticationMethodClientCertificate)
            #expect(site.server.requests.count == (code == nil ? 1 : 0))
            #expect(site.server.connections[0].tls?.clientCertificates ?? [] == [])
        }
    }
}

/// Answers twice: cancels, and then trusts.
private final class RepeatingDelegate: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.cancelAuthenticationChallenge, nil)
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        challenge.sender?.performDefaultHandling(for: challenge)
    }
}

/// An evaluator that the handshake waits for.
private struct SlowEvaluator: BlockingServerEvaluator {
    let decision: @Sendable (ServerTrust) -> ServerTrustDecision

    func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { decision(trust) }
}
