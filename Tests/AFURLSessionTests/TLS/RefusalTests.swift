import AFTLS

extension SecuredTests {
    /// Servers with which no connection comes about.
    struct Refusals {
        private func fails(
            _ site: SecuredSite,
            _ detail: LoadFailure.Detail?,
            reason: LoadFailure.Reason = .tls,
            code: Int = -1200,
            _ configure: (inout TLSConfiguration) -> Void = { _ in }
        ) async throws -> LoadFailure {
            let outcome = try await site.session(configure).outcome(of: site.server.url("/hello"))
            #expect(outcome.code == code, "\(outcome)")
            let failure = try #require(outcome.error?.loadFailure)
            #expect(failure.reason == reason && failure.detail == detail && failure.phase == .tls, "\(failure)")
            let connections = try await site.server.waitUntilIdle()
            #expect(connections.count == 1 && connections[0].received.isEmpty && connections[0].requestCount == 0)
            return failure
        }

        // MARK: - Versions

        @Test(
            "an old version is refused, at the first attempt, T-TLS-60",
            arguments: [ServerTLS.Version.tls10, .tls11]
        )
        func oldVersion(version: ServerTLS.Version) async throws {
            let site = try SecuredSite { tls, _ in
                tls.minimumVersion = .tls10
                tls.maximumVersion = version
                tls.cipherList = "ALL:@SECLEVEL=0"
            }

            let failure = try await fails(site, .version)

            #expect(failure.message.contains("TLS 1.2"))
            #expect(site.server.connections[0].tls?.offeredVersions.allSatisfy { $0 >= 0x0303 } == true)
        }

        @Test func `T-TLS-60 versions that do not meet`() async throws {
            for (client, server) in [(TLSVersion.v1_2, ServerTLS.Version.tls13), (.v1_3, .tls12)] {
                let site = try SecuredSite { tls, _ in
                    tls.minimumVersion = server
                    tls.maximumVersion = server
                }
                _ = try await fails(site, .version) { $0.speak(client) }
            }
        }

        @Test func `T-TLS-60 a server that answers in an old version is refused`() async throws {
            // A ServerHello of TLS 1.1, and nothing after it.
            let hello =
                [0x16, 3, 2, 0, 44, 2, 0, 0, 40, 3, 2] as [UInt8] + [UInt8](repeating: 7, count: 32)
                + [0, 0xC0, 0x13, 0, 0, 0]
            let site = try SecuredSite()
            try site.server.use(tls: nil)
            site.server.script(.receive(5), .send(bytes: hello), .stall)

            let outcome = try await site.session().outcome(of: site.secureURL("/hello"))

            #expect(outcome.code == -1200 && outcome.detail == .version, "\(outcome)")
            #expect(try await site.server.waitUntilIdle().count == 1)
        }

        // MARK: - Suites

        @Test(
            "suites that are not offered are not used, T-TLS-61",
            arguments: [
                "RC4:@SECLEVEL=0", "3DES:@SECLEVEL=0", "eNULL:@SECLEVEL=0", "AES128-SHA:@SECLEVEL=0",
                "AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "DHE:@SECLEVEL=0", "PSK",
                "CAMELLIA:@SECLEVEL=0", "ARIA:@SECLEVEL=0",
            ]
        )
        func suite(list: String) async throws {
            guard
                let site = try? SecuredSite({ tls, _ in
                    tls.maximumVersion = .tls12
                    tls.cipherList = list
                })
            else { return }  // OpenSSL as it was built knows none of these at all.

            let failure = try await fails(site, .alert)

            #expect(failure.security?.alert == 40)
        }

        @Test func `T-TLS-61 the server agrees to the version and suite that we asked for`() async throws {
            let site = try SecuredSite { tls, _ in tls.cipherList = "ALL:@SECLEVEL=0" }
            let session = site.session { tls in
                tls.maximumVersion = .v1_2
                tls.ciphers = "ECDHE-ECDSA-CHACHA20-POLY1305"
            }

            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")

            #expect(site.server.connections[0].tls?.cipherSuite == "ECDHE-ECDSA-CHACHA20-POLY1305")
        }

        @Test(
            "a list of suites that OpenSSL does not understand fails the tasks, T-TLS-61",
            arguments: ["", "NONSENSE"]
        )
        func nonsense(ciphers: String) async throws {
            let site = try SecuredSite()
            let session = site.session { $0.ciphers = ciphers }

            for _ in 1...2 {
                let outcome = try await session.outcome(of: site.server.url("/hello"))
                #expect(outcome.code == -1200 && outcome.reason == .tls, "\(outcome)")
            }
        }

        @Test("an anonymous server is refused, T-TLS-56, 61", arguments: [nil, "aNULL:@SECLEVEL=0"])
        func anonymous(ciphers: String?) async throws {
            let site = try SecuredSite { tls, _ in
                tls.credentials = []
                tls.maximumVersion = .tls12
                tls.cipherList = "aNULL:@SECLEVEL=0"
            }
            // The second client asks for it, and gets as far as a server without a certificate.
            let isWanted = ciphers != nil
            _ = try await fails(
                site,
                isWanted ? .chain : .alert,
                reason: isWanted ? .trust : .tls,
                code: isWanted ? -1202 : -1200
            ) { tls in
                tls.ciphers = ciphers
                tls.securityLevel = isWanted ? 0 : 2
                tls.evaluator = FixedEvaluator.accepting
            }
        }

