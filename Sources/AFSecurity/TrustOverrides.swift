import AFTLS
import AFTransport
import Foundation

/// The settings that the functions of this module keep about a server. They are beside the value itself, which does not
/// change, and only these functions read them.
struct TrustOverrides: Sendable {
    /// Nil: the standard evaluation.
    var policies: [SecPolicy]?
    var anchors: [Certificate]?
    /// Whether these anchors, or none, replace those of the session.
    var isAnchorsOnly = false
    var moment: Int64?
    var result = SecTrustResultType.invalid

    /// The evaluation of the chain by these settings.
    func evaluate(_ trust: ServerTrust) -> TrustEvaluation {
        let trust = moment.map { trust.standing(at: $0) } ?? trust
        guard policies != nil || anchors != nil || isAnchorsOnly else { return trust.evaluation }
        var found: TrustEvaluation?
        for policy in policies ?? [SecPolicyCreateSSL(true, trust.host)] {
            let evaluation = evaluate(trust, policy)
            guard evaluation.isTrusted else { return evaluation }
            found = evaluation
        }
        return found ?? trust.evaluation
    }

    private func evaluate(_ trust: ServerTrust, _ policy: SecPolicy) -> TrustEvaluation {
        switch policy.content {
        case .impossible(let host): return trust.refusal(for: host)
        case .revocation(let isRequired):
            let evaluation = evaluate(trust, SecPolicyCreateBasicX509())
            return isRequired && evaluation.isTrusted ? revocationUnknown(trust) : evaluation
        case .policy(let policy):
            // An anchor need not be a root.
            return trust.evaluate(policy, anchors: anchors(of: trust), allowsPartialChain: anchors != nil)
        }
    }

    private func revocationUnknown(_ trust: ServerTrust) -> TrustEvaluation {
        ChainEvaluator.refusal(
            .revocation,
            "it must be known whether the certificate \"\(trust.servedChain.first?.subject ?? "")\" was revoked, and neither "
                + "lists nor OCSP are asked here; leave out kSecRevocationRequirePositiveResponse, or pin the key",
            served: trust.servedChain,
            about: trust.servedChain.first
        )
    }

    private func anchors(of trust: ServerTrust) -> TrustAnchors? {
        isAnchorsOnly ? .certificates(anchors ?? []) : anchors.map { trust.anchors.adding($0) }
    }
}
