import AFTLS
import AFWire

/// A credential, ready to be sent to one party in one form.
struct AuthenticationAttempt {
    enum Form {
        /// Basic and Bearer: the value is the same for every request.
        case fixed(SecretBytes, isToken: Bool)
        case digest(DigestSession)
    }

    /// Who knew the credential.
    enum Source {
        case delegate
        /// And where it is kept there.
        case storage(URLProtectionSpace)
        case url
        case netrc
    }

    let realm: [UInt8]?
    let credential: URLCredential
    let source: Source
    let form: Form
    /// Nobody has asked for it in this task: it worked before.
    var isAhead = false

    var digest: DigestSession? {
        if case .digest(let session) = form { session } else { nil }
    }

    /// What it needs of the body before it can be sent.
    var bodyFunction: DigestFunction? {
        guard let digest, digest.challenge.quality == .authInt else { return nil }
        return digest.challenge.algorithm.function
    }
}
