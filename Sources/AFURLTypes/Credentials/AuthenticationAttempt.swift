import AFState
import AFTLS

/// A credential, ready to be sent to one party in one form.
package struct AuthenticationAttempt {
    package enum Form {
        /// Basic and Bearer: the value is the same for every request.
        case fixed(SecretBytes, isToken: Bool)
        case digest(DigestSession)
    }

    /// Where the credential comes from.
    package enum Source {
        case delegate
        /// The space under which the storage keeps it.
        case storage(URLProtectionSpace)
        case url
        case netrc
    }

    package let realm: [UInt8]?
    package let credential: URLCredential
    package let source: Source
    package let form: Form
    /// The credential worked before, so it is sent although the party has not asked for it in this task.
    var isAhead = false

    package var digest: DigestSession? {
        if case .digest(let session) = form { session } else { nil }
    }

    /// The function that the digest of the body is computed with before the request is sent; nil if none is needed.
    var bodyFunction: DigestFunction? {
        guard let digest, digest.challenge.quality == .authInt else { return nil }
        return digest.challenge.algorithm.function
    }
}
