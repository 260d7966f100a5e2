import AFNetworkingTesting
import AFTLS
import Foundation

@testable import AFTransport

extension SecuredTests {
    /// What is decided before, or beside, any handshake.
    struct Edge {
        /// OpenSSL leaves out of a context, without a word, what it had no memory for when that was made.
        @Test func `a context with which a handshake has failed is not used for another one`() throws {
            let rules = SecurityContext(
                id: 1,
                configuration: TLSConfiguration(),
                evaluator: nil,
                fingerprint: [],
                sessionsPerPeer: 1
            )
            let first = try rules.context()
            #expect(try rules.context() === first)

            rules.forgetContext()

            #expect(try rules.context() !== first)
        }

        /// Half a check is worse than none: who relies on it believes it was made.
        @Test func `T-TLS-58 nothing offers to check revocation, and the documentation says so`() throws {
            let settings = Mirror(reflecting: TLSConfiguration()).children.compactMap(\.label)
            let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../Sources/AFTransport/Trust/TLSConfiguration.swift")

            for word in ["revo", "ocsp", "staple", "crl"] {
                #expect(!settings.contains { $0.lowercased().contains(word) })
            }
            #expect(try String(contentsOf: source, encoding: .utf8).contains("does not check revocation"))
        }

        @Test(
            arguments: ["xn--example-.com", "xn--.com", "xn--a.example"]
        )
        func `T-TLS-45 a label that says nothing, or what ASCII could say, matches no certificate`(host: String) throws
        {
            let authority = try CertificateAuthority()
            let site = try authority.issue(for: host)
            let trust = ServerTrust(
                servedChain: site.chain,
                host: host,
                anchors: .certificates([authority.certificate]),
                at: Int64(Date().timeIntervalSince1970),
                securityLevel: ServerTrust.usualSecurityLevel
            )

            #expect(trust.evaluation.failure?.reason == .name)
        }
    }
}
