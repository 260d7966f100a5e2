public import Foundation

/// The content of a certificate, right or wrong.
///
/// Start from `server(for:)`, `client(_:)` or `authority(_:)`, which make a valid certificate, and change what
/// the test is about:
///
/// ```swift
/// let late = try authority.issue(for: "api.example.test") { $0.expire() }
/// let weak = try authority.issue(for: "api.example.test") { $0.digest = .sha1 }
/// ```
///
/// A template accepts any values, so that a test can make certificates that a client must refuse.
public struct CertificateTemplate: Sendable, Hashable {
    /// The parts of the subject's name, in order.
    public var subject: [Attribute]
    /// The names that it is valid for; an empty list leaves the extension out.
    public var alternativeNames: [AlternativeName] = []
    /// The first moment it is valid. One day ago by default, in full seconds.
    public var notBefore: Date
    /// The last moment it is valid. In 30 days by default.
    public var notAfter: Date

    /// What the key may be used for; nil leaves the extension out.
    public var keyUsage: KeyUsage?
    /// What the certificate may be used for. Nil leaves the extension out; an empty list writes it without a purpose.
    public var extendedKeyUsage: [Purpose]?
    /// Whether the subject may issue certificates; nil leaves the extension out.
    public var basicConstraints: BasicConstraints?
    /// The names that certificates below may have; nil leaves the extension out.
    public var nameConstraints: NameConstraints?
    /// Whether it has the identifiers of its own key and of the issuer's key.
    public var hasKeyIdentifiers = true
    /// Further extensions, in order.
    public var otherExtensions: [Extension] = []

    /// The bytes of the serial number: big-endian, the first bit is the sign. `[0]` is zero, `[0xFF]` is −1.
    /// Nil for 16 random bytes, positive.
    public var serialNumber: [UInt8]?
    /// The X.509 version, usually 3.
    public var version = 3
    /// The digest of its signature. Ed25519 keys have a digest of their own.
    public var digest = Digest.sha256
    /// Whether one bit of the signature is flipped after signing.
    public var breaksSignature = false

    /// A template with a subject, without extensions, valid from one day ago for 31 days.
    public init(subject: [Attribute] = []) {
        self.subject = subject
        let now = Date().timeIntervalSince1970.rounded(.down)
        notBefore = Date(timeIntervalSince1970: now - 86_400)
        notAfter = Date(timeIntervalSince1970: now + 30 * 86_400)
    }

    // MARK: - Valid certificates

    /// A server's certificate for these host names and addresses.
    public static func server(for hosts: [String]) -> CertificateTemplate {
        var template = CertificateTemplate(subject: hosts.first.map { [.commonName($0)] } ?? [])
        template.alternativeNames = hosts.map { AlternativeName(host: $0) }
        template.keyUsage = .digitalSignature
        template.extendedKeyUsage = [.serverAuthentication]
        template.basicConstraints = .endEntity
        return template
    }

    /// A client's certificate.
    public static func client(_ commonName: String) -> CertificateTemplate {
        var template = CertificateTemplate(subject: [.commonName(commonName)])
        template.keyUsage = .digitalSignature
        template.extendedKeyUsage = [.clientAuthentication]
        template.basicConstraints = .endEntity
        return template
    }

    /// An authority's certificate.
    public static func authority(_ commonName: String, pathLength: Int? = nil) -> CertificateTemplate {
        var template = CertificateTemplate(subject: [.commonName(commonName)])
        template.keyUsage = [.certificateSigning, .revocationListSigning]
        template.basicConstraints = BasicConstraints(isAuthority: true, pathLength: pathLength)
        return template
    }

    // MARK: - Times

    /// Makes the certificate expire one hour ago.
    public mutating func expire() {
        notAfter = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down) - 3_600)
        notBefore = min(notBefore, notAfter.addingTimeInterval(-86_400))
    }

    /// Makes the certificate valid from one hour ahead.
    public mutating func postpone() {
        notBefore = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down) + 3_600)
        notAfter = max(notAfter, notBefore.addingTimeInterval(86_400))
    }
}
