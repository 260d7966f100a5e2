import AFTLS
import CAFOpenSSL
import Foundation
import Testing

/// The work that a sealed key asks for, unknown algorithms, and bytes behind a key.
@Suite struct IdentityPEMWorkTests {
    private typealias DER = PKCS12Draft
    private let material: IdentityMaterial

    init() throws {
        material = try IdentityMaterial.shared.get()
    }

    private static let (pbes2, pbkdf2) = (pkcs5(13), pkcs5(12))
    private static let hmac: [UInt8] = [0x06, 8, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 2, 9]
    private static let aes: [UInt8] = [0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2A]
    /// The number of nothing.
    private static let nobody: [UInt8] = [0x06, 4, 0x2A, 0x83, 0x7F, 0x7F]

    private static func pkcs5(_ number: UInt8) -> [UInt8] {
        [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, number]
    }

    private static func number(_ value: Int) -> [UInt8] {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
        while bytes.count > 1, bytes[0] == 0, bytes[1] < 0x80 { bytes.removeFirst() }
        return DER.element(2, bytes)
    }

    private static let octets = DER.element(4, [UInt8](repeating: 7, count: 16))

    /// A sealed key that nothing opens, which asks for so many rounds.
    static func sealed(rounds: Int, kdf: [UInt8] = pbkdf2, prf: [UInt8] = hmac, _ cipher: [UInt8]...) -> [UInt8] {
        let work = DER.sequence(octets, number(rounds), DER.sequence(prf, [5, 0]))
        let cipher = cipher.isEmpty ? nobody + octets : Array(cipher.joined())
        return sealed(pbes2, DER.sequence(DER.sequence(kdf, work), DER.sequence(cipher)))
    }

    static func sealed(_ scheme: [UInt8], _ parameters: [UInt8]) -> [UInt8] {
        DER.sequence(DER.sequence(scheme, parameters), DER.element(4, [UInt8](repeating: 7, count: 64)))
    }

    private static func block(_ label: String, _ der: [UInt8]) -> [UInt8] {
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n".utf8)
    }

