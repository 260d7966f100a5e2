import AFBase
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
        guard let digest = Array(rest).withUnsafeBytes({ Base64.decode($0) }),
            let pin = try? PublicKeyPin(digest: digest)
        else { return nil }
        self = pin
    }

    /// The pin with this digest of 32 bytes.
    public init(digest: [UInt8]) throws(PublicKeyPinError) {
        guard digest.count == 32 else { throw PublicKeyPinError(count: digest.count) }
        words = Self.words(digest)
    }

    /// The pin of a certificate's public key.
    public init(of certificate: Certificate) {
        var words = SIMD4<UInt64>()
        let isMade = withUnsafeMutableBytes(of: &words) {
            caf_public_key_sha256(certificate.handle, $0.assumingMemoryBound(to: UInt8.self).baseAddress) == 1
        }
        // A certificate without a key to encode does not exist, but memory for it may not either. What could not be
        // made must not be equal to another one that could not.
        self.words = isMade ? words : Self.matchless
    }

    /// The pin of a public key, given as SubjectPublicKeyInfo in DER.
    public init(publicKeyBytes: [UInt8]) {
        words = Self.words(SHA256Digest.of(publicKeyBytes))
    }

    /// The 32 bytes of the SHA-256.
    public var digest: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// `sha256/` and the digest in base64.
    public var description: String {
        "sha256/" + String(decoding: digest.withUnsafeBytes { Base64.encode($0) }, as: UTF8.self)
    }

    /// Random bits, which are those of no key.
    private static var matchless: SIMD4<UInt64> { .random(in: .min ... .max) }

    private static func words(_ digest: [UInt8]) -> SIMD4<UInt64> {
        var words = SIMD4<UInt64>()
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: digest) }
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
