import CAFOpenSSL
import Foundation
import Synchronization
import Testing

@testable import AFTLS

/// What OpenSSL is given, and what it may answer.
@Suite struct OpenSSLAnswersTests {
    private let root: CertificateAuthority

    init() throws {
        root = try CertificateAuthority("Root")
    }

    /// Why names are looked at before OpenSSL is given them. Where this fails, it has changed.
    @Test func `F-04 OpenSSL takes no name for none to be checked, and refuses NUL by its answer alone`() throws {
        let rules = try #require(X509_VERIFY_PARAM_new())
        defer { X509_VERIFY_PARAM_free(rules) }

        #expect(X509_VERIFY_PARAM_set1_host(rules, "", 0) == 1)
        #expect(X509_VERIFY_PARAM_set1_host(rules, "good.test\0.evil.test", 20) == 0)
        #expect(X509_VERIFY_PARAM_set1_host(rules, ".good.test", 10) == 1)
    }

    @Test("certificates are freed with the last who holds them, whatever came of judging them")
    func freed() throws {
        let stranger = try CertificateAuthority("Stranger")
        let middle = try root.makeIntermediate("Middle") { $0.notAfter = Date(seconds: now + 10 * 86_400) }
        let crossed = try stranger.crossSign(middle) { $0.notAfter = Date(seconds: now + 20 * 86_400) }
        let site = try middle.issue(for: "good.test")
        let refused = try stranger.issue(for: "good.test")
        let chains: [([Certificate], Bool)] = [
            (site.chain, true), ([site.certificate], false), (refused.chain + [stranger.certificate], false),
            ([site.certificate, crossed.certificate, middle.certificate], true),
            (site.chain + Array(repeating: root.certificate, count: 400), false),
        ]

        for (chain, isTrusted) in chains {
            let before = FreedCertificates.count
            #expect(try judgeMarked(chain.map(\.derBytes)) == isTrusted)
            #expect(FreedCertificates.count - before == chain.count)
        }
    }

    /// Judges certificates to which this call holds the only references.
    private func judgeMarked(_ served: [[UInt8]]) throws -> Bool {
        let certificates = try served.map { try Certificate(der: $0) }
        for certificate in certificates { try #require(FreedCertificates.mark(certificate)) }
        return try judge(certificates, anchors: [root]).isTrusted
    }

    @Test("an answer that says neither yes nor no, or both, is a refusal")
    func contradictions() throws {
        let chain = try root.issue(for: "good.test").chain
        let yes = try verdict(on: chain) { _ in 1 }
        let both = try verdict(on: chain) { context in
            X509_STORE_CTX_set_error(context, X509_V_ERR_CERT_REVOKED)
            return 1
        }
        let neither = try verdict(on: chain) { _ in -1 }
        let no = try verdict(on: chain) { _ in 0 }

        #expect(yes.isTrusted)
        #expect(both.failure?.verifyResult == X509_V_ERR_CERT_REVOKED)
        #expect(neither.failure?.verifyResult == X509_V_ERR_UNSPECIFIED)
        #expect(no.failure?.verifyResult == X509_V_ERR_UNSPECIFIED)
    }

    /// What comes of a chain of which this function checks the signatures.
    private func verdict(
        on chain: [Certificate],
        _ verify: @convention(c) (OpaquePointer?) -> Int32
    ) throws -> TrustEvaluation {
        let store = try TrustStore([root.certificate])
        X509_STORE_set_verify(store.handle, verify)
        return ChainEvaluator.evaluate(served: chain, policy: .tlsServer(.dns("good.test")), store: store, at: now)
    }
}

/// How many of the certificates that were marked OpenSSL has freed.
private enum FreedCertificates {
    private static let freed = Atomic<Int>(0)
    private static let index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_X509, 0, nil, nil, nil) { _, mark, _, _, _, _ in
        if mark != nil { FreedCertificates.freed.add(1, ordering: .relaxed) }
    }

    static var count: Int { freed.load(ordering: .relaxed) }

    static func mark(_ certificate: Certificate) -> Bool {
        X509_set_ex_data(certificate.handle, index, UnsafeMutableRawPointer(bitPattern: 1)) == 1
    }
}
