import AFTLS
import Testing

@Suite("Digests and secrets")
struct DigestTests {
    private static func hex(_ bytes: [UInt8]?) -> String {
        (bytes ?? []).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(
        "digests are those of the standards, in one piece and in many",
        arguments: [
            (
                DigestFunction.md5, "d41d8cd98f00b204e9800998ecf8427e", "900150983cd24fb0d6963f7d28e17f72"
            ),
            (
                .sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            ),
            (
                .sha512_256, "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a",
                "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"
            ),
        ]
    )
    func vectors(function: DigestFunction, ofNothing: String, ofABC: String) throws {
        #expect(function.isAvailable)
        let nothing = try #require(MessageDigest(function))
        #expect(Self.hex(nothing.finish()) == ofNothing)
        #expect(nothing.finish() == nil)

        let abc = try #require(MessageDigest(function))
        for piece in ["", "a", "", "bc", ""] { abc.add(Array(piece.utf8)) }
        #expect(Self.hex(abc.finish()) == ofABC)
    }

    @Test("secrets are equal byte by byte, T-AUT-18")
    func equality() {
        // The same text for Unicode, in two spellings.
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        #expect(composed == decomposed)
        #expect(SecretBytes(composed) != SecretBytes(decomposed))
        #expect(SecretBytes("password") != SecretBytes("Password"))
        #expect(SecretBytes("password") != SecretBytes("password "))
        #expect(SecretBytes("password") == SecretBytes("password"))
        #expect(SecretBytes("") == SecretBytes(""))
        #expect(Set([SecretBytes("a"), SecretBytes("a"), SecretBytes("b")]).count == 2)
    }

    @Test("a secret is not shown, and gives back what it was made of, T-AUT-20")
    func text() {
        let secret = SecretBytes("canary-é-1")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains("canary"))
        #expect(secret.text == "canary-é-1")
        #expect(secret.count == 11)
    }

    @Test("wiped bytes are overwritten, T-AUT-20")
    func wiping() {
        var bytes = Array("canary".utf8)
        SecretBytes.wipe(&bytes)
        #expect(bytes.isEmpty)
        SecretBytes.wipe(&bytes)
        #expect(bytes.isEmpty)
    }
}
