package import AFTLS

/// Why a server was not trusted.
package enum TrustRefusal: Error, Sendable {
    /// The standard evaluation says so.
    case evaluation(TrustFailure)
    /// The session's evaluator says so: the rule that failed, and why.
    case rule(String, String)
    /// The delegate rejected the server's protection space.
    case rejected
    /// The delegate took too long.
    case unanswered
    /// The delegate cancelled the challenge, which cancels the task.
    case cancelled
    /// The anchors cannot be used, for this reason.
    case noAnchors(String)

    /// Nil if the server was accepted.
    package init?(_ decision: ServerTrustDecision) {
        switch decision {
        case .accept: return nil
        case .untrusted(let failure): self = .evaluation(failure)
        case .reject(let rule, let explanation): self = .rule(rule, explanation)
        }
    }

    /// What OpenSSL turns into the alert for the server.
    package var verifyResult: Int32 {
        switch self {
        case .evaluation(let failure): failure.verifyResult
        case .rule, .rejected, .unanswered, .cancelled, .noAnchors: 50  // X509_V_ERR_APPLICATION_VERIFICATION
        }
    }
}
