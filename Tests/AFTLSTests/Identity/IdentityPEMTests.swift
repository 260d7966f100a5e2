import AFTLS
import CAFOpenSSL
import Foundation
import Testing

@Suite struct IdentityPEMTests {
    private let material: IdentityMaterial

    init() throws {
        material = try IdentityMaterial.shared.get()
    }

    // MARK: - Reading

    @Test("certificates and key are read from one text in any order, and the chain keeps its order")
    func oneText() throws {
        let first = try ClientIdentity(pem: material.keyPEM + material.chainPEM)
        let second = try ClientIdentity(pem: material.chainPEM + Array("\nnotes\n".utf8) + material.keyPEM)

        #expect(first == second)
        #expect(first.certificates == material.client.chain)
        #expect(first.works)
        #expect(first.hosts == nil)
    }

    @Test(
        "keys of every usual kind are read, in PKCS#8 and in their traditional form",
        arguments: [CertificateKey.Kind.rsa, .p256, .p384, .ed25519]
    )
    func kinds(kind: CertificateKey.Kind) throws {
        let client = try material.authority.issueClient("carol", kind: kind)
        var texts = [(client.privateKeyPEM, nil as String?), (try client.key.pem(passphrase: "open"), "open")]
        if kind != .ed25519 {
            texts.append((try client.key.traditionalPEM(), nil))
            texts.append((try client.key.traditionalPEM(passphrase: "sésame"), "sésame"))
        }
        for (text, passphrase) in texts {
            let identity = try ClientIdentity(
                certificates: client.chain,
                privateKeyPEM: text.utf8,
                passphrase: passphrase
            )
            #expect(identity.works)
        }
    }

    @Test("the parameters that openssl ecparam writes before a key are passed by")
    func parameters() throws {
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        #expect(try ClientIdentity(pem: Array(parameters.utf8) + material.keyPEM + material.chainPEM).works)
    }

    @Test("a passphrase that a plain key does not need is of no importance")
    func needlessPassphrase() throws {
        #expect(try ClientIdentity(pem: material.keyPEM + material.chainPEM, passphrase: "needless").works)
    }

    @Test("files are read, PEM and DER, one for both or two")
    func files() throws {
        try IdentityMaterial.inFolder { folder in
            let files = try material.client.write(to: folder, named: "client")
            let both = folder.appendingPathComponent("both.pem")
            try Data(material.keyPEM + material.chainPEM).write(to: both)
            let der = folder.appendingPathComponent("client.der")
            try Data(material.client.der).write(to: der)

            let two = try ClientIdentity(certificatePath: files.chain.path, keyPath: files.privateKey.path)
            let one = try ClientIdentity(certificatePath: both.path, keyPath: both.path)
            let alone = try ClientIdentity(certificatePath: der.path, keyPath: files.privateKey.path)

            #expect(two == one && two.works)
            #expect(alone.certificates == [material.client.certificate])
        }
    }

    @Test("a passphrase may be longer than the buffer OpenSSL reads from a terminal")
    func longPassphrase() throws {
        let long = String(repeating: "long ", count: 400)
        let text = try material.client.key.pem(passphrase: long)
        let made = try ClientIdentity(certificates: material.client.chain, privateKeyPEM: text.utf8, passphrase: long)
        #expect(made.works)
    }

