import CAFOpenSSL
import Testing

@testable import AFTLS

/// The last look at a handshake, which OpenSSL leaves nothing to do.
@Suite struct TLSAgreementTests {
    private static func agreement(_ change: (inout TLSAgreement) -> Void) -> TLSAgreement {
        var agreement = TLSAgreement(
            version: .v1_3,
            hasCertificate: true,
            verifyResult: Int(X509_V_OK),
            isJudged: true,
            chosenProtocol: Array("http/1.1".utf8)
        )
        change(&agreement)
        return agreement
    }

    @Test func `an agreement on what was offered and judged is accepted`() {
        #expect(Self.agreement { _ in }.failure == nil)
        #expect(Self.agreement { $0.version = .v1_2 }.failure == nil)
        #expect(Self.agreement { $0.chosenProtocol = [] }.failure == nil)
    }

    @Test func `T-TLS-56 each thing that is wrong is refused by itself`() {
        #expect(Self.agreement { $0.version = nil }.failure?.kind == .version)
        #expect(Self.agreement { $0.hasCertificate = false }.failure?.kind == .refused)
        #expect(Self.agreement { $0.verifyResult = Int(X509_V_ERR_CERT_HAS_EXPIRED) }.failure?.kind == .refused)
        #expect(Self.agreement { $0.isJudged = false }.failure?.kind == .refused)
        for name in ["h2", "http/1.0", "http/1.1\0"] {
            #expect(Self.agreement { $0.chosenProtocol = Array(name.utf8) }.failure?.kind == .alpn)
        }
    }
}
