import AFState
public import AFTLS
import AFTransport
public import Foundation

// Foundation returns `errorDescription` as `localizedDescription`. AFTLS does not import Foundation, so its errors
// conform here, in the module through which programs meet them.

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
