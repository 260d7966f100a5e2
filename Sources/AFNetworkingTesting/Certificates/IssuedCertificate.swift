public import AFTLS
internal import CAFOpenSSL
public import Foundation

/// A certificate with its private key and with the certificates that lead to the root: what a
/// server or a client needs to show who it is.
public struct IssuedCertificate: Sendable {
    /// The certificate.
    public let certificate: Certificate
    /// Its private key.
    public let key: CertificateKey
    /// The intermediate certificates, the nearest first, without the root.
    public let issuers: [Certificate]
    /// What was asked for when it was made.
    public let template: CertificateTemplate

    init(_ certificate: Certificate, key: CertificateKey, issuers: [Certificate], template: CertificateTemplate) {
        self.certificate = certificate
        self.key = key
        self.issuers = issuers
        self.template = template
    }

    /// What a server sends: the certificate, then the intermediate ones, without the root.
    public var chain: [Certificate] { [certificate] + issuers }

    // MARK: - Text and bytes

    /// The certificate as DER.
    public var der: [UInt8] { certificate.derBytes }

    /// The certificate as PEM, without the others of its chain.
    public var pem: String { certificate.pemText }

    /// The whole chain as PEM.
    public var chainPEM: String { chain.map(\.pemText).joined() }

    /// The private key as PEM, without a passphrase.
    public var privateKeyPEM: String { key.pem }

    // MARK: - Files

    /// Where `write(to:)` put things.
    public struct Files: Sendable, Hashable {
        /// The certificate alone, PEM.
        public let certificate: URL
        /// The certificate and those above it, PEM: nginx's `ssl_certificate`.
        public let chain: URL
        /// The private key without a passphrase, PEM, readable by its owner only.
        public let privateKey: URL
    }

    /// Writes PEM files for other programs, as `name.pem`, `name-chain.pem` and `name-key.pem`.
    ///
    /// The folder must exist; files of these names are replaced.
    public func write(to folder: URL, named name: String = "site") throws(CertificateMakingError) -> Files {
        let files = Files(
            certificate: folder.appendingPathComponent("\(name).pem"),
            chain: folder.appendingPathComponent("\(name)-chain.pem"),
            privateKey: folder.appendingPathComponent("\(name)-key.pem")
        )
        do {
            try Data(pem.utf8).write(to: files.certificate)
            try Data(chainPEM.utf8).write(to: files.chain)
            try writeKey(to: files.privateKey)
        } catch {
            throw CertificateMakingError("Writing a certificate to \(folder.path)", because: "\(error)")
        }
        return files
    }

    private func writeKey(to file: URL) throws {
        // Made with its permissions rather than given them later: for no moment can others read it.
        let files = FileManager.default
        if files.fileExists(atPath: file.path) { try files.removeItem(at: file) }
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard files.createFile(atPath: file.path, contents: Data(privateKeyPEM.utf8), attributes: attributes) else {
            throw CocoaError(.fileWriteUnknown)
        }
    }
}

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
