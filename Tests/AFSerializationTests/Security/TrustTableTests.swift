@Suite struct TrustTableTests {
    /// A server of each column, and the certificate whose pin matches it.
    private struct Server {
        let site: IssuedCertificate
        let chain: [Certificate]
        let pinned: Certificate
    }

    private static func servers(_ root: CertificateAuthority, for host: String) throws -> [String: Server] {
        let middle = try root.makeIntermediate()
        let stranger = try CertificateAuthority()
        let unknown = try stranger.makeIntermediate().issue(for: host)
        let lone = try IssuedCertificate.selfSigned(.server(for: [host]))
        let forged = try middle.issue(.server(for: [host]), signedBy: try CertificateKey())
        func server(_ site: IssuedCertificate) -> Server {
            Server(site: site, chain: site.chain, pinned: root.certificate)
        }
        return [
            "valid": server(try middle.issue(for: host)),
            "expired": server(try middle.issue(for: host) { $0.expire() }),
            "wrongName": server(try middle.issue(for: "other.test")),
            "unknownRoot": Server(
                site: unknown,
                chain: unknown.chain + [stranger.certificate],
                pinned: stranger.certificate
            ),
            "selfSigned": Server(site: lone, chain: lone.chain, pinned: lone.certificate),
            "badSignature": server(forged),
            "wrongPurpose": server(try middle.issue(for: host) { $0.extendedKeyUsage = [.clientAuthentication] }),
        ]
    }

    private static func policy(_ row: TrustTable.Row, _ server: Server, _ other: Certificate) throws -> SecurityPolicy {
        let modes: [String: SSLPinningMode] = ["none": .none, "publicKey": .publicKey, "certificate": .certificate]
        let certificates =
            switch row.pins {
            case "match": [server.pinned]
            case "noMatch": [other]
            default: [Certificate]()
            }
        let policy = SecurityPolicy(pinningMode: try #require(modes[row.mode]), certificates: certificates)
        policy.allowInvalidCertificates = row.allowsInvalid
        policy.validatesDomainName = row.validatesName
        return policy
    }

    @Test("252 combinations of switches, pins and certificates get the verdict written down, T-TLS-32, T-TLS-34")
    func table() throws {
        let root = try CertificateAuthority()
        let other = try CertificateAuthority().certificate
        let servers = try Self.servers(root, for: "good.test")
        var cells = 0

        for row in TrustTable.rows {
            for (column, server) in servers {
                let trust = ServerTrust(
                    servedChain: server.chain,
                    host: "good.test",
                    anchors: .certificates([root.certificate])
                )
                let policy = try Self.policy(row, server, other)

                let decision = policy.evaluate(trust)

                let expected: Bool = try #require(row.verdicts[column] as Bool?)
                #expect((decision == .accept) == expected, "\(row) \(column): \(decision)")
                #expect(policy.evaluate(trust, forDomain: "good.test") == expected)
                cells += 1
            }
        }

        #expect(cells == 252)
    }

    @Test("a quarter of the table holds against servers, which hear nothing where it says no, T-TLS-34")
    func sample() async throws {
        let root = try CertificateAuthority()
        let other = try CertificateAuthority().certificate
        let servers = try Self.servers(root, for: "127.0.0.1").sorted { $0.key < $1.key }

        for (number, (column, server)) in servers.enumerated() {
            let credential = ServerTLS.Credential(certificates: server.chain, key: server.site.key)
            let peer = try TestServer(tls: ServerTLS(credentials: [credential]))
            peer.route("GET", "/hello", .text("hello"))
            for (index, row) in TrustTable.rows.enumerated() where (index + number) % 4 == 0 {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.tls.anchors = .certificates([root.certificate])
                configuration.tls.evaluator = try Self.policy(row, server, other)
                let before = peer.requests.count

                let answer = try? await URLSession(configuration: configuration).data(from: peer.url("/hello")).0

                let expected: Bool = try #require(row.verdicts[column] as Bool?)
                #expect((answer == Data("hello".utf8)) == expected, "\(row) \(column)")
                #expect(peer.requests.count - before == (expected ? 1 : 0))
            }
        }
    }

    @Test("a policy without any setting looks at chain and name, T-TLS-33")
    func defaults() throws {
        let root = try CertificateAuthority()
        let good = try root.issue(for: "good.test")
        func trust(_ anchors: [Certificate], host: String) -> ServerTrust {
            ServerTrust(servedChain: good.chain, host: host, anchors: .certificates(anchors))
        }

        #expect(SecurityPolicy().evaluate(trust([root.certificate], host: "good.test")) == .accept)
        #expect(SecurityPolicy().evaluate(trust([root.certificate], host: "other.test")) != .accept)
        #expect(SecurityPolicy().evaluate(trust([], host: "good.test")) != .accept)
    }
}