        // MARK: - Protocols (ALPN)

        @Test func `T-TLS-73 http/1.1 alone is offered, and nothing is an answer`() async throws {
            for alpn in [ServerTLS.ALPN.nothing, .choose(["http/1.1"]), .choose(["h2"])] {
                let site = try SecuredSite { tls, _ in tls.alpn = alpn }

                #expect(try await site.session().outcome(of: site.server.url("/hello")).text == "hello")

                #expect(site.server.connections[0].tls?.offeredProtocols == ["http/1.1"])
            }
        }

        @Test(
            "any other protocol is refused, T-TLS-73",
            arguments: [
                Array("h2".utf8), Array("http/1.0".utf8), Array("HTTP/1.1".utf8), Array("http/1.1\0".utf8), [0],
                Array("\u{1B}[2J\r\nX: y".utf8), [UInt8](repeating: 0xFF, count: 255),
            ],
            TLSVersion.allCases
        )
        func otherProtocol(name: [UInt8], version: TLSVersion) async throws {
            let site = try SecuredSite { tls, _ in tls.alpn = .always(name) }

            let failure = try await fails(site, .alpn) { $0.speak(version) }

            #expect(failure.description.utf8.allSatisfy { $0 >= 32 || $0 == 10 })
        }

        @Test("an empty protocol is refused, T-TLS-73", arguments: TLSVersion.allCases)
        func emptyProtocol(version: TLSVersion) async throws {
            let site = try SecuredSite { tls, _ in tls.alpn = .always([UInt8]()) }

            let outcome = try await site.session { $0.speak(version) }.outcome(of: site.server.url("/hello"))

            #expect(outcome.code == -1200 && outcome.reason == .tls, "\(outcome)")
        }

        @Test("a server that wants none of our protocols says so, T-TLS-73", arguments: TLSVersion.allCases)
        func noProtocol(version: TLSVersion) async throws {
            let site = try SecuredSite { tls, _ in tls.alpn = .refuse }

            let failure = try await fails(site, .alpn) { $0.speak(version) }

            #expect(failure.security?.alert == 120)
        }

        // MARK: - Alerts

        @Test(
            "an alert in place of an answer",
            arguments: [10, 20, 40, 47, 50, 70, 71, 80, 86, 110, 112, 120] as [UInt8]
        )
        func alert(number: UInt8) async throws {
            let site = try SecuredSite { tls, _ in tls.handshakeFault = .alert(number) }

            let detail: LoadFailure.Detail = number == 70 ? .version : number == 120 ? .alpn : .alert
            let failure = try await fails(site, detail)

            #expect(failure.security?.alert == number)
        }

        // MARK: - No TLS at all

        @Test func `T-TLS-71 plain HTTP on the port for TLS`() async throws {
            let site = try SecuredSite()
            try site.server.use(tls: nil)
            let answers = [
                "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\nhello", "<html>",
                "SSH-2.0-OpenSSH_9.2\r\n", "220 mail.test ESMTP\r\n",
            ]
            for (index, answer) in answers.enumerated() {
                site.server.script(on: .connection(index + 1), .receive(5), .send(answer), .stall)

                let outcome = try await site.session().outcome(of: site.secureURL("/hello"))

                #expect(outcome.code == -1200 && outcome.detail == .notTLS, "\(answer): \(outcome)")
                #expect(outcome.error?.loadFailure?.message.contains("plain http") == true)
                #expect(outcome.data?.isEmpty ?? true)
            }
            #expect(site.server.acceptedConnections == answers.count)
        }

        @Test func `T-TLS-71 TLS on the port for plain HTTP`() async throws {
            let site = try SecuredSite()
            let url = try #require(URL(string: "http://127.0.0.1:\(site.server.port)/hello"))

            // OpenSSL's servers hang up on what is a request to them.
            let outcome = try await site.session().outcome(of: url)

            #expect([-1005, -1017].contains(outcome.code) && outcome.response == nil, "\(outcome)")
            #expect(outcome.data?.isEmpty ?? true)
            try site.server.use(tls: nil)
            for piece in [7, 1] {
                // Others send an alert, in the clear: unexpected_message.
                site.server.script(
                    .receive(5),
                    .sendSplit(bytes: [21, 3, 1, 0, 2, 2, 10], at: Array(stride(from: piece, to: 7, by: piece))),
                    .stall
                )
                let outcome = try await site.session().outcome(of: url)
                #expect(outcome.code == -1017 && outcome.reason == .malformed, "\(outcome)")
                #expect(outcome.error?.loadFailure?.message.contains("https") == true, "\(outcome)")
            }
        }

        @Test func `T-TLS-71 random bytes are no server`() async throws {
            let site = try SecuredSite()
            try site.server.use(tls: nil)
            var state: UInt64 = 0x5EED
            for number in 1...64 {
                let bytes = (0..<(number * 7)).map { _ -> UInt8 in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return UInt8(truncatingIfNeeded: state >> 33)
                }
                site.server.script(on: .connection(number), .receive(5), .send(bytes: bytes), .close)

                let outcome = try await site.session().outcome(of: site.secureURL("/hello"))

                #expect([-1200, -1005].contains(outcome.code), "\(number): \(outcome)")
                #expect(outcome.data?.isEmpty ?? true)
            }
        }
    }
}
