public import AFTLS
import AFTransport
public import Foundation

// What these errors say as text is what Foundation hands out as `localizedDescription` too. AFTLS knows no Foundation, so
// its errors get that here, with the module through which programs meet them.

extension CertificateError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension ClientIdentityError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension HostPatternError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension PublicKeyPinError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension TrustAnchorsError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension TrustFailure: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension CookieFileError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension NetrcError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension ProxyConfigurationError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension PublicSuffixFailure: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}
