import AFTLS
import Foundation

/// A number that says how a call ended.
public typealias OSStatus = Int32

/// The call did what was asked.
public let errSecSuccess: OSStatus = 0

/// An argument is not of the right kind.
public let errSecParam: OSStatus = -50

/// The certificate is for another host.
public let errSecHostNameMismatch: OSStatus = -67602

/// A certificate has expired.
public let errSecCertificateExpired: OSStatus = -67818

/// A certificate is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819

/// The policy required an answer whether a certificate was revoked, and there is none.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635

/// The chain is not trusted.
public let errSecNotTrusted: OSStatus = -67843

// MARK: - Evaluations

extension NSError {
    convenience init(_ failure: TrustFailure) {
        let code =
            switch failure.reason {
            case .name: errSecHostNameMismatch
            case .expired: errSecCertificateExpired
            case .notYetValid: errSecCertificateNotValidYet
            case .revocation: errSecIncompleteCertRevocationCheck
            default: errSecNotTrusted
            }
        self.init(
            domain: NSOSStatusErrorDomain,
            code: Int(code),
            userInfo: [NSLocalizedDescriptionKey: failure.message, NSUnderlyingErrorKey: failure]
        )
    }
}
