import AFTLS
internal import CAFOpenSSL

/// The key that signs certificates, and the issuer they name.
struct CertificateSigner {
    /// The name of the issuer in DER.
    let name: [UInt8]
    let key: CertificateKey
    let keyIdentifier: [UInt8]?

    /// Makes a certificate for the public key of `subjectKey`.
    func sign(
        _ template: CertificateTemplate,
        for subjectKey: CertificateKey
    ) throws(CertificateMakingError) -> Certificate {
        let action = "Making a certificate"
        OpenSSLErrors.clear()
        guard let algorithm = template.digest.algorithm(for: key) else {
            throw CertificateMakingError(
                action,
                because: "a key of kind \(key.kind) cannot sign with \(template.digest)"
            )
        }
        let body = try self.body(of: template, algorithm: algorithm, key: subjectKey)
        guard var signature = key.sign(body, with: template.digest) else { throw CertificateMakingError(action) }
        // The last byte belongs to a number, so the signature stays well-formed.
        if template.breaksSignature { signature[signature.count - 1] ^= 1 }
        guard let certificate = Certificate(encoded: DER.sequence(body, algorithm, DER.bitString(signature))) else {
            throw CertificateMakingError(action)
        }
        return certificate
    }

    /// The part that is signed, TBSCertificate (RFC 5280 section 4.1.2).
    private func body(
        of template: CertificateTemplate,
        algorithm: [UInt8],
        key subjectKey: CertificateKey
    ) throws(CertificateMakingError) -> [UInt8] {
        let publicKey = subjectKey.publicKeyBytes
        let extensions = try template.encodedExtensions(own: Self.identifier(of: publicKey), issuer: keyIdentifier)
        return DER.sequence(
            // Version 1 is the default, which DER leaves out.
            template.version == 1 ? [] : DER.context(0, content: DER.integer(UInt(max(template.version, 1) - 1))),
            template.encodedSerialNumber(),
            algorithm,
            name,
            DER.sequence(DER.time(template.notBefore), DER.time(template.notAfter)),
            try template.encodedSubject(),
            publicKey,
            extensions.map { DER.context(3, content: $0) } ?? []
        )
    }

    /// The key identifier of the extensions (RFC 7093).
    static func identifier(of publicKey: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        SHA256(publicKey, publicKey.count, &digest)
        return Array(digest.prefix(20))
    }
}
