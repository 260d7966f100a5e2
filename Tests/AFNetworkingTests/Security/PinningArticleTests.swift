import AFNetworking
import Foundation
import Testing

/// Runs what the article about pinning shows.
@Suite struct PinningArticleTests {
    @Test func `the policy of the article pins what it says`() throws {
        let pins = try PinSet(
            ["sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="],
            backups: ["sha256/hxqRlPTu1bMS/0DITB1SSu0vd4u/8l8TjPgfaAp63Gc="]
        )
        let policy = SecurityPolicy()
        policy.hostRules = [
            try .pins("**.example.com", pins),
            try .noPins("cdn.example.com"),
        ]

        let configuration = URLSessionConfiguration.default
        configuration.tls.evaluator = policy
        let session = URLSession(configuration: configuration)

        let api = try #require(URL(string: "https://api.example.com"))
        #expect(policy.lint(baseURL: api).filter { $0.severity > .note }.isEmpty)
        #expect(session.configuration.tls.evaluator != nil)
        #expect(policy.rule(for: "api.example.com")?.requirement == .pins(pins))
        #expect(policy.rule(for: "cdn.example.com")?.requirement == .noPins)
    }

    @Test func `the policy of AFNetworking is made as the article makes it`() throws {
        let temporary = try ScratchFolder()
        try temporary.write("root.cer", try CertificateAuthority().der)
        let folder = temporary.path

        let policy = try AFSecurityPolicy(pinningMode: .publicKey, certificatesInFolder: folder)

        #expect(policy.pinnedCertificates?.count == 1)
    }

    @Test func `a pinned certificate of the program's own making is accepted where the article says so`() throws {
        let own = try IssuedCertificate.selfSigned(.server(for: ["good.test"]))
        let other = try CertificateAuthority().certificate
        let policy = AFSecurityPolicy(pinningMode: .certificate, certificates: [own.certificate])
        func accepts(_ host: String, anchor: Certificate) -> Bool {
            let trust = ServerTrust(servedChain: own.chain, host: host, anchors: .certificates([anchor]))
            return policy.evaluate(trust, forDomain: host)
        }

        #expect(!accepts("good.test", anchor: other))
        #expect(accepts("good.test", anchor: own.certificate))
        policy.allowInvalidCertificates = true
        #expect(accepts("good.test", anchor: other))
        #expect(!accepts("other.test", anchor: other))
    }
}
