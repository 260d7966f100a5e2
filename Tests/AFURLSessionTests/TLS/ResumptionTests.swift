import AFTLS

extension SecuredTests {
    /// A short handshake skips the certificates, so it happens only where they would be judged alike.
    struct Resumption {
        enum Lax: CaseIterable {
            case evaluator
            case delegate
        }

        @Test("a session of a lax policy is never kept, T-TLS-01", arguments: TLSVersion.allCases, Lax.allCases)
        func laxThenStrict(version: TLSVersion, lax: Lax) async throws {
            let site = try SecuredSite.parting()
            let isLax = Lock(true)
            let delegate = TrustDelegate { challenge in
                isLax.withLock { $0 } ? TrustDelegate.trusting(challenge) : (.performDefaultHandling, nil)
            }
            let session = site.session(delegate: lax == .delegate ? delegate : nil) { tls in
                tls.speak(version)
                tls.anchors = .certificates([])
                if lax == .evaluator { tls.evaluator = FixedEvaluator.accepting }
            }
            #expect(try await site.bye(session, 2).map(\.text) == ["bye", "bye"])

            isLax.withLock { $0 = false }
            if lax == .evaluator { session.tls.evaluator = nil }

            #expect(try await site.bye(session)[0].code == -1203)
            let handshakes = try await site.handshakes()
            #expect(handshakes.count == 3 && handshakes.allSatisfy { $0.isFresh })
        }

        @Test(
            "a delegate that was asked about a server is asked about each connection to it, T-TLS-01",
            arguments: TLSVersion.allCases,
            [URLSession.AuthChallengeDisposition.useCredential, .performDefaultHandling]
        )
        func askedEachTime(version: TLSVersion, disposition: URLSession.AuthChallengeDisposition) async throws {
            let site = try SecuredSite.parting()
            let asked = Lock(0)
            let delegate = TrustDelegate { challenge in
                asked.withLock { $0 += 1 }
                return disposition == .useCredential ? TrustDelegate.trusting(challenge) : (disposition, nil)
            }
            let session = site.session(delegate: delegate) { $0.speak(version) }

            #expect(try await site.bye(session, 3).map(\.text) == ["bye", "bye", "bye"])

            #expect(asked.withLock { $0 } == 3)
            #expect(try await site.handshakes().allSatisfy { $0.isFresh })
        }

        @Test("a resumed connection brings what the next one is resumed with", arguments: TLSVersion.allCases)
        func again(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let session = site.session { $0.speak(version) }

            #expect(try await site.bye(session, 6).allSatisfy { $0.text == "bye" })

            #expect(try await site.handshakes().map(\.isResumed) == [false, true, true, true, true, true])
        }

        @Test("where nothing is to be resumed nothing is", arguments: TLSVersion.allCases)
        func never(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let session = site.session { tls in
                tls.speak(version)
                tls.resumesSessions = false
            }

            #expect(try await site.bye(session, 2).allSatisfy { $0.text == "bye" })

            #expect(try await site.handshakes().allSatisfy { $0.isFresh })
        }

        @Test("another session has nothing of a lax one, T-TLS-01, 14", arguments: TLSVersion.allCases)
        func sessionsApart(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let lax = site.session { $0.speak(version) }
            let pinned = site.session { tls in
                tls.speak(version)
                tls.evaluator = FixedEvaluator.refusing
            }

            for _ in 1...3 {
                #expect(try await site.bye(lax)[0].text == "bye")
                #expect(try await lax.outcome(of: site.server.url("/hello")).text == "hello")
                #expect(try await site.bye(pinned)[0].code == -1202)
            }

            lax.invalidateAndCancel()
            let handshakes = try await site.handshakes()
            let refused = handshakes.filter { $0.receivedAlert != nil }
            #expect(refused.count == 3 && refused.allSatisfy { $0.isFresh })
            #expect(handshakes.contains { $0.isResumed })
        }

