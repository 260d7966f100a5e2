import AFTLS

extension SecuredTests {
    /// Which name, which moment, which authorities a server is judged by, and on which ways.
    struct Endpoints {
        // MARK: - The name

        private static let longName =
            [String](repeating: String(repeating: "a", count: 63), count: 3).joined(separator: ".") + "."
            + String(repeating: "b", count: 61)

        private static let names: [(String, String?)] = [
            ("api.test", "api.test"), ("API.Test", "api.test"), ("api.test.", "api.test"),
            ("xn--bcher-kva.test", "xn--bcher-kva.test"), ("localhost", "localhost"), ("127.0.0.1", nil),
            ("[::1]", nil), ("[fe80::1%25lo]", nil), (longName, longName),
        ]

        @Test("the name that is indicated is that of the URL, T-TLS-47", arguments: names)
        func serverName(host: String, name: String?) async throws {
            let site = try NamedSite(["api.test"])
            defer { site.close() }
            let hosts = Lock<[String]>([])
            let session = site.session { tls in
                tls.evaluator = FixedEvaluator { trust in
                    hosts.withLock { $0.append(trust.host) }
                    return .accept
                }
            }
            var request = URLRequest(url: try #require(URL(string: "https://\(host)/hello")))
            // What a Host field says is for the application, not for the connection.
            request.setValue("other.test", forHTTPHeaderField: "Host")

            let outcome = try await session.outcome(of: request)

            #expect(outcome.text == "hello", "\(outcome)")
            #expect(site.server.connections[0].tls?.serverName == name)
            #expect(hosts.withLock { $0 } != ["other.test"])
        }

        @Test("a Host field changes nothing about the certificate, T-TLS-47")
        func hostField() async throws {
            let site = try NamedSite(["api.test"])
            defer { site.close() }
            var request = URLRequest(url: try #require(URL(string: "https://wrong.test/hello")))
            request.setValue("api.test", forHTTPHeaderField: "Host")

            #expect(try await site.session().outcome(of: request).detail == .name)

            #expect(site.server.requests.isEmpty)
        }

        @Test func `T-TLS-47 a name that cannot be one is not dialled`() async throws {
            let site = try NamedSite(["api.test"])
            defer { site.close() }
            let tooLong = String(repeating: "a.", count: 127) + "test"
            for host in [tooLong, "a..test", ".test", String(repeating: "a", count: 64) + ".test"] {
                let url = try #require(URL(string: "https://\(host)/hello"))
                #expect(try await site.session().outcome(of: url).reason == .request, "\(host)")
            }
            #expect(site.server.acceptedConnections == 0)
        }

        // MARK: - The moment

        enum Part: CaseIterable {
            case leaf
            case intermediate
            case root
        }

        private static let begin = 1_750_000_000
        private static let end = 1_760_000_000

        private func datedSite(_ part: Part) throws -> SecuredSite {
            let limit: (inout CertificateTemplate) -> Void = { template in
                template.notBefore = Date(timeIntervalSince1970: Double(Self.begin))
                template.notAfter = Date(timeIntervalSince1970: Double(Self.end))
            }
            let wide: (inout CertificateTemplate) -> Void = { template in
                template.notBefore = Date(timeIntervalSince1970: 1_000_000_000)
                template.notAfter = Date(timeIntervalSince1970: 2_000_000_000)
            }
            let root = try CertificateAuthority(nil, part == .root ? limit : wide)
            let intermediate = try root.makeIntermediate(nil, part == .intermediate ? limit : wide)
            let leaf = try intermediate.issue(for: "127.0.0.1") { (part == .leaf ? limit : wide)(&$0) }
            return try SecuredSite(authority: root, leaf)
        }

        private static let moments: [(Int, Int?)] = [
            (begin - 1, -1204), (begin, nil), (begin + 1, nil), (end - 1, nil), (end + 1, -1201),
        ]

        @Test("each certificate is judged by the second, T-TLS-49", arguments: Part.allCases, moments)
        func dates(part: Part, moment: (now: Int, code: Int?)) async throws {
            let site = try datedSite(part)

            let outcome = try await OwnWorld.run(
                wallClock: { WallTime(seconds: Int64(moment.now)) },
                { $0.tls = site.tls }
            ) { session in
                try await session.outcome(of: site.server.url("/hello"))
            }

            #expect(outcome.code == moment.code, "\(outcome)")
            guard moment.code != nil else { return }
            let message = try #require(outcome.error?.loadFailure?.message)
            // The second at which it changes, and the present one, to the minute.
            #expect(message.contains("2025-06-15") || message.contains("2025-10-09"), "\(message)")
            #expect(try await site.ended().requestCount == 0)
        }

        @Test(
            "a ticket does not outlive the chain it was given for, T-TLS-49",
            arguments: TLSVersion.allCases,
            Part.allCases
        )
        func ticketDates(version: TLSVersion, part: Part) async throws {
            let site = try datedSite(part)
            site.server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
            let clock = Lock(Int64(Self.end - 100))
            var tls = site.tls
            tls.speak(version)
            let configuration = tls

            // The last second is over for a full handshake, so it is for a short one.
            let moments = [Self.end - 100, Self.end - 100, Self.end, Self.end + 1, Self.begin - 1]
            let codes = try await OwnWorld.run(
                wallClock: { WallTime(seconds: clock.withLock { $0 }) },
                { $0.tls = configuration }
            ) { session in
                var codes: [Int?] = []
                for moment in moments {
                    clock.withLock { $0 = Int64(moment) }
                    codes.append(try await site.bye(session)[0].code)
                }
                return codes
            }

            #expect(codes == [nil, nil, -1201, -1201, -1204])
            let handshakes = try await site.handshakes()
            #expect(handshakes.map(\.isResumed) == [false, true, false, false, false])
            #expect(handshakes.dropFirst(2).allSatisfy { $0.isFresh })
        }

        // MARK: - Every way to a connection

        @Test(
            "the policy is asked once for every connection, however it came about, T-TLS-30",
            arguments: TLSVersion.allCases
        )
        func everyWay(version: TLSVersion) async throws {
            let site = try SecuredSite()
            let ok = ScriptStep.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            // Answers once, and hangs up on the second request: which is sent again on a third connection.
            site.server.script(on: .connection(2), .expectRequest, ok, .expectRequest, .close)
            let calls = Lock(0)
            let refusesFrom = Lock(Int.max)
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = FixedEvaluator { _ in
                    calls.withLock { calls in
                        calls += 1
                        return calls >= refusesFrom.withLock { $0 } ? .reject(rule: "now", explanation: "no") : .accept
                    }
                }
            }
            let url = site.server.url("/hello")
            // The first way: a fresh connection. The name leads to two addresses, of which one answers.
            let name = try #require(URL(string: "https://localhost:\(site.server.port)/hello"))
            #expect(try await session.outcome(of: name).text == "hello")
            #expect(try await session.outcome(of: url).text == "ok")
            // A connection that turns out to be dead, and its successor.
            #expect(try await session.outcome(of: url).text == "hello")
            #expect(calls.withLock { $0 } == 3 && site.server.acceptedConnections == 3)
            // After a reset.
            await withCheckedContinuation { done in session.reset { done.resume() } }
            refusesFrom.withLock { $0 = 5 }
            #expect(try await session.outcome(of: url).text == "hello")
            await withCheckedContinuation { done in session.reset { done.resume() } }
            #expect(try await session.outcome(of: url).code == -1202)
            #expect(calls.withLock { $0 } == 5 && site.server.acceptedConnections == 5)
        }

        @Test("a successor of a dead connection is refused like any other, T-TLS-30", arguments: TLSVersion.allCases)
        func refusedRetry(version: TLSVersion) async throws {
            let site = try SecuredSite()
            site.server.script(
                .expectRequest,
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                .expectRequest,
                .close
            )
            let calls = Lock(0)
            let session = site.session { tls in
                tls.speak(version)
                tls.evaluator = FixedEvaluator { _ in
                    calls.withLock { calls in
                        calls += 1
                        return calls == 1 ? .accept : .reject(rule: "now", explanation: "no")
                    }
                }
            }
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "ok")

            #expect(try await session.outcome(of: site.server.url("/hello")).code == -1202)

            #expect(try await site.ended(2).requestCount == 0)
        }

        @Test func `T-TLS-30 a Unix-domain socket is no way around the policy`() async throws {
            let site = try NamedSite(["api.test"])
            defer { site.close() }
            let session = site.session { $0.evaluator = FixedEvaluator.refusing }

            let outcome = try await session.outcome(of: try #require(URL(string: "https://api.test/hello")))

            #expect(outcome.code == -1202)
            #expect(try await site.server.waitUntilIdle().allSatisfy { $0.requestCount == 0 })
        }
    }
}
