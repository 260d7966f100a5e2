import Foundation
import Testing

@testable import AFURLTypes

@Suite struct ServerTrustDateTests {
    @Test(arguments: [1e19, -1e19, .infinity, -.infinity, .nan, 1e12] as [Double])
    func `a date may be any, and far from all years no certificate is valid`(seconds: Double) throws {
        let authority = try CertificateAuthority()
        let trust = ServerTrust(
            servedChain: try authority.issue(for: "a.test").chain,
            host: "a.test",
            anchors: .certificates([authority.certificate]),
            at: Date(timeIntervalSince1970: seconds)
        )

        #expect(!trust.evaluation.isTrusted && abs(trust.date.timeIntervalSince1970) >= 1e12)
    }
}
