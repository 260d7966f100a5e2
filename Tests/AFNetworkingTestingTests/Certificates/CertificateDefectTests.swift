import AFNetworkingTesting
import AFTLS
import CAFOpenSSL
import FoundationEssentials
import Testing

/// OpenSSL reports each defect as that defect and no other.
@Suite struct CertificateDefectTests {
    private let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
    }

    private func verify(_ issued: IssuedCertificate, level: Int32 = 0, isStrict: Bool = false) -> Int32 {
        Verification(anchors: [authority.certificate], level: level, isStrict: isStrict).result(of: issued)
    }

    private func site(
        kind: CertificateKey.Kind = .p256,
        _ change: (inout CertificateTemplate) -> Void
    ) throws -> IssuedCertificate {
        try authority.issue(for: "a.test", kind: kind, change)
    }

    @Test func `an unchanged template passes the strictest rules`() throws {
        let intermediate = try authority.makeIntermediate()

        #expect(verify(try site { _ in }, level: 2, isStrict: true) == X509_V_OK)
        #expect(verify(try intermediate.issue(for: "a.test"), level: 2, isStrict: true) == X509_V_OK)
    }

    @Test(arguments: [.rsa(bits: 1024), .p256, .p384, .p192, .ed25519] as [CertificateKey.Kind])
    func `every kind of key can sign and be certified`(kind: CertificateKey.Kind) throws {
        let root = try CertificateAuthority(kind: kind)
        let issued = try root.issue(for: "a.test", kind: kind)

        #expect(Verification(anchors: [root.certificate]).result(of: issued) == X509_V_OK)
    }

    // MARK: - Times and signatures

    @Test func `a certificate can be expired or not yet valid`() throws {
        #expect(verify(try site { $0.expire() }) == X509_V_ERR_CERT_HAS_EXPIRED)
        #expect(verify(try site { $0.postpone() }) == X509_V_ERR_CERT_NOT_YET_VALID)

        let old = try CertificateAuthority { $0.expire() }
        let result = Verification(anchors: [old.certificate]).result(of: try old.issue(for: "a.test"))
        #expect(result == X509_V_ERR_CERT_HAS_EXPIRED)
    }

    @Test func `dates in other centuries are read back`() throws {
        let issued = try site {
            $0.notBefore = .init(timeIntervalSince1970: -62_167_219_200)
            $0.notAfter = .init(timeIntervalSince1970: 253_402_300_799)
        }

        #expect(issued.certificate.notBeforeSeconds == -62_167_219_200)
        #expect(issued.certificate.notAfterSeconds == 253_402_300_799)
        #expect(verify(issued) == X509_V_OK)
    }

    @Test func `a broken signature is refused`() throws {
        #expect(verify(try site { $0.breaksSignature = true }) == X509_V_ERR_CERT_SIGNATURE_FAILURE)

        let forged = try authority.issue(.server(for: ["a.test"]), signedBy: CertificateKey())
        #expect(verify(forged) == X509_V_ERR_CERT_SIGNATURE_FAILURE)
        #expect(forged.certificate.issuer == authority.certificate.subject)
    }

    @Test func `an impostor has the name but not the key`() throws {
        let impostor = try authority.makeImpostor()

        #expect(impostor.certificate.subject == authority.certificate.subject)
        #expect(impostor.key.publicKeyBytes != authority.key.publicKeyBytes)
        // OpenSSL compares the key identifiers before it checks the signature.
        #expect(verify(try impostor.issue(for: "a.test")) == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)
        let quiet = try impostor.issue(for: "a.test") { $0.hasKeyIdentifiers = false }
        #expect(verify(quiet) == X509_V_ERR_CERT_SIGNATURE_FAILURE)
    }

    @Test func `weak keys and digests are refused`() throws {
        #expect(verify(try site(kind: .rsa(bits: 1024)) { _ in }, level: 2) == X509_V_ERR_EE_KEY_TOO_SMALL)
        #expect(verify(try site(kind: .rsa(bits: 512)) { _ in }, level: 1) == X509_V_ERR_EE_KEY_TOO_SMALL)
        #expect(verify(try site(kind: .p192) { _ in }, level: 2) == X509_V_ERR_EE_KEY_TOO_SMALL)
        #expect(verify(try site { $0.digest = .sha1 }, level: 1) == X509_V_ERR_CA_MD_TOO_WEAK)

        let old = try CertificateAuthority(kind: .rsa(bits: 1024))
        let issued = try old.issue(for: "a.test") { $0.digest = .md5 }
        let result = Verification(anchors: [old.certificate], level: 1).result(of: issued)
        #expect(result == X509_V_ERR_CA_MD_TOO_WEAK)
    }

    @Test func `a curve with explicit parameters is refused`() throws {
        let intermediate = try authority.makeIntermediate(kind: .explicitP256)

        let result = verify(try intermediate.issue(for: "a.test"), isStrict: true)

        #expect(result == X509_V_ERR_EC_KEY_EXPLICIT_PARAMS)
    }

    // MARK: - Extensions

    @Test func `a certificate for another purpose is refused`() throws {
        #expect(verify(try site { $0.extendedKeyUsage = [.codeSigning] }) == X509_V_ERR_INVALID_PURPOSE)
        #expect(verify(try site { $0.extendedKeyUsage = [] }) == X509_V_ERR_INVALID_PURPOSE)
        #expect(verify(try site { $0.extendedKeyUsage = nil }) == X509_V_OK)
        #expect(verify(try site { $0.keyUsage = .certificateSigning }) == X509_V_ERR_INVALID_PURPOSE)
        #expect(verify(try authority.issueClient("me")) == X509_V_ERR_INVALID_PURPOSE)
    }

    @Test func `an issuer that is not an authority is refused`() throws {
        let plain = try authority.makeIntermediate { $0.basicConstraints = .endEntity }
        let silent = try authority.makeIntermediate { $0.basicConstraints = nil }
        let mute = try authority.makeIntermediate { $0.keyUsage = .digitalSignature }
        let ancient = try authority.makeIntermediate {
            $0.version = 1
            ($0.basicConstraints, $0.keyUsage, $0.hasKeyIdentifiers) = (nil, nil, false)
        }

        #expect(verify(try plain.issue(for: "a.test")) == X509_V_ERR_INVALID_CA)
        #expect(verify(try silent.issue(for: "a.test"), isStrict: true) == X509_V_ERR_INVALID_CA)
        #expect(verify(try mute.issue(for: "a.test")) == X509_V_ERR_INVALID_CA)
        #expect(verify(try ancient.issue(for: "a.test")) == X509_V_ERR_INVALID_CA)
    }

    @Test func `a path that is too long is refused`() throws {
        let last = try authority.makeIntermediate { $0.basicConstraints?.pathLength = 0 }
        let beyond = try last.makeIntermediate()

        #expect(verify(try last.issue(for: "a.test")) == X509_V_OK)
        #expect(verify(try beyond.issue(for: "a.test")) == X509_V_ERR_PATH_LENGTH_EXCEEDED)
    }

    @Test func `names outside of the name constraints are refused`() throws {
        let ours = try authority.makeIntermediate {
            $0.nameConstraints = .init(permitted: [.dns("ours.test"), .ip([10, 0, 0, 0, 255, 0, 0, 0])])
        }
        let others = try authority.makeIntermediate { $0.nameConstraints = .init(excluded: [.dns("ours.test")]) }

        #expect(verify(try ours.issue(for: "a.ours.test", "10.1.2.3")) == X509_V_OK)
        #expect(verify(try ours.issue(for: "theirs.test")) == X509_V_ERR_PERMITTED_VIOLATION)
        #expect(verify(try ours.issue(for: "a.ours.test", "11.1.2.3")) == X509_V_ERR_PERMITTED_VIOLATION)
        #expect(verify(try others.issue(for: "a.ours.test")) == X509_V_ERR_EXCLUDED_VIOLATION)
    }

    @Test func `an unknown critical extension is refused`() throws {
        let issued = try site { $0.otherExtensions = [.unknownCritical] }

        #expect(verify(issued) == X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION)
    }

    // MARK: - Chains

    @Test func `incomplete and self-signed chains are refused`() throws {
        let deep = try authority.makeIntermediate().makeIntermediate().issue(for: "a.test")
        let own = try IssuedCertificate.selfSigned(.server(for: ["a.test"]))
        let stranger = try CertificateAuthority()

        #expect(deep.chain.count == 3)
        #expect(verify(deep) == X509_V_OK)
        let cut = Verification(anchors: [authority.certificate]).result(of: deep.certificate, with: [deep.issuers[1]])
        #expect(cut == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)
        #expect(verify(own) == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT)
        let padded = Verification(anchors: [authority.certificate])
            .result(of: try stranger.issue(for: "a.test").certificate, with: [stranger.certificate])
        #expect(padded == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN)
    }

    @Test func `a cross-signed authority leads to both roots`() throws {
        let other = try CertificateAuthority()
        let intermediate = try other.makeIntermediate()
        let bridge = try authority.crossSign(intermediate)
        let issued = try intermediate.issue(for: "a.test")

        #expect(bridge.certificate.subject == intermediate.certificate.subject)
        #expect(Verification(anchors: [other.certificate]).result(of: issued) == X509_V_OK)
        let crossed = Verification(anchors: [authority.certificate])
            .result(of: issued.certificate, with: [bridge.certificate])
        #expect(crossed == X509_V_OK)
        #expect(verify(try bridge.issue(for: "a.test")) == X509_V_OK)
    }

    @Test func `a renewal may keep its key`() throws {
        let first = try authority.issue(for: "a.test")
        let second = try authority.issue(for: "a.test", key: first.key)

        #expect(first.certificate != second.certificate)
        #expect(first.certificate.publicKeyBytes == second.certificate.publicKeyBytes)
        #expect(first.key.publicKeyBytes == first.certificate.publicKeyBytes)
        #expect(verify(second) == X509_V_OK)
    }
}
