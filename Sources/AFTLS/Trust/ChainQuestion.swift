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
            for (depth, certificate) in handles.enumerated() {
                bytes += Int(caf_x509_size(certificate))
                if bytes > maximumBytes { return tooManyBytes }
                if caf_has_dsa_key(certificate) { return unsuitableKey(certificate, bits: nil, depth: depth) }
                let bits = caf_key_bits(certificate)
                if bits > maximumKeyBits { return unsuitableKey(certificate, bits: bits, depth: depth) }
            }
            return nil
        }

        /// Of several certificates for one authority OpenSSL takes the first that is valid and
        /// never looks back. In an order of our own, and without each that led nowhere in turn,
        /// the answer does not depend on the order in which the server sent them.
        func answer() -> TrustEvaluation {
            // Another call would take the errors that are left for its own.
            defer { ERR_clear_error() }
            store.addRoots(for: handles)
            guard let sorted = caf_sorted(served) else { return outOfMemory }
            defer { caf_x509_free_all(sorted) }
            var first: TrustEvaluation?
            for _ in 0..<maximumAttempts {
                var rules = self.rules
                guard let context = caf_verification(store.handle, leaf, sorted, &rules) else { return rulesNotTaken }
                defer { X509_STORE_CTX_free(context) }
                let answer = answer(of: context)
                if answer.isTrusted || answer.failure?.reason == .name { return answer }
                first = first ?? answer
                guard mayBeAnotherPath(answer.failure),
                    caf_drop_dead_end(sorted, X509_STORE_CTX_get0_chain(context)) == 1
                else { break }
            }
            return first ?? outOfMemory
        }

        // These are found out before or while dates are looked at; the others would be checked over and over.
        private func mayBeAnotherPath(_ failure: TrustFailure?) -> Bool {
            [.unknownRoot, .incompleteChain, .expired, .notYetValid].contains(failure?.reason)
        }

        private func answer(of context: OpaquePointer) -> TrustEvaluation {
            // Anything but 1 is a refusal, also its own failures below 0.
            guard X509_verify_cert(context) == 1, X509_STORE_CTX_get_error(context) == X509_V_OK else {
                return failed(context)
            }
            let chain = Self.certificates(X509_STORE_CTX_get0_chain(context))
            guard let first = chain.first else { return failed(context) }
            // What was served was looked at before; the anchor need not have been among it.
            if let depth = chain.firstIndex(where: { caf_has_dsa_key($0.handle) }) {
                return unsuitableKey(chain[depth].handle, bits: nil, depth: depth)
            }
            if let failure = leafFailure(first, isAnchor: chain.count == 1) {
                return TrustEvaluation(failure: failure, chain: chain, verifiedChain: chain, toleratedFlaws: [])
            }
            if let failure = constraintFailure(chain) {
                let proven = proof.prefix(of: chain, leaf: leaf)
                return TrustEvaluation(failure: failure, chain: chain, verifiedChain: proven, toleratedFlaws: [])
            }
            let flaws = caf_tolerated_flaws(X509_STORE_CTX_get0_chain(context), store.namedAnchors)
            return TrustEvaluation(
                failure: nil,
                chain: chain,
                verifiedChain: chain,
                toleratedFlaws: AuthorityFlaw.flaws(flaws, of: chain.last)
            )
        }

        var proof: ChainProof { ChainProof(level: level, isServer: policy != .basicX509, host: policy.hostName) }

        /// A wildcard of the certificate may stand for a host that an issuer must not issue for.
        private func constraintFailure(_ chain: [Certificate]) -> TrustFailure? {
            guard let host = policy.hostName, let leaf = chain.first else { return nil }
            for issuer in chain.dropFirst() {
                let code = ChainProof.verdict(of: issuer, on: host)
                guard code != X509_V_OK else { continue }
                return failure(
                    .nameConstraint,
                    leaf: leaf,
                    code: code,
                    text: "is refused: its issuer \"\(issuer.subject)\" may not issue for \(host)"
                )
            }
            return nil
        }

        private var rules: caf_verification_rules {
            var rules = caf_verification_rules()
            rules.seconds = seconds
            rules.depth = maximumDepth
            rules.level = level
            rules.partial_chain = allowsPartialChain
            rules.named_anchors = store.namedAnchors
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
                return failure(
                    .purpose,
                    leaf: leaf,
                    code: X509_V_ERR_INVALID_PURPOSE,
                    text: "is an authority's, not a server's"
                )
            }
            // All our suites let the server sign with its key.
            if X509_get_key_usage(leaf.handle) & UInt32(X509v3_KU_DIGITAL_SIGNATURE) == 0 {
                let code = X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE
                return failure(
                    .purpose,
                    leaf: leaf,
                    code: code,
                    text: "has a key that may not sign, so it cannot serve TLS"
                )
            }
            guard let name, !HostnameMatcher.matches(handle: leaf.handle, name: name) else { return nil }
            let isAddress = if case .ip = name { true } else { false }
            return TrustFailure(
                reason: .name,
                certificate: leaf,
                depth: 0,
                verifyResult: isAddress ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH,
                message: NameText.mismatch(leaf, name: name)
            )
        }
    }
}
