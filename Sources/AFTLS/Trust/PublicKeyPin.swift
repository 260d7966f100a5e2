internal import CAFOpenSSL

/// The SHA-256 of a public key, by which a server or an authority is recognised.
///
/// It covers the SubjectPublicKeyInfo in DER, so it names the key together with
/// its algorithm and parameters, and outlives a renewal that keeps the key.
/// ```
/// openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
/// ```
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    // Words instead of an array: a pin is made for each certificate of each handshake.
    private let words: SIMD4<UInt64>

    /// Reads `sha256/` and the 44 characters of base64 that 32 bytes have; `sha256//` is read as well.
    ///
    /// Nil for anything else: other digests, missing padding, white space.
    public init?(_ text: String) {
        var rest = text.utf8[...]
        guard rest.starts(with: "sha256/".utf8) else { return nil }
        rest = rest.dropFirst(7)
        // A slash is a digit of base64 too: the length tells.
        if rest.count == 45, rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
        guard rest.count == 44, let digest = Base64.decode(rest), digest.count == 32 else { return nil }
        words = Self.words(digest)
    }

    /// The pin with this digest of 32 bytes.
    public init(digest: [UInt8]) throws(PublicKeyPinError) {
        guard digest.count == 32 else { throw PublicKeyPinError(count: digest.count) }
        words = Self.words(digest)
    }

    /// The pin of a certificate's public key.
    public init(of certificate: Certificate) {
        words = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { buffer in
            buffer.initialize(repeating: 0)
            // A certificate without a key to encode does not exist, but memory for it may not either. What could not be
            // made must not be equal to another one that could not.
            guard caf_public_key_sha256(certificate.handle, buffer.baseAddress) == 1 else { return Self.matchless }
            return Self.words(buffer)
        }
    }

    /// The pin of a public key, given as SubjectPublicKeyInfo in DER.
    public init(publicKeyBytes: [UInt8]) {
        words = Self.words(SHA256Digest.of(publicKeyBytes))
    }

    /// The 32 bytes of the SHA-256.
    public var digest: [UInt8] {
        (0..<32).map { UInt8(truncatingIfNeeded: words[$0 >> 3] >> UInt64(56 - ($0 & 7) * 8)) }
    }

    /// `sha256/` and the digest in base64.
    public var description: String { "sha256/" + Base64.encode(digest) }

    /// Random bits, which are those of no key.
    private static var matchless: SIMD4<UInt64> { .random(in: .min ... .max) }

    private static func words(_ bytes: some Collection<UInt8>) -> SIMD4<UInt64> {
        var words = SIMD4<UInt64>()
        for (index, byte) in bytes.prefix(32).enumerated() { words[index >> 3] = words[index >> 3] << 8 | UInt64(byte) }
        return words
    }
}

/// A digest that cannot be a SHA-256.
public struct PublicKeyPinError: Error, Hashable, Sendable, CustomStringConvertible {
    /// How many bytes it has.
    public let count: Int

    /// What is wrong with it.
    public var description: String { "a public key pin is a SHA-256 of 32 bytes, not \(count)" }
}
