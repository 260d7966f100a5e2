public import Foundation

/// What a certificate shall say, right or wrong.
///
/// Start from `server(for:)`, `client(_:)` or `authority(_:)`, which give a faultless certificate,
/// and change what the test is about:
///
/// ```swift
/// let late = try authority.issue(for: "api.example.test") { $0.expire() }
/// let weak = try authority.issue(for: "api.example.test") { $0.digest = .sha1 }
/// ```
///
/// Nothing here is checked for sense: a template is for making what a client must refuse.
public struct CertificateTemplate: Sendable, Hashable {
    /// The parts of the subject's name, in order.
    public var subject: [Attribute]
    /// The names it is valid for; none means there is no such extension.
    public var alternativeNames: [AlternativeName] = []
    /// The first moment it is valid. One day ago by default, in full seconds.
    public var notBefore: Date
    /// The last moment it is valid. In 30 days by default.
    public var notAfter: Date

    /// What the key is for; nil leaves the extension out.
    public var keyUsage: KeyUsage?
    /// What the certificate is for; nil leaves the extension out, an empty list writes it without a purpose.
    public var extendedKeyUsage: [Purpose]?
    /// Whether the subject may issue certificates; nil leaves the extension out.
    public var basicConstraints: BasicConstraints?
    /// To which names the certificates below are limited; nil leaves the extension out.
    public var nameConstraints: NameConstraints?
    /// Whether the identifiers of its own and of the issuer's key are written.
    public var hasKeyIdentifiers = true
    /// Further extensions, as they shall stand in the certificate.
    public var otherExtensions: [Extension] = []

    /// The bytes of the serial number: big-endian, the first bit is the sign. `[0]` is zero, `[0xFF]` is −1.
    /// Nil for 16 random bytes, positive.
    public var serialNumber: [UInt8]?
    /// The version; anything but 3 is out of date.
    public var version = 3
    /// With which digest it is signed; Ed25519 keys have a digest of their own.
    public var digest = Digest.sha256
    /// Whether one bit of the signature is flipped after signing.
    public var breaksSignature = false

    /// A template that says nothing but a name and a time: from one day ago to 30 days ahead.
    public init(subject: [Attribute] = []) {
        self.subject = subject
        let now = Date().timeIntervalSince1970.rounded(.down)
        notBefore = Date(timeIntervalSince1970: now - 86_400)
        notAfter = Date(timeIntervalSince1970: now + 30 * 86_400)
    }

    // MARK: - Faultless ones

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

    /// Makes it a certificate whose last moment was an hour ago.
    public mutating func expire() {
        notAfter = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down) - 3_600)
        notBefore = min(notBefore, notAfter.addingTimeInterval(-86_400))
    }

    /// Makes it a certificate whose first moment is in an hour.
    public mutating func postpone() {
        notBefore = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down) + 3_600)
        notAfter = max(notAfter, notBefore.addingTimeInterval(86_400))
    }
}
