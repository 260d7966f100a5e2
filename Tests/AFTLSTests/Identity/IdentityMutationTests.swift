import AFTLS
import Testing

/// Whatever happens to a file, reading it ends in an error or in an identity that works.
@Suite struct IdentityMutationTests {
    private let material: IdentityMaterial

    init() throws {
        material = try IdentityMaterial.shared.get()
    }

    @Test("two thousand damaged PEM texts, T-TLS-76")
    func pem() throws {
        let (chain, key) = (material.chainPEM, material.keyPEM)
        let sealed = Array(try material.client.key.pem(passphrase: "x").utf8)
        let old = Array(try material.client.key.traditionalPEM(passphrase: "x").utf8)
        let seeds = [key + chain, chain + sealed, old + chain, chain + key]
        try check(seeds, count: 2_000, seed: 76) { try ClientIdentity(pem: $0, passphrase: "x") }
    }

    @Test("two thousand damaged PKCS#12 files, T-TLS-76")
    func pkcs12() throws {
        let seeds = [
            try material.client.pkcs12(passphrase: "x"),
            try material.client.pkcs12(passphrase: "x", encryption: .legacy),
        ]
        try check(seeds, count: 2_000, seed: 77) { try ClientIdentity(pkcs12: $0, passphrase: "x") }
    }

    @Test("five hundred PKCS#12 files damaged behind a correct MAC, T-TLS-76")
    func sealed() throws {
        let file = try material.client.pkcs12(passphrase: "x")
        let content = try #require(PKCS12Draft.content(of: file))
        #expect(try ClientIdentity(pkcs12: #require(PKCS12Draft.sealed(content, "x")), passphrase: "x").works)
        try check([content], count: 500, seed: 78) { bytes in
            guard let sealed = PKCS12Draft.sealed(bytes, "x") else { throw Unsealed() }
            return try ClientIdentity(pkcs12: sealed, passphrase: "x")
        }
    }

    private struct Unsealed: Error {}

    private func check(
        _ seeds: [[UInt8]],
        count: Int,
        seed: UInt64,
        _ read: ([UInt8]) throws -> ClientIdentity
    ) throws {
        var random = SeededGenerator(seed: seed)
        var (refused, made) = (0, 0)
        for seed in seeds { #expect(try read(seed).works) }
        for number in 0..<count {
            let bytes = random.mutated(seeds[number % seeds.count])
            do {
                let identity = try read(bytes)
                #expect(identity.works, "mutation \(number)")
                made += 1
            } catch let error as ClientIdentityError {
                #expect(!error.description.isEmpty)
                refused += 1
            } catch is Unsealed {
                refused += 1
            }
        }
        #expect(refused > count / 2, "\(refused) refused, \(made) made")
    }
}
