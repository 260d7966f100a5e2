import AFTLS
import CAFOpenSSL
import Testing

/// The whole work of a file, and what may stand in it beside one identity.
@Suite struct IdentityPKCS12WorkTests {
    private typealias DER = PKCS12Draft
    private let material: IdentityMaterial
    private let whole: [UInt8]

    init() throws {
        material = try IdentityMaterial.shared.get()
        let key = try IdentityPEMWorkTests.der(material.client.privateKeyPEM)
        whole = DER.bag(1, key) + DER.certificateBag(material.client.certificate)
    }

    private func rule(_ contents: [UInt8]..., rounds: Int32 = 1) throws -> ClientIdentityError.Rule? {
        let file = try #require(DER(contents: contents).sealed("x", rounds: rounds))
        ErrorQueue.raiseUnsupported()
        defer { #expect(ERR_peek_error() == 0) }
        return identityError { try ClientIdentity(pkcs12: file, passphrase: "x") }?.rule
    }

    private static func sealedBag(_ rounds: Int) -> [UInt8] { DER.bag(2, IdentityPEMWorkTests.sealed(rounds: rounds)) }

    /// Contents sealed in a way that OpenSSL does not know.
    private static func sealedContents(_ rounds: Int) -> [UInt8] {
        // Kind and bytes of a sealed key have the places that they have in sealed contents.
        let sealed = IdentityPEMWorkTests.sealed(rounds: rounds)
        let algorithm = Array(sealed.dropFirst(3).dropLast(66))
        let bytes = DER.element(0x80, [UInt8](repeating: 7, count: 64))
        let value = DER.sequence([2, 1, 0], DER.sequence(DER.data, algorithm, bytes))
        return DER.sequence(DER.encryptedData, DER.element(0xA0, value))
    }

    @Test func `T-TLS-76 all rounds of a file are counted together, and again from none in a second attempt`() throws {
        let (most, certificate) = (10_000_000, DER.certificateBag(material.client.certificate))
        for (key, rounds, expected) in [
            (most - 1, 1, .unsupportedEncryption), (most, 1, .excessiveWork), (most - 2, 2, .unsupportedEncryption),
            (most - 1, 2, .excessiveWork), (6_000_000, 1, .unsupportedEncryption),
        ] as [(Int, Int32, ClientIdentityError.Rule)] {
            // What comes behind does not make up for it.
            let bags = DER.plain(Self.sealedBag(key) + certificate)
            #expect(try rule(bags, DER.plain(certificate), rounds: rounds) == expected, "\(key) and \(rounds)")
            #expect(try rule(Self.sealedContents(key), rounds: rounds) == expected, "\(key) and \(rounds)")
        }
    }

    @Test func `what is neither key nor certificate is passed by`() throws {
        let kind = { (number: UInt8) in DER.element(6, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 22, number]) }
        let secret = DER.bag(5, DER.sequence(kind(1), DER.element(0xA0, DER.element(4, [1]))))
        let strange = DER.bag(3, DER.sequence(kind(2), DER.element(0xA0, DER.element(0x16, [0x41]))))

        for bag in [secret, strange] {
            for file in [[DER.plain(bag + whole)], [DER.plain(whole + bag)], [DER.plain(bag), DER.plain(whole)]] {
                let bytes = try #require(DER(contents: file).sealed("x"))
                let identity = try ClientIdentity(pkcs12: bytes, passphrase: "x")
                #expect(identity.works && identity.certificates == [material.client.certificate])
            }
        }
    }

    @Test func `what cannot be a key or contents is told apart`() throws {
        let nobody: [UInt8] = [6, 4, 0x2A, 0x83, 0x7F, 0x7F]
        let unknown = DER.bag(1, DER.sequence([2, 1, 0], DER.sequence(nobody), DER.element(4, [1])))
        #expect(try rule(DER.plain(unknown + DER.certificateBag(material.client.certificate))) == .unusableKey)
        #expect(try rule(DER.plain(whole + Self.sealedBag(1))) == .severalKeys)
        #expect(try rule(DER.plain(whole)) == nil)
        // Digested contents, which say nothing of a passphrase, and no contents at all.
        let digested = DER.element(6, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 5])
        #expect(try rule(DER.plain(whole), DER.sequence(digested)) == .unsupportedEncryption)
        let none = try #require(DER.sealed([5, 0], "x"))
        #expect(identityError { try ClientIdentity(pkcs12: none, passphrase: "x") }?.rule == .malformed)
    }
}
