extension SecuredTests {
    /// Authorities that the program made itself, with the flaws that strict rules find in them.
    struct OwnAuthorities {
        private let log = EventLog()

        private func site(_ change: (inout CertificateTemplate) -> Void) throws -> SecuredSite {
            let root = try CertificateAuthority("My CA", change)
            return try SecuredSite(authority: root, try root.issue(for: "127.0.0.1", "localhost"))
        }

        @Test func `a root without a key usage is taken, and the events and metrics tell of it`() async throws {
            let site = try site { $0.keyUsage = nil }
            let lines = Watched<[String]>([])
            let session = URLSession.loopback(delegate: log) { configuration in
                configuration.tls = site.tls
                configuration.eventMonitors = [LoggingMonitor { line in lines.change { $0.append(line) } }]
            }

            session.dataTask(with: site.server.url("/hello")).resume()
            try await log.finished()

            let metrics = try #require(log.metrics.withLock { $0?.transactionMetrics.first })
            #expect(metrics.response != nil)
            #expect(metrics.toleratedAuthorityFlaws == site.authority.certificate.authorityFlaws)
            #expect(metrics.toleratedAuthorityFlaws.map(\.kind) == [.missingKeyUsage])
            try await eventually {
                lines.value.contains {
                    $0.contains(
                        "connection 1 tolerates that the authority \"CN=My CA\" does not say what its key is for"
                    )
                }
            }
        }

        @Test func `a handshake that resumes a session tells of it, too`() async throws {
            let root = try CertificateAuthority("My CA") { $0.keyUsage = nil }
            let site = try SecuredSite(authority: root, try root.issue(for: "127.0.0.1", "localhost"))
            site.server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
            let session = URLSession.loopback(delegate: log) { $0.tls = site.tls }

            for _ in 1...2 { #expect(try await session.outcome(of: site.server.url("/bye")).text == "bye") }
            session.dataTask(with: site.server.url("/bye")).resume()
            try await log.finished()

            let metrics = try #require(log.metrics.withLock { $0?.transactionMetrics.first })
            #expect(metrics.isResumedTLSSession && metrics.toleratedAuthorityFlaws.map(\.kind) == [.missingKeyUsage])
        }

        @Test func `a root that is in order has nothing to tell of`() async throws {
            let site = try site { _ in }

            site.session(delegate: log).dataTask(with: site.server.url("/hello")).resume()
            try await log.finished()

            let metrics = try #require(log.metrics.withLock { $0?.transactionMetrics.first })
            #expect(metrics.response != nil && metrics.toleratedAuthorityFlaws == [])
        }

        @Test func `the advice names the certificate that is at fault`() async throws {
            let root = try CertificateAuthority("My CA")
            let middle = try root.makeIntermediate("My Middle") { $0.keyUsage = nil }
            let weak = try root.issue(for: "127.0.0.1", kind: .rsa(bits: 1024))
            let late = try root.makeIntermediate("Old Middle") { $0.expire() }
            let rows: [(IssuedCertificate, CertificateAuthority?, String)] = [
                (try middle.issue(for: "127.0.0.1"), root, "The authority \"CN=My Middle\" needs another certificate."),
                (weak, root, "The server needs another certificate in place of \"CN=127.0.0.1\"."),
                (
                    try late.issue(for: "127.0.0.1"), root,
                    "Renew the certificate \"CN=Old Middle\", or set the clock of this machine."
                ),
                (
                    try root.issue(for: "127.0.0.1"), nil,
                    "If \"CN=My CA\" is an authority of yours, add it to tls.anchors."
                ),
            ]
            for (leaf, anchor, advice) in rows {
                let site = try SecuredSite(authority: root, leaf)

                let outcome = try await site.session {
                    $0.anchors = .certificates(anchor.map { [$0.certificate] } ?? [])
                }
                .outcome(of: site.server.url("/hello"))

                #expect(outcome.error?.loadFailure?.advice == advice, "\(outcome)")
            }
        }
    }
}
