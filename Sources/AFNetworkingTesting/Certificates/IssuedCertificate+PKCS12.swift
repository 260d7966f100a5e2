internal import CAFOpenSSL

extension IssuedCertificate {
    /// How a PKCS#12 file is encrypted.
    public enum PKCS12Encryption: Sendable, Hashable {
        /// AES-256, as programs write it today.
        case modern
        /// RC2 with 40 bits for the certificates, triple DES for the key: files from before about 2020.
        case legacy
    }

    /// The key and the whole chain as PKCS#12.
    ///
    /// - Parameters:
    ///   - passphrase: Encrypts it. Nil for none at all, which is not the same as an empty one.
    ///   - includesKey: Whether the private key is in it.
    ///   - encryption: With which algorithms. `legacy` needs OpenSSL's legacy provider, which is
    ///     part of every usual installation; without it this throws.
    public func pkcs12(
        passphrase: String?,
        includesKey: Bool = true,
        encryption: PKCS12Encryption = .modern
    ) throws(CertificateMakingError) -> [UInt8] {
        OpenSSLErrors.clear()
        let action = "Making a PKCS#12 file"
        guard let stack = CertificateStack(issuers) else { throw CertificateMakingError(action) }
        let made = caf_make_pkcs12(
            passphrase,
            includesKey ? key.handle : nil,
            certificate.handle,
            stack.handle,
            encryption == .legacy ? 1 : 0
        )
        guard let made else { throw CertificateMakingError(action) }
        defer { PKCS12_free(made) }
        guard let bytes = EncodedBytes.of({ i2d_PKCS12(made, $0) }) else { throw CertificateMakingError(action) }
        return bytes
    }
}
