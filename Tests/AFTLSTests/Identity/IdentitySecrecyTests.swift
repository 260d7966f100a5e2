import AFTLS
import Foundation
import Testing

@Suite struct IdentitySecrecyTests {
    private let material: IdentityMaterial
    private let passphrase = "canary-passphrase-7f3a"

    init() throws {
        material = try IdentityMaterial.shared.get()
    }

    /// Everything a value shows of itself.
    private func everything(_ value: some Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return [String(describing: value), String(reflecting: value), "\(value)", dumped].joined(separator: "\n")
    }

    private func isClean(_ text: String, besides secrets: [String] = []) -> Bool {
        let key = material.client.privateKeyPEM.split(separator: "\n").dropFirst().dropLast().map(String.init)
        return ([passphrase] + key + secrets).allSatisfy { !text.contains($0) }
    }

    @Test("an identity shows subject and digest, and neither key nor passphrase, T-TLS-83")
    func identity() throws {
        let sealed = Array(try material.client.key.pem(passphrase: passphrase).utf8)
        let file = try material.client.pkcs12(passphrase: passphrase)
        var identities = [
            try ClientIdentity(pem: material.chainPEM + sealed, passphrase: passphrase),
            try ClientIdentity(pkcs12: file, passphrase: passphrase),
            try ClientIdentity(pem: material.chainPEM + material.keyPEM),
        ]
        identities[0].hosts = ["a.example"]
        let digest = material.client.certificate.fingerprint.map { String(format: "%02x", $0) }.joined()
        for identity in identities {
            let text = everything(identity) + everything([identity]) + everything(Optional(identity) as Any)
            #expect(isClean(text))
            #expect(text.contains("CN=alice") && text.contains(digest))
            #expect(!text.contains("0x"), "an address: \(text)")
        }
        #expect(identities[0].description == "client identity \"CN=alice\", SHA-256 \(digest)")
    }

    @Test("no error shows the passphrase, the key, or what was in a file, T-TLS-83, T-TLS-76")
    func errors() throws {
        let sealed = Array(try material.client.key.pem(passphrase: "another").utf8)
        let canary = "canary-content-91c2"
        let file = try material.client.pkcs12(passphrase: "another")
        let attempts: [() throws -> ClientIdentity] = [
            { try ClientIdentity(pem: material.chainPEM + sealed, passphrase: passphrase) },
            { try ClientIdentity(pem: Array(canary.utf8), passphrase: passphrase) },
            { try ClientIdentity(pem: Array("-----BEGIN \(canary)-----".utf8) + sealed, passphrase: passphrase) },
            {
                try ClientIdentity(
                    pem: material.keyPEM + Array("-----BEGIN CERTIFICATE-----\n\(canary)\n".utf8),
                    passphrase: passphrase
                )
            },
            { try ClientIdentity(pem: material.keyPEM.dropLast(60) + material.chainPEM, passphrase: passphrase) },
            { try ClientIdentity(pem: material.keyPEM + material.keyPEM, passphrase: passphrase) },
            {
                try ClientIdentity(
                    certificates: material.other.chain,
                    privateKeyPEM: material.keyPEM,
                    passphrase: passphrase
                )
            },
            { try ClientIdentity(pkcs12: file, passphrase: passphrase) },
            { try ClientIdentity(pkcs12: Array(canary.utf8), passphrase: passphrase) },
            { try ClientIdentity(pkcs12Path: "/nonexistent", passphrase: passphrase) },
        ]
        for (number, attempt) in attempts.enumerated() {
            let error = try #require(identityError(attempt), "\(number)")
            #expect(isClean(everything(error), besides: [canary]), "\(number): \(error)")
            #expect(isClean(everything(error as NSError), besides: [canary]), "\(number)")
        }
    }
}