    static func der(_ pem: String) throws -> [UInt8] {
        let lines = pem.split(separator: "\n").dropFirst().dropLast()
        return Array(try #require(Data(base64Encoded: lines.joined())))
    }

    private func rule(_ key: [UInt8], _ passphrase: String? = "x") -> ClientIdentityError.Rule? {
        // What others left in OpenSSL's queue says nothing of this key.
        ErrorQueue.raiseUnsupported()
        defer { #expect(ERR_peek_error() == 0) }
        return identityError { try ClientIdentity(pem: material.chainPEM + key, passphrase: passphrase) }?.rule
    }

    @Test func `T-TLS-76 ten million rounds are taken, one more, none and less than none are not`() {
        let (most, more) = (10_000_000, 10_000_001)
        for rounds in [more, 0, -1, .max] {
            let old = Self.sealed(Self.pkcs5(10), DER.sequence([4, 8, 1, 2, 3, 4, 5, 6, 7, 8], Self.number(rounds)))
            for key in [old, Self.sealed(rounds: rounds)] {
                #expect(rule(Self.block("ENCRYPTED PRIVATE KEY", key)) == .excessiveWork, "\(rounds)")
            }
        }
        // This takes no time, since OpenSSL first looks for a cipher that is not there.
        for rounds in [1, most] {
            #expect(rule(Self.block("ENCRYPTED PRIVATE KEY", Self.sealed(rounds: rounds))) == .unsupportedEncryption)
        }
    }

    @Test func `what OpenSSL has no algorithm for is unsupported, and no wrong passphrase`() {
        let keys = [
            Self.sealed(rounds: 1), Self.sealed(rounds: 1, kdf: Self.nobody, Self.aes, Self.octets),
            Self.sealed(rounds: 1, prf: Self.nobody, Self.aes, Self.octets), Self.sealed(Self.nobody, [5, 0]),
        ]
        for (index, key) in keys.enumerated() {
            #expect(rule(Self.block("ENCRYPTED PRIVATE KEY", key)) == .unsupportedEncryption, "\(index)")
        }
        // Known algorithms, with parameters that are none, or with bytes that another passphrase sealed.
        for parameters in [Self.octets, [5, 0], [4, 1, 7]] {
            let key = Self.sealed(rounds: 1, Self.aes, parameters)
            #expect(rule(Self.block("ENCRYPTED PRIVATE KEY", key)) == .wrongPassphrase, "\(parameters)")
        }
        for name in ["NO-SUCH-CIPHER", "SHA256"] {
            let text = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: \(name),0011223344556677\n\n"
            let rule = rule(Array((text + "QUJD\n-----END RSA PRIVATE KEY-----\n").utf8))
            #expect(rule == .unsupportedEncryption, "\(name)")
        }
    }

    @Test func `bytes behind a key are no part of it, sealed or not`() throws {
        let rsa = try material.authority.issueClient("carol", kind: .rsa(bits: 2048))
        let cases: [(String, [UInt8], IssuedCertificate)] = [
            ("PRIVATE KEY", try Self.der(material.client.privateKeyPEM), material.client),
            ("EC PRIVATE KEY", try Self.der(material.client.key.traditionalPEM()), material.client),
            ("RSA PRIVATE KEY", try Self.der(rsa.key.traditionalPEM()), rsa),
            ("ENCRYPTED PRIVATE KEY", try Self.der(material.client.key.pem(passphrase: "x")), material.client),
        ]
        for (label, der, client) in cases {
            for (bytes, expected) in [(der, nil), (der + [0], .malformed), (der.dropLast(), .malformed)]
                as [([UInt8], ClientIdentityError.Rule?)]
            {
                let pem = Array(client.chainPEM.utf8) + Self.block(label, bytes)
                #expect(identityError { try ClientIdentity(pem: pem, passphrase: "x") }?.rule == expected, "\(label)")
            }
        }
        // The right bytes under another name.
        let ec = try Self.der(material.client.key.traditionalPEM())
        for label in ["RSA PRIVATE KEY", "PRIVATE KEY"] { #expect(rule(Self.block(label, ec)) == .malformed) }
        for label in ["DSA PRIVATE KEY", "ANY PRIVATE KEY"] { #expect(rule(Self.block(label, ec)) == .unusableKey) }
    }

    @Test func `a passphrase fits the 1024 bytes that OpenSSL has for one in the old form, or opens nothing`() throws {
        for (count, expected) in [(1024, nil), (99_999, .wrongPassphrase)] as [(Int, ClientIdentityError.Rule?)] {
            let long = String(repeating: "p", count: count)
            let text = try material.client.key.traditionalPEM(passphrase: String(long.prefix(1024)))
            #expect(rule(Array(text.utf8), long) == expected)
            #expect(rule(Array(text.utf8), nil) == .passphraseRequired)
            #expect(rule(Array(text.utf8), "") == .wrongPassphrase)
        }
    }

    @Test func `a key works for its own certificate alone, and no error is left behind`() throws {
        let key = material.client.key.handle
        for (owner, answer) in [(material.client, 1), (material.other, 0)] as [(IssuedCertificate, Int32)] {
            ErrorQueue.poison()
            #expect(caf_key_belongs(owner.certificate.handle, key) == answer && ERR_peek_error() == 0)
            ErrorQueue.poison()
            #expect(caf_key_works(owner.certificate.handle, key) == answer && ERR_peek_error() == 0)
        }
    }
}

extension ErrorQueue {
    /// Leaves behind that an algorithm is missing.
    static func raiseUnsupported() {
        ERR_new()
        ERR_set_debug("test", 1, "test")
        withVaList([]) { ERR_vset_error(ERR_LIB_EVP, EVP_R_UNSUPPORTED_ALGORITHM, nil, $0) }
    }
}
