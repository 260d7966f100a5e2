import Testing

@testable import AFTLS

@Suite struct PublicKeyPinTests {
    // SHA-256 of nothing.
    static let text = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    @Test("a pin reads what it writes")
    func roundTrip() throws {
        let pin = try #require(PublicKeyPin(Self.text))

        #expect(pin.description == Self.text)
        #expect(pin == PublicKeyPin(publicKeyBytes: []))
        #expect(pin == (try PublicKeyPin(digest: pin.digest)))
        #expect(pin.digest == SHA256Digest.of([]))
        #expect(pin.digest.prefix(4) == [0xE3, 0xB0, 0xC4, 0x42])
        #expect(PublicKeyPin(Self.text.replacingPrefix) == pin)
    }

    @Test("a digest that begins with a slash is not taken for the second slash")
    func slashes() throws {
        let pin = try PublicKeyPin(digest: [0xFF] + [UInt8](repeating: 0xF0, count: 31))

        #expect(pin.description.hasPrefix("sha256//"))
        #expect(PublicKeyPin(pin.description) == pin)
        #expect(PublicKeyPin("sha256//" + pin.description.dropFirst(7)) == pin)
    }

    static let base64 = String(text.dropFirst(7))
    static let otherSpellings: [String] = [
        "", "sha256", "sha256/", "sha256//", "sha1/2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "SHA256/\(base64)", base64,
        "\(text)=", "\(text.dropLast())", "\(text) ", " \(text)", "\(text)\n", "\(text.dropLast(2))V=",
        "sha256/////\(base64)", "sha256/\(String(repeating: "=", count: 44))", "\(text.dropLast(4))uF==",
        "sha256/47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=", "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRk=5NMpJWZG3hSuFU=",
        "sha256/ä\(base64.dropFirst(2))", "sha256/A\(base64)", "sha256/AAAA\(base64)", "sha256/\(base64.dropLast(4))",
        "sha256/\(String(repeating: "A", count: 44))",
    ]

    @Test("other spellings are refused, T-TLS-19", arguments: otherSpellings)
    func refused(_ text: String) {
        #expect(PublicKeyPin(text) == nil)
    }

    @Test("a digest of another length is an error that says so")
    func wrongLength() {
        for count in [0, 20, 31, 33, 64] {
            #expect(throws: PublicKeyPinError.self) { try PublicKeyPin(digest: [UInt8](repeating: 1, count: count)) }
        }
        #expect(throws: PublicKeyPinError(count: 20)) { try PublicKeyPin(digest: [UInt8](repeating: 1, count: 20)) }
    }
}

extension String {
    fileprivate var replacingPrefix: String { "sha256//" + dropFirst(7) }
}
