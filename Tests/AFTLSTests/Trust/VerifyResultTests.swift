import CAFOpenSSL
import Testing

@testable import AFTLS

@Suite struct VerifyResultTests {
    @Test("every verify result has a reason, and the unknown ones say what OpenSSL says")
    func reasons() {
        // What only revocation lists, address blocks, DANE, OCSP, Suite B, and broken programs bring about.
        let others: Set<Int32> = [
            1, 3, 5, 8, 11, 12, 15, 16, 17, 23, 33, 35, 36, 44, 46, 50, 54, 56, 57, 58, 59, 60, 61, 65, 69, 70, 71, 73,
            74, 75,
        ]
        for code in Int32(1)...94 {
            #expect((VerifyResult.reason(code) == .other) == others.contains(code), "X509_V_ERR \(code)")
        }
        for code: Int32 in [-1, 0, 95, 1_000_000, .max, .min] {
            #expect(VerifyResult.reason(code) == .other)
            let failure = VerifyResult.failure(code, certificate: nil, depth: 0, seconds: 0, isAlone: true)
            #expect(failure.message.hasPrefix("the server's certificates are not trusted: "))
        }
    }

    @Test("only a certificate without a key identifier is said to lack one")
    func missingIdentifier() throws {
        let certificate = try CertificateAuthority().certificate
        for code in [X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER, X509_V_ERR_INVALID_EXTENSION] {
            let failure = VerifyResult.failure(code, certificate: certificate, depth: 0, seconds: 0, isAlone: true)
            let saysSo = failure.message.contains("no authority key identifier")
            #expect(saysSo == (code == X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER))
        }
    }

    @Test(
        "the usual results",
        arguments: [
            (X509_V_ERR_CERT_HAS_EXPIRED, .expired), (X509_V_ERR_CERT_NOT_YET_VALID, .notYetValid),
            (X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, .selfSigned),
            (X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, .unknownRoot),
            (X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, .unknownRoot),
            (X509_V_ERR_CERT_SIGNATURE_FAILURE, .signature), (X509_V_ERR_INVALID_PURPOSE, .purpose),
            (X509_V_ERR_EE_KEY_TOO_SMALL, .weakKey), (X509_V_ERR_INVALID_CA, .invalidAuthority),
            (X509_V_ERR_PERMITTED_VIOLATION, .nameConstraint),
            (X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION, .criticalExtension),
            (X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD, .malformed), (X509_V_ERR_CERT_CHAIN_TOO_LONG, .tooLong),
            (X509_V_ERR_HOSTNAME_MISMATCH, .name),
        ] as [(Int32, TrustFailure.Reason)]
    )
    func usual(_ code: Int32, _ reason: TrustFailure.Reason) {
        #expect(VerifyResult.reason(code) == reason)
    }
}
