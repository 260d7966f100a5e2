internal import CAFOpenSSL

/// Judges a chain: a pure function of what was served, the policy, the anchors and the moment.
package enum ChainEvaluator {
    /// How many authorities may stand between the server's certificate and the anchor.
    static let maximumDepth: Int32 = 9
    /// Checking a larger key's signatures would take too long.
    static let maximumKeyBits: Int32 = 8192
    /// How many paths are tried if the server sent several certificates of one authority.
    static let maximumAttempts = 5
    /// How much a server may send, in bytes of DER.
    static let maximumBytes = 100 * 1024

    /// Judges certificates, the server's own first.
    package static func evaluate(
        served: [Certificate],
        policy: TrustPolicy,
        store: TrustStore,
        at seconds: Int64,
        securityLevel: Int = 2,
        allowsPartialChain: Bool = false
    ) -> TrustEvaluation {
        withExtendedLifetime(served) {
            guard let leaf = served.first?.handle, let stack = caf_x509_stack() else { return noCertificate }
            defer { caf_x509_free_all(stack) }
            for certificate in served where caf_x509_push(stack, certificate.handle) != 1 {
                return refusal(.other, message: "OpenSSL is out of memory", served: served)
            }
            return evaluate(
                leaf: leaf,
                served: stack,
                policy: policy,
                store: store,
                at: seconds,
                securityLevel: securityLevel,
                allowsPartialChain: allowsPartialChain
            )
        }
    }

    /// Judges an `X509` and the `STACK_OF(X509)` it came with, which may contain it too.
    package static func evaluate(
        leaf: OpaquePointer?,
        served: OpaquePointer?,
        policy: TrustPolicy,
        store: TrustStore,
        at seconds: Int64,
        securityLevel: Int = 2,
        allowsPartialChain: Bool = false
    ) -> TrustEvaluation {
        guard let leaf else { return noCertificate }
        let question = Question(
            leaf: leaf,
            served: served,
            policy: policy,
            store: store,
            seconds: seconds,
            level: Int32(clamping: securityLevel),
            allowsPartialChain: allowsPartialChain
        )
        return question.refusedByLimits() ?? question.answer()
    }

    private static let noCertificate = refusal(.noCertificate, message: "the server showed no certificate", served: [])

    /// A chain that is refused for a reason of its own.
    package static func refusal(
        _ reason: TrustFailure.Reason,
        message: String,
        served: [Certificate],
        about certificate: Certificate? = nil,
        depth: Int = 0,
        code: Int32 = X509_V_ERR_UNSPECIFIED
    ) -> TrustEvaluation {
        let failure = TrustFailure(
            reason: reason,
            certificate: certificate,
            depth: depth,
            verifyResult: code,
            message: message
        )
        return TrustEvaluation(
            failure: failure,
            chain: served,
            verifiedChain: Array(served.prefix(1)),
            toleratedFlaws: []
        )
    }
}
