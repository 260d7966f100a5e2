import AFTLS
import CAFOpenSSL
import Foundation
import Testing

@Suite struct IdentityPKCS12Tests {
    private let material: IdentityMaterial

    init() throws {
        material = try IdentityMaterial.shared.get()
    }

    // MARK: - Reading

    @Test(
        "a file is opened with its passphrase, in the modern and in the old way, T-TLS-76",
        arguments: [IssuedCertificate.PKCS12Encryption.modern, .legacy]
    )
    func opened(encryption: IssuedCertificate.PKCS12Encryption) throws {
        let file = try material.client.pkcs12(passphrase: "sésame", encryption: encryption)
        let identity = try ClientIdentity(pkcs12: file, passphrase: "sésame")
        #expect(identity.certificates == material.client.chain)
        #expect(identity.works)
    }

    @Test(
        "an empty passphrase opens what was sealed with an empty one and what was sealed with none, T-TLS-76",
        arguments: ["", nil],
        [IssuedCertificate.PKCS12Encryption.modern, .legacy]
    )
    func emptyOrAbsent(passphrase: String?, encryption: IssuedCertificate.PKCS12Encryption) throws {
        let file = try material.client.pkcs12(passphrase: passphrase, encryption: encryption)
        #expect(try ClientIdentity(pkcs12: file, passphrase: "").works)
        let error = identityError { try ClientIdentity(pkcs12: file, passphrase: "something") }
        #expect(error?.rule == .wrongPassphrase)
    }

