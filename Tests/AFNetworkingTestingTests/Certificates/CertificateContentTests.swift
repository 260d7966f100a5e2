import AFNetworkingTesting
import AFTLS
import CAFOpenSSL
import Foundation
import Testing

@Suite struct CertificateContentTests {
    private let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority("Content Root")
    }

    @Test func `names stand in their fields`() throws {
        let issued = try authority.issue(for: "a.test", "*.b.test", "127.0.0.1", "::1") {
            $0.subject = [.country("DE"), .organization("O, CN=x"), .unit("Ünit"), .commonName("cn")]
            $0.alternativeNames += [.email("me@a.test"), .uri("https://a.test/"), .other("1.2.3", value: [5, 0])]
        }

        let certificate = issued.certificate
        #expect(certificate.dnsNames == ["a.test", "*.b.test"])
        #expect(certificate.ipAddresses == ["127.0.0.1", "::1"])
        #expect(certificate.emailAddresses == ["me@a.test"])
        #expect(certificate.summary == "cn")
        #expect(certificate.issuer == "CN=Content Root")
    }

    @Test func `a name may hold a zero byte`() throws {
        let bytes = Array("good.test\0.evil.test".utf8)
        let issued = try authority.issue(for: "x.test") {
            $0.alternativeNames = [.raw(tag: 0x82, bytes)]
            $0.subject = [.init("2.5.4.3", bytes: bytes)]
        }

        #expect(Data(issued.der).ranges(of: Data(bytes)).count == 2)
    }

    @Test func `a certificate can have ten thousand names`() throws {
        let issued = try authority.issue(for: "first.test") {
            $0.alternativeNames += (1..<10_000).map { .dns("host\($0).test") }
        }

        #expect(issued.certificate.dnsNames.count == 10_000)
        #expect(issued.certificate.dnsNames.last == "host9999.test")
    }

    @Test(
        arguments: [
            ([0], "00"), ([0xFF], "-01"), ([0x7F], "7F"), ([0x01] + [UInt8](repeating: 0xAB, count: 40), nil),
        ] as [([UInt8], String?)]
    )
    func `serial numbers of any kind`(bytes: [UInt8], text: String?) throws {
        let issued = try authority.issue(for: "a.test") { $0.serialNumber = bytes }

        #expect(Data(issued.der).contains(Data([0x02, UInt8(bytes.count)] + bytes)))
        let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(issued.certificate.handle), nil)
        defer { BN_free(number) }
        #expect((BN_is_negative(number) == 1) == (bytes[0] >= 0x80))
        if let text { #expect(Int(BN_get_word(number)) == abs(Int(text, radix: 16) ?? -1)) }
    }

    @Test func `serial numbers differ and are positive unless asked otherwise`() throws {
        let all = try (0..<20).map { _ in try authority.issue(for: "a.test").certificate }

        #expect(Set(all.map(\.serialNumber)).count == 20)
        for one in all {
            let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(one.handle), nil)
            #expect(BN_is_negative(number) == 0 && BN_num_bits(number) == 127)
            BN_free(number)
        }
    }

    @Test func `a certificate or key that cannot be made is an error with the reason`() throws {
        let keyError = #expect(throws: CertificateMakingError.self) { try CertificateKey(.rsa(bits: 1)) }
        #expect(keyError?.description == "Making a key (rsa(bits: 1)) failed: key size too small")
        let digestError = #expect(throws: CertificateMakingError.self) {
            try authority.issue(for: "a.test") { $0.digest = .md5 }
        }
        #expect(digestError?.reason == "a key of kind p256 cannot sign with md5")
        let nameError = #expect(throws: CertificateMakingError.self) {
            try authority.issue(for: "a.test") { $0.extendedKeyUsage = [.init("1.2.x")] }
        }
        #expect(nameError?.reason == "1.2.x is no object identifier")
    }

    // MARK: - Keys and files

    private func key(_ pem: String, passphrase: String?) -> OpaquePointer? {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        BIO_write(bio, pem, Int32(pem.utf8.count))
        // Without a callback OpenSSL takes the last argument as the passphrase.
        return (passphrase ?? "").withCString { text in
            PEM_read_bio_PrivateKey(bio, nil, nil, UnsafeMutableRawPointer(mutating: text))
        }
    }

    @Test(arguments: [.rsa(bits: 1024), .p256, .ed25519] as [CertificateKey.Kind])
    func `keys are written as PEM, with and without a passphrase`(kind: CertificateKey.Kind) throws {
        let secret = try CertificateKey(kind)

        for (pem, passphrase) in [(secret.pem, nil), (try secret.pem(passphrase: "open"), "open" as String?)] {
            let read = try #require(key(pem, passphrase: passphrase))
            #expect(EVP_PKEY_get_security_bits(read) > 0)
            EVP_PKEY_free(read)
        }
        #expect(key(try secret.pem(passphrase: "open"), passphrase: "shut") == nil)
        ERR_clear_error()
    }

    @Test func `keys are written in their traditional form`() throws {
        let secret = try CertificateKey()

        #expect(try secret.traditionalPEM().hasPrefix("-----BEGIN EC PRIVATE KEY-----\n"))
        let sealed = try secret.traditionalPEM(passphrase: "open")
        #expect(sealed.contains("Proc-Type: 4,ENCRYPTED"))
        let read = key(sealed, passphrase: "open")
        #expect(read != nil)
        EVP_PKEY_free(read)
        let edwards = try CertificateKey(.ed25519)
        #expect(throws: CertificateMakingError.self) { try edwards.traditionalPEM() }
    }

    @Test(arguments: [.modern, .legacy] as [IssuedCertificate.PKCS12Encryption])
    func `PKCS#12 opens with its passphrase only`(encryption: IssuedCertificate.PKCS12Encryption) throws {
        let issued = try authority.makeIntermediate().issueClient("me")
        let bytes = try issued.pkcs12(passphrase: "open", encryption: encryption)

        let file = try #require(
            bytes.withUnsafeBufferPointer { buffer in
                var position = buffer.baseAddress
                return d2i_PKCS12(nil, &position, buffer.count)
            }
        )
        defer { PKCS12_free(file) }
        #expect(PKCS12_verify_mac(file, "open", -1) == 1)
        #expect(PKCS12_verify_mac(file, "shut", -1) == 0)
        // The old algorithms need OpenSSL's legacy provider, which this process has not loaded.
        let isOpened = PKCS12_parse(file, "open", nil, nil, nil) == 1
        #expect(isOpened == (encryption == .modern))
        ERR_clear_error()
    }

    @Test func `PKCS#12 without a passphrase is not one with an empty passphrase`() throws {
        let issued = try authority.issueClient("me")

        for (bytes, opens) in [(try issued.pkcs12(passphrase: nil), nil), (try issued.pkcs12(passphrase: ""), "")] {
            let file = bytes.withUnsafeBufferPointer { buffer in
                var position = buffer.baseAddress
                return d2i_PKCS12(nil, &position, buffer.count)
            }
            let other: String? = opens == nil ? "" : nil
            #expect(PKCS12_verify_mac(file, opens, opens == nil ? 0 : -1) == 1)
            #expect(PKCS12_verify_mac(file, other, other == nil ? 0 : -1) == 0)
            PKCS12_free(file)
            ERR_clear_error()
        }
    }

    @Test func `files are written for other programs`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let issued = try authority.makeIntermediate().issue(for: "a.test")

        let files = try issued.write(to: folder)
        let again = try issued.write(to: folder)

        #expect(files == again)
        #expect(try String(contentsOf: files.certificate, encoding: .utf8) == issued.pem)
        #expect(try Certificate.certificates(pem: Data(contentsOf: files.chain)) == issued.chain)
        #expect(try String(contentsOf: files.privateKey, encoding: .utf8) == issued.privateKeyPEM)
        let attributes = try FileManager.default.attributesOfItem(atPath: files.privateKey.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let nowhere = folder.appendingPathComponent("nowhere")
        #expect(throws: CertificateMakingError.self) { try issued.write(to: nowhere) }
    }
}
