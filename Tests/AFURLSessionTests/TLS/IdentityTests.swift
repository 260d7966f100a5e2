import AFTLS

extension SecuredTests {
    /// Who learns who we are.
    struct Identities {
        private static let hosts = [
            ("a.test", true), ("api.b.test", true), ("b.test", false), ("deep.api.b.test", false), ("c.test", false),
            ("a.test.evil.test", false), ("127.0.0.1", true), ("127.0.0.2", false),
        ]

        @Test("an identity is shown to the hosts of its list only, T-TLS-78", arguments: TLSVersion.allCases)
        func hostList(version: TLSVersion) async throws {
            let names = Self.hosts.map(\.0)
            let site = try NamedSite(names) { tls, _ in tls.clientCertificates = .requested }
            defer { site.close() }
            let client = try site.authority.issueClient("somebody")
            let identity = try ClientIdentity(client, hosts: ["a.test", "*.b.test", "127.0.0.1"])
            let session = site.session { tls in
                tls.speak(version)
                tls.identity = identity
            }

            for (number, (host, isShown)) in Self.hosts.enumerated() {
                let url = try #require(URL(string: "https://\(host)/hello"))
                #expect(try await session.outcome(of: url).text == "hello")
                let shown = site.server.connections[number].tls?.clientCertificates
                #expect(shown == (isShown ? [client.certificate] : []), "\(host)")
                #expect(
                    site.server.connections[number].wire.contains(certificate: client.certificate)
                        == (isShown && version == .v1_2)
                )
            }
        }

        @Test func `T-TLS-78 an identity whose list names no host is shown to no server`() async throws {
            let site = try SecuredSite { tls, _ in tls.clientCertificates = .requested }
            for hosts in [[], ["no pattern at all"], ["**"]] {
                let identity = try site.identity("somebody", hosts: hosts)

                let outcome = try await site.session { $0.identity = identity }.outcome(of: site.server.url("/hello"))

                #expect(outcome.text == "hello")
                #expect(site.server.connections.last?.tls?.clientCertificates == [])
            }
        }

        @Test("a server that does not ask is not told, T-TLS-78", arguments: TLSVersion.allCases)
        func unasked(version: TLSVersion) async throws {
            let site = try SecuredSite()
            let identity = try site.identity("somebody")
            let session = site.session { tls in
                tls.speak(version)
                tls.identity = identity
            }

            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")

            #expect(site.server.connections[0].tls?.clientCertificates == [])
        }

        @Test("a server that requires a certificate gets none from us, T-TLS-79", arguments: TLSVersion.allCases)
        func required(version: TLSVersion) async throws {
            let site = try SecuredSite { tls, authority in
                tls.clientCertificates = .required(by: [authority.certificate])
            }

            let outcome = try await site.session { $0.speak(version) }.outcome(of: site.server.url("/hello"))

            #expect(outcome.code == -1206, "\(outcome)")
            let failure = try #require(outcome.error?.loadFailure)
            #expect(failure.reason == .clientCertificate && failure.detail == .required)
            #expect(failure.security?.alert == (version == .v1_2 ? 40 : 116))
            #expect(failure.message.contains("identity"))
            #expect(site.server.requests.isEmpty)
        }

        @Test("a certificate that the server does not accept, T-TLS-79", arguments: TLSVersion.allCases)
        func rejected(version: TLSVersion) async throws {
            let site = try SecuredSite { tls, authority in
                tls.clientCertificates = .required(by: [authority.certificate])
            }
            let stranger = try ClientIdentity(try CertificateAuthority().issueClient("stranger"))
            let session = site.session { tls in
                tls.speak(version)
                tls.identity = stranger
            }

            let outcome = try await session.outcome(of: site.server.url("/hello"))

            #expect(outcome.code == -1205, "\(outcome)")
            let failure = try #require(outcome.error?.loadFailure)
            #expect(failure.reason == .clientCertificate && failure.detail == nil)
            #expect(failure.security?.alert == 48)
            #expect(site.server.requests.isEmpty)
        }

        @Test("a large request to a server that rejects us says so too, T-TLS-79", arguments: TLSVersion.allCases)
        func rejectedUpload(version: TLSVersion) async throws {
            let site = try SecuredSite { tls, authority in
                tls.clientCertificates = .required(by: [authority.certificate])
            }
            let request = URLRequest("POST", site.server.url("/hello"), body: Data(count: 4 << 20))

            let outcome = try await site.session { $0.speak(version) }.outcome(of: request)

            #expect(outcome.code == -1206, "\(outcome)")
        }

        @Test("an expired certificate of ours is the server's to judge, T-TLS-79", arguments: TLSVersion.allCases)
        func expired(version: TLSVersion) async throws {
            let site = try SecuredSite { tls, authority in
                tls.clientCertificates = .required(by: [authority.certificate])
            }
            let identity = try ClientIdentity(try site.authority.issueClient("late") { $0.expire() })
            let session = site.session { tls in
                tls.speak(version)
                tls.identity = identity
            }

            let outcome = try await session.outcome(of: site.server.url("/hello"))

            #expect(outcome.code == -1205 && outcome.error?.loadFailure?.security?.alert == 45, "\(outcome)")
        }
    }
}