    @Test("the key's certificate comes first wherever it is in the file")
    func order() throws {
        let key = try Self.keyBag(material.keyPEM)
        let bags = (material.client.issuers + [material.client.certificate]).map(PKCS12Draft.certificateBag)
        let file = PKCS12Draft(contents: [PKCS12Draft.plain(bags[0], bags[1]), PKCS12Draft.plain(key)])
        let identity = try ClientIdentity(pkcs12: #require(file.sealed("x")), passphrase: "x")
        #expect(identity.certificates == material.client.chain)
    }

    @Test("bags within bags are opened, to a depth")
    func nested() throws {
        let bags = try Self.keyBag(material.keyPEM) + PKCS12Draft.certificateBag(material.client.certificate)
        var nested = bags
        for depth in 1...6 {
            nested = PKCS12Draft.bag(6, PKCS12Draft.sequence(nested))
            let file = try #require(PKCS12Draft(contents: [PKCS12Draft.plain(nested)]).sealed("x"))
            let error = identityError { try ClientIdentity(pkcs12: file, passphrase: "x") }
            #expect(error?.rule == (depth < 4 ? nil : .malformed), "\(depth)")
        }
    }

    // MARK: - The library's context

    @Test("old encryption leaves the default library context as it was, and needs the legacy provider")
    func legacyContext() throws {
        let file = try material.client.pkcs12(passphrase: "x", encryption: .legacy)
        #expect(try ClientIdentity(pkcs12: file, passphrase: "x").works)
        #expect(OSSL_PROVIDER_available(nil, "legacy") == 0)
        #expect(OSSL_PROVIDER_available(nil, "default") == 1)

        let error = identityError { try ClientIdentity(pkcs12: file, passphrase: "x", legacyModules: "/nonexistent") }
        #expect(error?.rule == .legacyProviderMissing)
        #expect(error?.message.contains("legacy provider") == true)
        // What needs nothing old is read without it.
        let modern = try material.client.pkcs12(passphrase: "x")
        #expect(try ClientIdentity(pkcs12: modern, passphrase: "x", legacyModules: "/nonexistent").works)
    }

    // MARK: - Refusing

    @Test("every defect of a file is an error with a rule of its own, T-TLS-76")
    func defects() throws {
        let client = material.client
        let good = try client.pkcs12(passphrase: "right")
        let certificate = PKCS12Draft.certificateBag(client.certificate)
        let (key, bob) = (try Self.keyBag(material.keyPEM), try Self.keyBag(Array(material.other.privateKeyPEM.utf8)))
        func draft(_ bags: [UInt8]...) throws -> [UInt8] {
            try #require(PKCS12Draft(contents: bags.map { PKCS12Draft.plain($0) }).sealed("right"))
        }
        let cases: [(String, [UInt8], String, ClientIdentityError.Rule)] = [
            ("nothing", [], "", .empty),
            ("junk", Array("junk".utf8), "right", .malformed),
            ("PEM", material.keyPEM, "right", .malformed),
            ("cut short", Array(good.dropLast(20)), "right", .malformed),
            ("bytes after it", good + [0], "right", .malformed),
            ("wrong passphrase", good, "wrong", .wrongPassphrase),
            ("case of the passphrase", good, "Right", .wrongPassphrase),
            ("empty passphrase", good, "", .passphraseRequired),
            (
                "old, wrong passphrase", try client.pkcs12(passphrase: "right", encryption: .legacy), "wrong",
                .wrongPassphrase
            ),
            ("no key", try client.pkcs12(passphrase: "right", includesKey: false), "right", .noKey),
            ("no certificate", try draft(key), "right", .noCertificate),
            ("nothing in it", try draft(), "right", .noKey),
            ("key and certificate differ", try draft(certificate, bob), "right", .keyMismatch),
            ("two keys", try draft(certificate, key + bob), "right", .severalKeys),
            ("no MAC", PKCS12Draft(contents: [PKCS12Draft.plain(certificate, key)]).unprotected, "right", .unprotected),
            (
                "a hundred million rounds", PKCS12Draft(contents: []).claiming(rounds: [0x05, 0xF5, 0xE1, 0x00]),
                "right",
                .excessiveWork
            ),
            (
                "rounds beyond any number",
                PKCS12Draft(contents: []).claiming(rounds: [UInt8](repeating: 1, count: 40)),
                "right", .excessiveWork
            ),
            (
                "a negative number of rounds", PKCS12Draft(contents: []).claiming(rounds: [0xFF]), "right",
                .excessiveWork
            ),
        ]
        for (name, bytes, passphrase, rule) in cases {
            let error = identityError { try ClientIdentity(pkcs12: bytes, passphrase: passphrase) }
            #expect(error?.rule == rule, "\(name): \(error.map(String.init(describing:)) ?? "none")")
            #expect(error?.input == .pkcs12, "\(name)")
        }
    }

    @Test("fields that are not there are errors, T-TLS-76")
    func missingFields() throws {
        typealias Draft = PKCS12Draft
        let kind = Draft.element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x16, 0x01])
        let whole = Draft.plain(try Self.keyBag(material.keyPEM), Draft.certificateBag(material.client.certificate))
        let unsealed = Draft.sequence([0x02, 0x01, 0x03], Draft.sequence(Draft.data))
        let contents: [(String, [[UInt8]])] = [
            ("data without content", [Draft.sequence(Draft.data)]),
            ("encrypted data without content", [Draft.sequence(Draft.encryptedData)]),
            (
                "encrypted data without a value",
                [
                    Draft.sequence(Draft.encryptedData, Draft.element(0xA0, Draft.sequence([0x02, 0x01, 0x00])))
                ]
            ),
            ("encrypted content without bytes", [Self.encrypted(withBytes: false)]),
            ("an algorithm without parameters", [Self.encrypted(withBytes: true)]),
            ("an empty key bag", [Draft.plain(Draft.bag(1, nil))]),
            ("an empty sealed key bag", [Draft.plain(Draft.bag(2, Draft.sequence()))]),
            ("an empty certificate bag", [Draft.plain(Draft.bag(3, Draft.sequence()))]),
            ("a certificate bag without a certificate", [Draft.plain(Draft.bag(3, Draft.sequence(kind)))]),
            (
                "a certificate bag with NULL",
                [
                    Draft.plain(Draft.bag(3, Draft.sequence(kind, Draft.element(0xA0, [0x05, 0x00]))))
                ]
            ),
            ("a bag without anything", [Draft.plain(Draft.sequence())]),
        ]
        for (name, content) in contents {
            // Behind a correct MAC and with an identity that would do.
            let file = try #require(PKCS12Draft(contents: content + [whole]).sealed("x"), "\(name)")
            let error = identityError { try ClientIdentity(pkcs12: file, passphrase: "x") }
            #expect(error != nil, "\(name)")
        }
        let none = identityError { try ClientIdentity(pkcs12: unsealed, passphrase: "x") }
        #expect(none?.rule == .malformed)
    }

    /// Encrypted contents with the algorithm PBES2 and no parameters.
    private static func encrypted(withBytes: Bool) -> [UInt8] {
        let algorithm = PKCS12Draft.element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D])
        let info = PKCS12Draft.sequence(
            PKCS12Draft.data,
            PKCS12Draft.sequence(algorithm),
            withBytes ? PKCS12Draft.element(0x80, [UInt8](repeating: 7, count: 32)) : []
        )
        let value = PKCS12Draft.sequence([0x02, 0x01, 0x00], info)
        return PKCS12Draft.sequence(PKCS12Draft.encryptedData, PKCS12Draft.element(0xA0, value))
    }

    private static func keyBag(_ pem: [UInt8]) throws -> [UInt8] {
        let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").dropFirst().dropLast()
        return PKCS12Draft.bag(1, Array(try #require(Data(base64Encoded: lines.joined()))))
    }
}
