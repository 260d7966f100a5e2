import AFTLS
internal import CAFOpenSSL
internal import CAFTestServer
import Foundation

/// A private key for the certificates of a test.
///
/// Making an RSA key takes from 10 ms (1024 bits) to a second (4096 bits); other keys take less than 1 ms.
public struct CertificateKey: Sendable {
    /// The algorithm of a key, with its size.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        /// RSA. 2048 bits are usual; 1024 and 512 are weak.
        case rsa(bits: Int)
        /// ECDSA on NIST's curve P-256.
        case p256
        /// ECDSA on NIST's curve P-384.
        case p384
        /// ECDSA on NIST's curve P-192, which is weak.
        case p192
        /// ECDSA on P-256, with the curve's parameters in place of its name. RFC 5480 forbids this in certificates.
        case explicitP256
        /// Ed25519.
        case ed25519

        /// RSA with the usual 2048 bits.
        public static var rsa: Kind { .rsa(bits: 2048) }
    }

    /// The kind that was asked for.
    public let kind: Kind
    private let object: OpenSSLObject

    /// Makes a new key.
    public init(_ kind: Kind = .p256) throws(CertificateMakingError) {
        OpenSSLErrors.clear()
        guard caf_openssl_init() == 1, let key = Self.make(kind) else {
            throw CertificateMakingError("Making a key (\(kind))")
        }
        self.kind = kind
        object = OpenSSLObject(owning: key, free: EVP_PKEY_free)
    }

    /// The existing key, or a new one. (`??` would lose the type of the error.)
    static func make(_ kind: Kind, unless existing: CertificateKey?) throws(CertificateMakingError) -> CertificateKey {
        if let existing { return existing }
        return try CertificateKey(kind)
    }

    private static func make(_ kind: Kind) -> OpaquePointer? {
        switch kind {
        case .rsa(let bits): caf_make_key("RSA", Int32(clamping: bits), nil, 0)
        case .p256: caf_make_key("EC", 0, "P-256", 0)
        case .p384: caf_make_key("EC", 0, "P-384", 0)
        case .p192: caf_make_key("EC", 0, "P-192", 0)
        case .explicitP256: caf_make_key("EC", 0, "P-256", 1)
        case .ed25519: caf_make_key("ED25519", 0, nil, 0)
        }
    }

    package var handle: OpaquePointer { object.handle }

    /// The public key as SubjectPublicKeyInfo in DER. A pin is the SHA-256 of these bytes.
    public var publicKeyBytes: [UInt8] {
        EncodedBytes.of { i2d_PUBKEY(handle, $0) } ?? []
    }

    // MARK: - Text

    /// The key as PEM (PKCS#8), without a passphrase.
    public var pem: String {
        guard let info = EVP_PKEY2PKCS8(handle) else { return "" }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return PEMText.block("PRIVATE KEY", of: EncodedBytes.of { i2d_PKCS8_PRIV_KEY_INFO(info, $0) } ?? [])
    }

    /// The key as PEM (PKCS#8), encrypted with AES-256.
    public func pem(passphrase: String) throws(CertificateMakingError) -> String {
        OpenSSLErrors.clear()
        let action = "Encrypting a private key"
        guard let info = EVP_PKEY2PKCS8(handle) else { throw CertificateMakingError(action) }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        let count = Int32(passphrase.utf8.count)
        // Few rounds, for speed: the passphrase of a test protects nothing.
        guard let sealed = PKCS8_encrypt(-1, EVP_aes_256_cbc(), passphrase, count, nil, 0, 2_048, info) else {
            throw CertificateMakingError(action)
        }
        defer { X509_SIG_free(sealed) }
        return PEMText.block("ENCRYPTED PRIVATE KEY", of: EncodedBytes.of { i2d_X509_SIG(sealed, $0) } ?? [])
    }

    /// The key as PEM in the traditional form, which names its algorithm ("RSA PRIVATE KEY"), encrypted if there is
    /// a passphrase. Ed25519 keys have no such form.
    public func traditionalPEM(passphrase: String? = nil) throws(CertificateMakingError) -> String {
        OpenSSLErrors.clear()
        let action = "Writing a private key in its traditional form"
        guard let bio = BIO_new(BIO_s_mem()) else { throw CertificateMakingError(action) }
        defer { BIO_free(bio) }
        let isWritten =
            if let passphrase {
                Array(passphrase.utf8).withUnsafeBufferPointer { bytes in
                    PEM_write_bio_PrivateKey_traditional(
                        bio,
                        handle,
                        EVP_aes_256_cbc(),
                        bytes.baseAddress,
                        Int32(bytes.count),
                        nil,
                        nil
                    )
                }
            } else {
                PEM_write_bio_PrivateKey_traditional(bio, handle, nil, nil, 0, nil, nil)
            }
        guard isWritten == 1 else { throw CertificateMakingError(action) }
        return String(decoding: EncodedBytes.drain(bio), as: UTF8.self)
    }

    // MARK: - Signing

    /// Signs `bytes`. Ed25519 has a digest of its own.
    func sign(_ bytes: [UInt8], with digest: CertificateTemplate.Digest) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        let name = kind == .ed25519 ? nil : digest.opensslName
        guard EVP_DigestSignInit_ex(context, nil, name, nil, nil, handle, nil) == 1 else { return nil }
        var count = 0
        guard EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1 else { return nil }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else { return nil }
        return Array(signature.prefix(count))
    }
}