        @Test("a ticket of one host says nothing about another, T-TLS-02", arguments: TLSVersion.allCases)
        func otherHost(version: TLSVersion) async throws {
            let site = try NamedSite(["a.test"])
            defer { site.close() }
            let session = site.session { $0.speak(version) }
            let (good, other) = (try #require(URL(string: "https://a.test/bye")), "https://b.test/bye")

            for _ in 1...2 { #expect(try await session.outcome(of: good).text == "bye") }
            let outcome = try await session.outcome(of: try #require(URL(string: other)))

            #expect(outcome.code == -1202 && outcome.detail == .name, "\(outcome)")
            let handshakes = try await site.server.waitUntilIdle().compactMap(\.tls)
            #expect(handshakes.map(\.isResumed) == [false, true, false])
            #expect(handshakes[2].isFresh && handshakes[2].serverName == "b.test")
        }

        @Test("with other anchors nothing is resumed, T-TLS-03", arguments: TLSVersion.allCases)
        func otherAnchors(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let session = site.session { $0.speak(version) }
            #expect(try await site.bye(session, 2).map(\.text) == ["bye", "bye"])

            session.tls.anchors = .certificates([try CertificateAuthority().certificate])

            let outcome = try await site.bye(session)[0]
            #expect(outcome.code == -1203 && outcome.detail == .unknownRoot, "\(outcome)")
            let handshakes = try await site.handshakes()
            #expect(handshakes.map(\.isResumed) == [false, true, false])
            #expect(handshakes[2].isFresh)
        }

        @Test("pins that were changed look at the certificates again, T-TLS-04", arguments: TLSVersion.allCases)
        func otherPins(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = FixedEvaluator([1]) {
                    $0.evaluation.isTrusted ? .accept : .reject(rule: "", explanation: "")
                }
            }
            #expect(try await site.bye(session, 2).map(\.text) == ["bye", "bye"])

            session.tls.evaluator = FixedEvaluator([2]) { _ in .reject(rule: "new pins", explanation: "none matches") }

            #expect(try await site.bye(session)[0].error?.loadFailure?.security?.rule == "new pins")
            let handshakes = try await site.handshakes()
            #expect(handshakes.map(\.isResumed) == [false, true, false])
            #expect(handshakes[2].isFresh)
        }

        @Test(
            "a resumed handshake shows the evaluator the chain of the first, T-TLS-04",
            arguments: TLSVersion.allCases
        )
        func chainOfTheFirst(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let seen = Lock<[TrustEvaluation]>([])
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = FixedEvaluator([1]) { trust in
                    seen.withLock { $0.append(trust.evaluation) }
                    return .accept
                }
            }

            #expect(try await site.bye(session, 3).allSatisfy { $0.text == "bye" })

            let evaluations = seen.withLock { $0 }
            #expect(evaluations.count == 3)
            for evaluation in evaluations {
                #expect(evaluation.isTrusted && evaluation.verifiedChain.count == 2)
                #expect(evaluation.verifiedChain.last == site.authority.certificate)
            }
            #expect(try await site.handshakes().map(\.isResumed) == [false, true, true])
        }

        @Test("a ticket whose chain no longer convinces is not offered, T-TLS-04", arguments: TLSVersion.allCases)
        func changeOfMind(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let calls = Lock(0)
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = FixedEvaluator([1]) { _ in
                    calls.withLock { calls in
                        calls += 1
                        return calls == 1 ? .accept : .reject(rule: "second thoughts", explanation: "no")
                    }
                }
            }

            #expect(try await site.bye(session, 2).map(\.code) == [nil, -1202])

            #expect(calls.withLock { $0 } == 3)
            #expect(try await site.handshakes().allSatisfy { $0.isFresh })
        }

        @Test("an evaluator of which nothing is known is asked each time, T-TLS-04", arguments: TLSVersion.allCases)
        func withoutFingerprint(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let calls = Lock(0)
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = FixedEvaluator { _ in
                    calls.withLock { $0 += 1 }
                    return .accept
                }
            }

            #expect(try await site.bye(session, 3).allSatisfy { $0.text == "bye" })

            #expect(calls.withLock { $0 } == 3)
            #expect(try await site.handshakes().allSatisfy { $0.isFresh })
        }