    @Test("a key that is sealed with scrypt is read")
    func scrypt() throws {
        let key = try #require(
            Array(material.client.privateKeyPEM.utf8).withUnsafeBytes { bytes in
                let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
                defer { BIO_free(source) }
                return PEM_read_bio_PrivateKey(source, nil, nil, nil)
            }
        )
        defer { EVP_PKEY_free(key) }
        let plain = try #require(EVP_PKEY2PKCS8(key))
        defer { PKCS8_PRIV_KEY_INFO_free(plain) }
        let algorithm = PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), nil, 0, nil, 1024, 8, 1)
        let sealed = try #require(PKCS8_set0_pbe("right", 5, plain, algorithm))
        defer { X509_SIG_free(sealed) }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_SIG(sealed, &encoded)
        defer { caf_free(encoded) }
        let text = Self.sealedKey(Array(UnsafeBufferPointer(start: encoded, count: Int(count))))

        #expect(try ClientIdentity(pem: material.chainPEM + text, passphrase: "right").works)
        let error = identityError { try ClientIdentity(pem: material.chainPEM + text, passphrase: "wrong") }
        #expect(error?.rule == .wrongPassphrase)
    }

    private static func sealedKey(_ der: [UInt8]) -> [UInt8] {
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN ENCRYPTED PRIVATE KEY-----\n\(body)\n-----END ENCRYPTED PRIVATE KEY-----\n".utf8)
    }

    // MARK: - Refusing

    @Test(
        "what scrypt would take is limited as other work is, T-TLS-76",
        arguments: [
            ([1, 0, 0, 0], [8], [1]), ([4, 0], [0x7F, 0xFF], [1]), ([4, 0], [8], [0x7F, 0xFF]),
            ([0x40, 0, 0, 0, 0, 0, 0, 0], [8], [8]), ([4, 0], [0], [1]), ([4, 0], [8], [0xFF]),
            ([UInt8](repeating: 1, count: 9), [8], [1]),
        ] as [([UInt8], [UInt8], [UInt8])]
    )
    func expensiveScrypt(cost: [UInt8], blocks: [UInt8], lanes: [UInt8]) throws {
        typealias Draft = PKCS12Draft
        let names: [[UInt8]] = [
            [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D],  // PBES2
            [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B],  // scrypt
            [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2A],  // AES-256-CBC
        ]
        let (scheme, derivation, cipher) = (names[0], names[1], names[2])
        let numbers = [cost, blocks, lanes].flatMap { Draft.element(0x02, $0) }
        let work = Draft.sequence(Draft.element(0x04, [UInt8](repeating: 7, count: 8)), numbers)
        let parts = Draft.sequence(
            Draft.sequence(Draft.element(0x06, derivation), work),
            Draft.sequence(Draft.element(0x06, cipher), Draft.element(0x04, [UInt8](repeating: 7, count: 16)))
        )
        let algorithm = Draft.sequence(Draft.element(0x06, scheme), parts)
        let sealed = Draft.sequence(algorithm, Draft.element(0x04, [UInt8](repeating: 7, count: 64)))

        let pem = material.chainPEM + Self.sealedKey(sealed)
        #expect(identityError { try ClientIdentity(pem: pem, passphrase: "right") }?.rule == .excessiveWork)
    }

    @Test("every defect of a PEM is an error with a rule of its own, T-TLS-76")
    func defects() throws {
        let (chain, key) = (material.chainPEM, material.keyPEM)
        let sealed = Array(try material.client.key.pem(passphrase: "right").utf8)
        let old = Array(try material.client.key.traditionalPEM(passphrase: "right").utf8)
        let bob = Array(material.other.privateKeyPEM.utf8)
        let cases: [(String, [UInt8], String?, ClientIdentityError.Rule)] = [
            ("nothing", [], nil, .empty),
            ("junk", Array("junk".utf8), nil, .noKey),
            ("no key", chain, nil, .noKey),
            ("no certificate", key, nil, .noCertificate),
            ("two keys", chain + key + bob, nil, .severalKeys),
            ("the same key twice", chain + key + key, nil, .severalKeys),
            ("another's key", chain + bob, nil, .keyMismatch),
            ("the authority first", chain.reversedBlocks + key, nil, .keyMismatch),
            ("sealed, no passphrase", chain + sealed, nil, .passphraseRequired),
            ("sealed, empty passphrase", chain + sealed, "", .wrongPassphrase),
            ("sealed, wrong passphrase", chain + sealed, "wrong", .wrongPassphrase),
            ("sealed in the old way, no passphrase", chain + old, nil, .passphraseRequired),
            ("sealed in the old way, wrong passphrase", chain + old, "wrong", .wrongPassphrase),
            ("key cut short", chain + key.prefix(100), nil, .malformed),
            ("key not on a line", chain.dropLast() + [0x20] + key, nil, .malformed),
            ("certificate cut short", key + chain.prefix(200), nil, .brokenCertificate),
            (
                "certificate of junk",
                key + Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8),
                nil, .brokenCertificate
            ),
            (
                "key of junk", chain + Array("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8),
                nil,
                .malformed
            ),
            (
                "key of a kind we do not read",
                chain + Array("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n".utf8),
                nil, .unusableKey
            ),
        ]
        for (name, bytes, passphrase, rule) in cases {
            let error = identityError { try ClientIdentity(pem: bytes, passphrase: passphrase) }
            #expect(error?.rule == rule, "\(name): \(error.map(String.init(describing:)) ?? "none")")
            #expect(error?.input == .pem && error?.path == nil, "\(name)")
        }
    }

    @Test("the error about a certificate in the wrong place says which one is the key's")
    func wrongPlace() throws {
        let error = identityError {
            try ClientIdentity(certificates: material.client.chain.reversed(), privateKeyPEM: material.keyPEM)
        }
        #expect(error?.message.contains("certificate 2 of 2") == true)
        let none = identityError { try ClientIdentity(certificates: [], privateKeyPEM: material.keyPEM) }
        #expect(none?.rule == .noCertificate)
    }

    @Test("the error about a file names it, and which of the two it was")
    func fileErrors() throws {
        try IdentityMaterial.inFolder { folder in
            let files = try material.client.write(to: folder, named: "client")
            let bob = try material.other.write(to: folder, named: "bob")
            let huge = folder.appendingPathComponent("huge.pem")
            try Data(count: 1024 * 1024 + 1).write(to: huge)
            let missing = folder.appendingPathComponent("missing.pem").path
            let (chain, key) = (files.chain.path, files.privateKey.path)
            let cases: [(String, String, ClientIdentityError.Rule, ClientIdentityError.Input, String)] = [
                (missing, key, .unreadable, .certificates, missing),
                (chain, missing, .unreadable, .privateKey, missing),
                (folder.path, key, .unreadable, .certificates, folder.path),
                (chain, huge.path, .unreadable, .privateKey, huge.path),
                (key, key, .noCertificate, .certificates, key), (chain, chain, .noKey, .privateKey, chain),
                (chain, bob.privateKey.path, .keyMismatch, .privateKey, bob.privateKey.path),
                ("/dev/zero", key, .unreadable, .certificates, "/dev/zero"),
                ("a\0b", key, .unreadable, .certificates, "a\0b"),
            ]
            for (certificates, key, rule, input, path) in cases {
                let error = identityError { try ClientIdentity(certificatePath: certificates, keyPath: key) }
                #expect(error?.rule == rule && error?.input == input && error?.path == path, "\(path)")
            }
            let error = identityError { try ClientIdentity(pkcs12Path: missing, passphrase: "") }
            #expect(error?.input == .pkcs12 && error?.path == missing)
            #expect(error?.description.contains("there is no such file") == true)
        }
    }

    @Test("a key that belongs to the certificate but does not sign correctly is refused")
    func damagedKey() throws {
        let rsa = try material.authority.issueClient("dave", kind: .rsa)
        let lines = try rsa.key.traditionalPEM().split(separator: "\n")
        let der = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
        var damaged = der
        // Private exponent and primes alike, so that no detour around one of them works.
        for at in stride(from: 300, to: der.count - 20, by: 50) { damaged[at] ^= 0x55 }
        let text = "-----BEGIN RSA PRIVATE KEY-----\n\(damaged.base64EncodedString())\n-----END RSA PRIVATE KEY-----\n"
        let error = identityError { try ClientIdentity(certificates: rsa.chain, privateKeyPEM: text.utf8) }
        #expect(error?.rule == .unusableKey)
    }

    // MARK: - Who may see it

    @Test("it may be shown to the hosts of its list only")
    func hosts() throws {
        var identity = try ClientIdentity(pem: material.keyPEM + material.chainPEM)
        let (inner, outer) = (try #require(PeerName("a.example.com")), try #require(PeerName("example.org")))
        #expect(identity.mayBeShown(to: inner) && identity.mayBeShown(to: outer))

        identity.hosts = ["*.example.com"]
        #expect(identity.mayBeShown(to: inner) && !identity.mayBeShown(to: outer))

        // What cannot be understood must not open anything.
        identity.hosts = ["**", "a.*.com", "*"]
        #expect(!identity.mayBeShown(to: inner) && !identity.mayBeShown(to: outer))
        identity.hosts = []
        #expect(!identity.mayBeShown(to: inner) && !identity.mayBeShown(to: outer))
        identity.hosts = nil
        #expect(identity.mayBeShown(to: outer))
    }

    // MARK: - Equality and fingerprint

    @Test("the fingerprint is one of content: certificates, key and hosts, T-TLS-11")
    func fingerprint() throws {
        let bytes = material.keyPEM + material.chainPEM
        let identity = try ClientIdentity(pem: bytes)
        #expect(try ClientIdentity(pem: bytes).fingerprint == identity.fingerprint)
        #expect(identity.fingerprint.count == 32)

        var others = [
            try ClientIdentity(pem: Array((material.other.chainPEM + material.other.privateKeyPEM).utf8)),
            try ClientIdentity(certificates: [material.client.certificate], privateKeyPEM: material.keyPEM),
            // The same key, name and authority in a new certificate.
            try ClientIdentity(
                certificates: material.authority.issueClient("alice", key: material.client.key).chain,
                privateKeyPEM: material.keyPEM
            ),
        ]
        for hosts in [[], ["a.example"], ["*.example"], ["a.example", "b.example"]] {
            var narrowed = identity
            narrowed.hosts = hosts
            others.append(narrowed)
        }
        let all = others.map(\.fingerprint) + [identity.fingerprint]
        #expect(Set(all).count == all.count)
        #expect(Set(others + [identity]).count == all.count)

        var (left, right) = (identity, identity)
        left.hosts = ["B.example.", "a.example"]
        right.hosts = ["a.example", "b.example", "a.example"]
        #expect(left.fingerprint == right.fingerprint)
    }

    @Test("a file replaced in place makes another identity, and so does one named alike, T-TLS-11")
    func replacedFile() throws {
        try IdentityMaterial.inFolder { folder in
            func written(_ issued: IssuedCertificate, _ name: String) throws -> ClientIdentity {
                let files = try issued.write(to: folder, named: name)
                return try ClientIdentity(certificatePath: files.chain.path, keyPath: files.privateKey.path)
            }
            let before = try written(material.client, "client")
            let after = try written(material.other, "client")
            let alike = try written(material.client, "CLIENT")
            #expect(before != after && before.fingerprint != after.fingerprint)
            #expect(before == alike && after != alike && before.fingerprint == alike.fingerprint)

            // Made where another one has just been freed.
            for number in 0..<50 {
                let issued = number % 2 == 0 ? material.client : material.other
                let made = try ClientIdentity(certificates: issued.chain, privateKeyPEM: issued.privateKeyPEM.utf8)
                #expect((made.fingerprint == before.fingerprint) == (number % 2 == 0))
            }
        }
    }
}

extension Collection<UInt8> {
    /// The blocks of a PEM, last first.
    fileprivate var reversedBlocks: [UInt8] {
        let end = "-----END CERTIFICATE-----\n"
        let text = String(decoding: self, as: UTF8.self)
        return Array(text.components(separatedBy: end).dropLast().reversed().map { $0 + end }.joined().utf8)
    }
}
