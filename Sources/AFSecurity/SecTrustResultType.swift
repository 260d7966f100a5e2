import AFTLS

/// How an evaluation ended.
@nonexhaustive
public enum SecTrustResultType: UInt32, Hashable, Sendable {
    /// There was no evaluation.
    case invalid = 0
    /// Trusted, because the user said so.
    case proceed = 1
    /// Not trusted, because the user said so.
    case deny = 3
    /// Trusted.
    case unspecified = 4
    /// Not trusted; with other settings it may be.
    case recoverableTrustFailure = 5
    /// Not trusted, whatever the settings.
    case fatalTrustFailure = 6
    /// Something else went wrong.
    case otherError = 7
}

extension SecTrustResultType {
    init(_ evaluation: TrustEvaluation) {
        switch evaluation.failure?.reason {
        case nil: self = .unspecified
        case .signature, .malformed, .noCertificate, .weakKey, .criticalExtension: self = .fatalTrustFailure
        default: self = .recoverableTrustFailure
        }
    }
}
