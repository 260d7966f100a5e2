public import AFTLS
internal import CAFOpenSSL

/// A certificate authority for one test: only clients that the test gives its certificate trust it.
///
/// ```swift
/// let authority = try CertificateAuthority()
/// let site = try authority.issue(for: "api.example.test", "127.0.0.1")
/// ```
///
/// A `CertificateTemplate` sets everything that a certificate says, right or wrong. The authority decides which
/// key signs it. Keys are ECDSA on P-256 by default.
public struct CertificateAuthority: Sendable {
    /// Its certificate.
    public let certificate: Certificate
    /// Its key.
    public let key: CertificateKey
    /// The certificates between it and the root, the nearest first, without the root. Empty for a root.
    public let issuers: [Certificate]
    /// Whether it signed its own certificate.
    public let isRoot: Bool
    let signer: CertificateSigner
    private let template: CertificateTemplate

    /// Makes a root: an authority that signs its own certificate.
    ///
    /// - Parameters:
    ///   - commonName: The name; nil for a name with a random number.
    ///   - kind: The kind of a new key.
    ///   - key: An existing key; nil for a new one of `kind`.
    ///   - change: Changes the template before it is signed.
    public init(
        _ commonName: String? = nil,
        kind: CertificateKey.Kind = .p256,
        key: CertificateKey? = nil,
        _ change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(CertificateMakingError) {
        var template = CertificateTemplate.authority(commonName ?? Self.uniqueName("Test Root"))
        change(&template)
        try self.init(selfSigned: template, key: try CertificateKey.make(kind, unless: key))
    }

    private init(selfSigned template: CertificateTemplate, key: CertificateKey) throws(CertificateMakingError) {
        let signer = CertificateSigner(name: try template.encodedSubject(), key: key, keyIdentifier: nil)
        let signed = try signer.sign(template, for: key)
        try self.init(signed, template: template, key: key, issuers: [], isRoot: true)
    }

    private init(
        _ certificate: Certificate,
        template: CertificateTemplate,
        key: CertificateKey,
        issuers: [Certificate],
        isRoot: Bool
    ) throws(CertificateMakingError) {
        let identifier = template.hasKeyIdentifiers ? CertificateSigner.identifier(of: key.publicKeyBytes) : nil
        signer = CertificateSigner(name: try template.encodedSubject(), key: key, keyIdentifier: identifier)
        self.certificate = certificate
        self.template = template
        self.key = key
        self.issuers = issuers
        self.isRoot = isRoot
    }

    /// Its certificate as PEM.
    public var pem: String { certificate.pemText }

    /// Its certificate as DER.
    public var der: [UInt8] { certificate.derBytes }

    // MARK: - Authorities below and beside it

    /// Makes an authority whose certificate this one signs.
    ///
    /// - Parameters:
    ///   - commonName: The name; nil for a name with a random number.
    ///   - kind: The kind of a new key.
    ///   - key: An existing key; nil for a new one of `kind`.
    ///   - change: Changes the template before it is signed.
    public func makeIntermediate(
        _ commonName: String? = nil,
        kind: CertificateKey.Kind = .p256,
        key: CertificateKey? = nil,
        _ change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(CertificateMakingError) -> CertificateAuthority {
        var template = CertificateTemplate.authority(commonName ?? Self.uniqueName("Test Intermediate"))
        change(&template)
        return try certify(template, key: try CertificateKey.make(kind, unless: key))
    }

    /// Signs another certificate for an existing authority, with its name and key (cross-signing). Chains of that
    /// authority then lead to both roots.
    public func crossSign(
        _ other: CertificateAuthority,
        _ change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(CertificateMakingError) -> CertificateAuthority {
        var template = other.template
        template.serialNumber = nil
        change(&template)
        return try certify(template, key: other.key)
    }

    /// Makes an authority with this one's name and extensions, but with another key, which signs itself: the
    /// certificate of a forger.
    public func makeImpostor(kind: CertificateKey.Kind = .p256) throws(CertificateMakingError) -> CertificateAuthority {
        var template = template
        template.serialNumber = nil
        return try CertificateAuthority(selfSigned: template, key: CertificateKey(kind))
    }

    private func certify(
        _ template: CertificateTemplate,
        key: CertificateKey
    ) throws(CertificateMakingError) -> CertificateAuthority {
        let signed = try signer.sign(template, for: key)
        return try CertificateAuthority(signed, template: template, key: key, issuers: above, isRoot: false)
    }

    /// The certificates that a server sends after one that this authority issued.
    private var above: [Certificate] { isRoot ? [] : [certificate] + issuers }

    // MARK: - Certificates of servers and clients

    /// Issues a server's certificate for host names and addresses.
    public func issue(
        for hosts: String...,
        kind: CertificateKey.Kind = .p256,
        key: CertificateKey? = nil,
        _ change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(CertificateMakingError) -> IssuedCertificate {
        var template = CertificateTemplate.server(for: hosts)
        change(&template)
        return try issue(template, kind: kind, key: key)
    }

    /// Issues a client's certificate.
    public func issueClient(
        _ commonName: String,
        kind: CertificateKey.Kind = .p256,
        key: CertificateKey? = nil,
        _ change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws(CertificateMakingError) -> IssuedCertificate {
        var template = CertificateTemplate.client(commonName)
        change(&template)
        return try issue(template, kind: kind, key: key)
    }

    /// Issues a certificate.
    ///
    /// - Parameters:
    ///   - template: The content of the certificate.
    ///   - kind: The kind of a new key.
    ///   - key: An existing key, for instance that of the certificate that this one replaces.
    ///   - foreignKey: Signs in place of the authority's key: a forged certificate that names this authority and
    ///     its key identifier.
    public func issue(
        _ template: CertificateTemplate,
        kind: CertificateKey.Kind = .p256,
        key: CertificateKey? = nil,
        signedBy foreignKey: CertificateKey? = nil
    ) throws(CertificateMakingError) -> IssuedCertificate {
        let subjectKey = try CertificateKey.make(kind, unless: key)
        let signer = CertificateSigner(
            name: signer.name,
            key: foreignKey ?? self.key,
            keyIdentifier: signer.keyIdentifier
        )
        let certificate = try signer.sign(template, for: subjectKey)
        return IssuedCertificate(certificate: certificate, key: subjectKey, issuers: above, template: template)
    }

    private static func uniqueName(_ beginning: String) -> String {
        "\(beginning) \(String(UInt32.random(in: .min ... .max), radix: 16))"
    }
}

extension IssuedCertificate {
    /// Makes a self-signed certificate.
    public static func selfSigned(
        _ template: CertificateTemplate,
        kind: CertificateKey.Kind = .p256,
        key: CertificateKey? = nil
    ) throws(CertificateMakingError) -> IssuedCertificate {
        let key = try CertificateKey.make(kind, unless: key)
        let signer = CertificateSigner(name: try template.encodedSubject(), key: key, keyIdentifier: nil)
        let certificate = try signer.sign(template, for: key)
        return IssuedCertificate(certificate: certificate, key: key, issuers: [], template: template)
    }
}

extension Certificate {
    /// Reads DER.
    init?(encoded bytes: [UInt8]) {
        let handle = bytes.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return d2i_X509(nil, &position, buffer.count)
        }
        guard let handle else { return nil }
        defer { X509_free(handle) }
        self.init(sharing: handle)
    }

    var pemText: String { PEMText.block("CERTIFICATE", of: derBytes) }
}