        @Test func `T-TLS-04 no chain at all is never trusted`() {
            let trust = ServerTrust(servedChain: [], host: "a.test", anchors: .certificates([]))

            #expect(!trust.evaluation.isTrusted && trust.evaluation.failure?.reason == .noCertificate)
            #expect(!trust.evaluate(.basicX509).isTrusted)
        }

        private static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

        @Test("a server meets each identity anew, T-TLS-05", arguments: TLSVersion.allCases, orders)
        func identities(version: TLSVersion, order: [Int]) async throws {
            let site = try SecuredSite.parting { tls, _ in tls.clientCertificates = .requested }
            let identities = [try site.identity("a"), try site.identity("b"), nil]
            let session = site.session { $0.speak(version) }

            for number in order {
                session.tls.identity = identities[number]
                #expect(try await site.bye(session)[0].text == "bye")
            }

            let handshakes = try await site.handshakes()
            #expect(handshakes.map(\.clientCertificates) == order.map { identities[$0]?.certificates ?? [] })
            #expect(handshakes.allSatisfy { $0.isFresh })
        }

        @Test("narrowing the hosts of an identity is a change of it, T-TLS-05")
        func narrowedIdentity() async throws {
            let site = try SecuredSite.parting { tls, _ in tls.clientCertificates = .requested }
            let session = site.session()
            session.tls.identity = try site.identity("a")
            #expect(try await site.bye(session)[0].text == "bye")

            session.tls.identity?.hosts = ["elsewhere.test"]

            #expect(try await site.bye(session)[0].text == "bye")
            let handshakes = try await site.handshakes()
            #expect(handshakes.map(\.clientCertificates.count) == [1, 0] && handshakes.allSatisfy { $0.isFresh })
        }

        @Test("no early data, even where the server invites it, T-TLS-09")
        func earlyData() async throws {
            let site = try SecuredSite.parting { tls, _ in tls.invitesEarlyData = true }
            let session = site.session { $0.speak(.v1_3) }

            #expect(try await site.bye(session, 3).allSatisfy { $0.text == "bye" })

            let handshakes = try await site.handshakes()
            #expect(handshakes.map(\.isResumed) == [false, true, true])
            #expect(handshakes.allSatisfy { !$0.offeredEarlyData })
        }

        @Test("a server that forgot its tickets gets a full handshake", arguments: TLSVersion.allCases)
        func forgottenTickets(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let session = site.session { $0.speak(version) }
            #expect(try await site.bye(session)[0].text == "bye")
            // A new secret, and the same certificate of the same authority.
            try site.server.use(tls: ServerTLS(try site.authority.issue(for: "127.0.0.1")))

            #expect(try await site.bye(session)[0].text == "bye")

            let handshakes = try await site.handshakes()
            #expect(handshakes[1].offeredTicket && !handshakes[1].isResumed)
        }

        @Test("a handshake that failed with a ticket is tried again without", arguments: TLSVersion.allCases)
        func failedResumption(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let certificate = try site.authority.issue(for: "127.0.0.1")
            let session = site.session { $0.speak(version) }
            #expect(try await site.bye(session, 2).map(\.text) == ["bye", "bye"])
            let faults: [ServerTLS.HandshakeFault] = [.alert(40), .close(after: 0), .reset(after: 20)]
            for fault in faults {
                var tls = ServerTLS(certificate)
                try site.server.use(tls: tls)
                #expect(try await site.bye(session)[0].text == "bye")
                tls.handshakeFault = fault
                try site.server.use(tls: tls)
                #expect(try await site.bye(session)[0].code != nil)
                try site.server.use(tls: ServerTLS(certificate))

                #expect(try await site.bye(session)[0].text == "bye")
                #expect(site.server.connections.last?.tls?.isFresh == true, "\(fault)")
            }
        }

        @Test("a server that forgot its tickets and changed hands is judged, T-TLS-03", arguments: TLSVersion.allCases)
        func changedHands(version: TLSVersion) async throws {
            let site = try SecuredSite.parting()
            let session = site.session { $0.speak(version) }
            #expect(try await site.bye(session)[0].text == "bye")
            try site.server.use(tls: ServerTLS(try CertificateAuthority().issue(for: "127.0.0.1")))

            #expect(try await site.bye(session)[0].code == -1203)
        }
    }
}
