internal import CAFOpenSSL

extension ChainEvaluator {
    /// One chain to judge, and how.
    struct Question {
        let leaf: OpaquePointer
        let served: OpaquePointer?
        let policy: TrustPolicy
        let store: TrustStore
        let seconds: Int64
        let level: Int32
        let allowsPartialChain: Bool

        /// What costs too much to look at is refused before any signature is checked.
        func refusedByLimits() -> TrustEvaluation? {
            var bytes = 0
            for index in -1..<caf_x509_count(served) {
                guard let certificate = index < 0 ? leaf : caf_x509_at(served, index) else { continue }
                if index >= 0, certificate == leaf { continue }
                bytes += Int(max(0, caf_x509_size(certificate)))
                if bytes > maximumBytes { return tooManyBytes }
                var isDSA: Int32 = 0
                let bits = caf_key_bits(certificate, &isDSA)
                if bits > maximumKeyBits || isDSA == 1 {
                    return unsuitableKey(certificate, isDSA == 1 ? nil : bits, depth: Int(max(0, index)))
                }
            }
            return nil
        }

        func answer() -> TrustEvaluation {
            ERR_clear_error()
            defer { ERR_clear_error() }
            store.addRoots(for: [leaf] + (0..<caf_x509_count(served)).compactMap { caf_x509_at(served, $0) })
            guard caf_is_ambiguous(leaf, served) == 1 else { return attempt(served) { _ in } }
            return answerAmongSeveral()
        }

        /// Of several certificates for one authority OpenSSL takes the first that is valid and
        /// never looks back. In an order of our own, and without each that led nowhere in turn,
        /// the answer does not depend on the order in which the server sent them.
        private func answerAmongSeveral() -> TrustEvaluation {
            guard let sorted = caf_sorted(served) else { return outOfMemory }
            defer { caf_x509_free_all(sorted) }
            var first: TrustEvaluation?
            for _ in 0..<maximumAttempts {
                var hasOther = false
                let answer = attempt(sorted) { hasOther = caf_drop_dead_end(sorted, $0) == 1 }
                if answer.isTrusted || answer.failure?.reason == .name { return answer }
                first = first ?? answer
                guard hasOther, mayBeAnotherPath(answer.failure) else { break }
            }
            return first ?? outOfMemory
        }

        // These are found out before or while dates are looked at; the others would be checked over and over.
        private func mayBeAnotherPath(_ failure: TrustFailure?) -> Bool {
            [.unknownRoot, .incompleteChain, .expired, .notYetValid].contains(failure?.reason)
        }

        /// Judges with these certificates at hand; a chain that failed is shown to `inspect`.
        private func attempt(_ served: OpaquePointer?, inspect: (OpaquePointer?) -> Void) -> TrustEvaluation {
            var rules = self.rules
            guard let context = caf_verification(store.handle, leaf, served, &rules) else {
                return refusal(.other, "OpenSSL did not take the rules of the evaluation", served: servedCertificates)
            }
            defer { X509_STORE_CTX_free(context) }
            // Anything but 1 is a refusal, also its own failures below 0.
            let isVerified = X509_verify_cert(context) == 1
            let stack = X509_STORE_CTX_get0_chain(context)
            let chain = Self.certificates(stack)
            guard isVerified, X509_STORE_CTX_get_error(context) == X509_V_OK, let first = chain.first else {
                let answer = failed(context, chain)
                inspect(stack)
                return answer
            }
            guard let failure = leafFailure(first, isAnchor: chain.count == 1) else {
                return TrustEvaluation(failure: nil, chain: chain, verifiedChain: chain)
            }
            return TrustEvaluation(failure: failure, chain: chain, verifiedChain: chain)
        }

        private var rules: caf_verification_rules {
            var rules = caf_verification_rules()
            rules.seconds = seconds
            rules.depth = maximumDepth
            rules.level = level
            rules.partial_chain = allowsPartialChain ? 1 : 0
            if case .tlsServer = policy {
                rules.purpose = X509_PURPOSE_SSL_SERVER
                rules.trust = X509_TRUST_SSL_SERVER
            }
            return rules
        }

        /// What OpenSSL does not ask of a server's certificate.
        private func leafFailure(_ leaf: Certificate, isAnchor: Bool) -> TrustFailure? {
            guard case .tlsServer(let name) = policy else { return nil }
            // A certificate that is itself an anchor may well be one that `openssl req -x509` made.
            if !isAnchor, leaf.mayIssue {
                return failure(.purpose, leaf, X509_V_ERR_INVALID_PURPOSE, "is an authority's, not a server's")
            }
            // All our suites let the server sign with its key.
            if X509_get_key_usage(leaf.handle) & UInt32(X509v3_KU_DIGITAL_SIGNATURE) == 0 {
                let code = X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE
                return failure(.purpose, leaf, code, "has a key that may not sign, so it cannot serve TLS")
            }
            guard let name, !HostnameMatcher.matches(handle: leaf.handle, name) else { return nil }
            let isAddress = if case .ip = name { true } else { false }
            return TrustFailure(
                reason: .name,
                certificate: leaf,
                depth: 0,
                verifyResult: isAddress ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH,
                message: NameText.mismatch(leaf, name)
            )
        }
    }
}
