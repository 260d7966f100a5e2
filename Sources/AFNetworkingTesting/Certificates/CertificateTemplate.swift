public import Foundation
import Glibc

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

    /// One part of a subject's name.
    public struct Attribute: Sendable, Hashable {
        /// The type of the part, an object identifier such as "2.5.4.3".
        public var identifier: String
        /// The bytes of the value.
        public var value: [UInt8]
        /// The ASN.1 tag of the value: 0x0C for UTF-8, 0x13 for printable text, 0x16 for ASCII, 0x1E for UTF-16.
        public var tag: UInt8

        /// Makes a part of any kind.
        public init(_ identifier: String, bytes: [UInt8], tag: UInt8 = 0x0C) {
            self.identifier = identifier
            value = bytes
            self.tag = tag
        }

        /// The common name (CN).
        public static func commonName(_ name: String) -> Attribute { Attribute("2.5.4.3", bytes: Array(name.utf8)) }
        /// The organisation (O).
        public static func organization(_ name: String) -> Attribute { Attribute("2.5.4.10", bytes: Array(name.utf8)) }
        /// The unit within the organisation (OU).
        public static func unit(_ name: String) -> Attribute { Attribute("2.5.4.11", bytes: Array(name.utf8)) }
        /// The country (C), two letters.
        public static func country(_ code: String) -> Attribute {
            Attribute("2.5.4.6", bytes: Array(code.utf8), tag: 0x13)
        }
    }

    /// A name that the certificate is valid for, or a constraint on such names.
    @nonexhaustive
    public enum AlternativeName: Sendable, Hashable {
        /// A DNS name; its bytes are written unchanged.
        case dns(String)
        /// An IP address of 4 or 16 bytes. In name constraints, address and mask: 8 or 32 bytes.
        case ip([UInt8])
        /// A mail address.
        case email(String)
        /// A URI.
        case uri(String)
        /// An otherName: its object identifier, and its value in DER.
        case other(String, value: [UInt8])
        /// Any tag with any bytes, for malformed names. Tag 0x82 is a DNS name.
        case raw(tag: UInt8, [UInt8])

        /// An IP address if the text is one, otherwise a DNS name.
        public init(host: String) {
            self = Self.address(host).map { .ip($0) } ?? .dns(host)
        }

        private static func address(_ text: String) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: 16)
            if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
            return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
        }
    }

    /// What the key may be used for (`keyUsage`).
    public struct KeyUsage: OptionSet, Sendable, Hashable {
        /// The bits; bit 0 of the extension is the highest.
        public let rawValue: UInt16

        /// Any combination of bits.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// Signing in a TLS handshake.
        public static let digitalSignature = KeyUsage(rawValue: 1 << 15)
        /// Signing documents that bind the signer.
        public static let nonRepudiation = KeyUsage(rawValue: 1 << 14)
        /// Encrypting keys, as with RSA in old cipher suites.
        public static let keyEncipherment = KeyUsage(rawValue: 1 << 13)
        /// Encrypting data.
        public static let dataEncipherment = KeyUsage(rawValue: 1 << 12)
        /// Key agreement.
        public static let keyAgreement = KeyUsage(rawValue: 1 << 11)
        /// Signing certificates.
        public static let certificateSigning = KeyUsage(rawValue: 1 << 10)
        /// Signing revocation lists.
        public static let revocationListSigning = KeyUsage(rawValue: 1 << 9)
    }

    /// What the certificate may be used for (`extendedKeyUsage`).
    public struct Purpose: Sendable, Hashable {
        /// The object identifier of the purpose.
        public var identifier: String

        /// A purpose of any kind.
        public init(_ identifier: String) {
            self.identifier = identifier
        }

        /// TLS servers.
        public static let serverAuthentication = Purpose("1.3.6.1.5.5.7.3.1")
        /// TLS clients.
        public static let clientAuthentication = Purpose("1.3.6.1.5.5.7.3.2")
        /// Code signing.
        public static let codeSigning = Purpose("1.3.6.1.5.5.7.3.3")
        /// Any purpose.
        public static let any = Purpose("2.5.29.37.0")
    }

    /// Whether the subject may issue certificates (`basicConstraints`).
    public struct BasicConstraints: Sendable, Hashable {
        /// Whether the subject is an authority.
        public var isAuthority: Bool
        /// How many intermediate authorities may stand below it; nil for any number.
        public var pathLength: Int?
        /// Whether a client that does not know the extension must refuse the certificate.
        public var isCritical: Bool

        /// Makes the extension.
        public init(isAuthority: Bool, pathLength: Int? = nil, isCritical: Bool = true) {
            self.isAuthority = isAuthority
            self.pathLength = pathLength
            self.isCritical = isCritical
        }

        /// The subject is not an authority.
        public static let endEntity = BasicConstraints(isAuthority: false)
    }

    /// The names that certificates below an authority may have (`nameConstraints`).
    public struct NameConstraints: Sendable, Hashable {
        /// If the list has names of a kind, every name of that kind must be within one of them.
        public var permitted: [AlternativeName]
        /// Names must not be within one of these.
        public var excluded: [AlternativeName]
        /// Whether a client that does not know the extension must refuse the certificate.
        public var isCritical: Bool

        /// Makes the extension.
        public init(permitted: [AlternativeName] = [], excluded: [AlternativeName] = [], isCritical: Bool = true) {
            self.permitted = permitted
            self.excluded = excluded
            self.isCritical = isCritical
        }
    }

    /// An extension with any bytes as its value.
    public struct Extension: Sendable, Hashable {
        /// The object identifier.
        public var identifier: String
        /// Whether a client that does not know the extension must refuse the certificate.
        public var isCritical: Bool
        /// The value: DER, or malformed bytes.
        public var value: [UInt8]

        /// Makes an extension.
        public init(_ identifier: String, isCritical: Bool = false, value: [UInt8]) {
            self.identifier = identifier
            self.isCritical = isCritical
            self.value = value
        }

        /// A critical extension that no client knows.
        public static let unknownCritical = Extension("1.3.6.1.4.1.55555.1", isCritical: true, value: [0x05, 0x00])
    }

    /// The digest of a certificate's signature.
    @nonexhaustive
    public enum Digest: Sendable, Hashable {
        /// SHA-256, the usual digest.
        case sha256
        /// SHA-384, usual with P-384.
        case sha384
        /// SHA-512.
        case sha512
        /// SHA-1, which is broken.
        case sha1
        /// MD5, which is broken. Only RSA keys sign with it.
        case md5
    }
}
