import Foundation

/// A key or a certificate that one member of a server's chain must have.
@nonexhaustive
public enum Pin: Hashable, Sendable {
    /// A public key, by its digest. Outlives a renewal of the certificate that keeps the key.
    case publicKey(PublicKeyPin)
    /// A certificate, byte for byte.
    case certificate(Certificate)

    /// Reads `sha256/…`, 44 characters of base64 after the slash.
    public init(_ text: String) throws(PinError) {
        guard let pin = PublicKeyPin(text) else { throw PinError(text) }
        self = .publicKey(pin)
    }

    /// Whether this certificate is, or has, what is pinned.
    public func matches(_ certificate: Certificate) -> Bool {
        switch self {
        case .publicKey(let pin): certificate.pin == pin
        case .certificate(let pinned): certificate == pinned
        }
    }
}

extension Pin: CustomStringConvertible {
    /// The digest of the key, and for a certificate its name and own digest.
    public var description: String {
        switch self {
        case .publicKey(let pin): pin.description
        case .certificate(let certificate): PinText.certificates([certificate])
        }
    }
}

extension Pin: Codable {
    private static let certificatePrefix = "certificate/"

    /// Reads `sha256/…`, or `certificate/` and the base64 of a certificate.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        do {
            if text.hasPrefix(Self.certificatePrefix) {
                let bytes = Data(base64Encoded: String(text.dropFirst(Self.certificatePrefix.count))) ?? Data()
                self = .certificate(try Certificate(der: bytes))
            } else {
                self = try Pin(text)
            }
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(error)", underlyingError: error)
            )
        }
    }

    /// Writes what `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .publicKey(let pin): try container.encode(pin.description)
        case .certificate(let certificate):
            try container.encode(Self.certificatePrefix + Data(certificate.derBytes).base64EncodedString())
        }
    }
}
