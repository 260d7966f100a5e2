import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

@Suite struct TrustTableTests {
    /// A server of each column, and the certificate whose pin matches it.
    private struct Server {
        let chain: [Certificate]
        let pinned: Certificate
    }

    private static func servers(_ root: CertificateAuthority) throws -> [String: Server] {
        let middle = try root.makeIntermediate()
        let stranger = try CertificateAuthority()
        let unknown = try stranger.makeIntermediate().issue(for: "good.test")
        let lone = try IssuedCertificate.selfSigned(.server(for: ["good.test"]))
        let forged = try middle.issue(.server(for: ["good.test"]), signedBy: try CertificateKey())
        func server(_ site: IssuedCertificate) -> Server { Server(chain: site.chain, pinned: root.certificate) }
        return [
            "valid": server(try middle.issue(for: "good.test")),
            "expired": server(try middle.issue(for: "good.test") { $0.expire() }),
            "wrongName": server(try middle.issue(for: "other.test")),
            "unknownRoot": Server(chain: unknown.chain + [stranger.certificate], pinned: stranger.certificate),
            "selfSigned": Server(chain: lone.chain, pinned: lone.certificate),
            "badSignature": server(forged),
            "wrongPurpose": server(
                try middle.issue(for: "good.test") { $0.extendedKeyUsage = [.clientAuthentication] }
            ),
        ]
    }

    @Test(
        "252 combinations of switches, pins and certificates get the verdict that is written down, T-TLS-32, T-TLS-34"
    )
    func table() throws {
        let root = try CertificateAuthority()
        let other = try CertificateAuthority()
        let servers = try Self.servers(root)
        let modes: [String: SSLPinningMode] = ["none": .none, "publicKey": .publicKey, "certificate": .certificate]
        var cells = 0

        for row in TrustTable.rows {
            for (column, server) in servers {
                let trust = ServerTrust(
                    servedChain: server.chain,
                    host: "good.test",
                    anchors: .certificates([root.certificate])
                )
                let certificates =
                    switch row.pins {
                    case "match": [server.pinned]
                    case "noMatch": [other.certificate]
                    default: [Certificate]()
                    }
                let policy = SecurityPolicy(pinningMode: try #require(modes[row.mode]), certificates: certificates)
                policy.allowInvalidCertificates = row.allowsInvalid
                policy.validatesDomainName = row.validatesName

                let decision = policy.evaluate(trust)

                let expected: Bool = try #require(row.verdicts[column] as Bool?)
                #expect((decision == .accept) == expected, "\(row) \(column): \(decision)")
                #expect(policy.evaluate(trust, forDomain: "good.test") == expected)
                cells += 1
            }
        }

        #expect(cells == 252)
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
