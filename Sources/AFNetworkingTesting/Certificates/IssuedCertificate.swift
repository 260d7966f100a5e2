public import AFTLS
internal import CAFOpenSSL
internal import CAFTestServer
public import Foundation

/// A certificate with its private key and its chain: what a server or a client needs to prove its identity.
public struct IssuedCertificate: Sendable {
    /// The certificate.
    public let certificate: Certificate
    /// Its private key.
    public let key: CertificateKey
    /// The intermediate certificates, the nearest first, without the root.
    public let issuers: [Certificate]
    /// The template that it was made from.
    public let template: CertificateTemplate

    /// The chain that a server sends: the certificate, then the intermediate ones, without the root.
    public var chain: [Certificate] { [certificate] + issuers }

    // MARK: - Text and bytes

    /// The certificate as DER.
    public var der: [UInt8] { certificate.derBytes }

    /// The certificate alone as PEM.
    public var pem: String { certificate.pemText }

    /// The whole chain as PEM.
    public var chainPEM: String { chain.map(\.pemText).joined() }

    /// The private key as PEM, without a passphrase.
    public var privateKeyPEM: String { key.pem }

    // MARK: - Files

    /// The files that `write(to:named:)` writes.
    public struct Files: Sendable, Hashable {
        /// The certificate alone, PEM.
        public let certificate: URL
        /// The whole chain, PEM, as nginx takes it for `ssl_certificate`.
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
        // The file has its permissions from the start, so that other users can never read it.
        let files = FileManager.default
        if files.fileExists(atPath: file.path) { try files.removeItem(at: file) }
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard files.createFile(atPath: file.path, contents: Data(privateKeyPEM.utf8), attributes: attributes) else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    /// How a PKCS#12 file is encrypted.
    @nonexhaustive
    public enum PKCS12Encryption: Sendable, Hashable {
        /// AES-256, which current programs write.
        case modern
        /// RC2 with 40 bits for the certificates and triple DES for the key, as programs wrote until about 2020.
        case legacy
    }

    /// The key and the whole chain as PKCS#12.
    ///
    /// - Parameters:
    ///   - passphrase: The passphrase. Nil for none, which differs from an empty one.
    ///   - includesKey: Whether it contains the private key.
    ///   - encryption: The algorithms. `legacy` needs OpenSSL's legacy provider, which usual installations have;
    ///     without it this throws.
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
