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
                if index < 0 || certificate != leaf { bytes += Int(max(0, caf_x509_size(certificate))) }
                if bytes > maximumBytes { return tooManyBytes }
                let bits = caf_key_bits(certificate)
                if bits > maximumKeyBits { return tooLargeKey(certificate, bits, depth: Int(max(0, index))) }
            }
            return nil
        }

        func answer() -> TrustEvaluation {
            ERR_clear_error()
            defer { ERR_clear_error() }
            var rules = self.rules
            guard let context = caf_verification(store.handle, leaf, served, &rules) else {
                return refusal(.other, "OpenSSL did not take the rules of the evaluation", served: servedCertificates)
            }
            defer { X509_STORE_CTX_free(context) }
            // Anything but 1 is a refusal, also its own failures below 0.
            let isVerified = X509_verify_cert(context) == 1
            let chain = Self.certificates(X509_STORE_CTX_get0_chain(context))
            guard isVerified, X509_STORE_CTX_get_error(context) == X509_V_OK, !chain.isEmpty else {
                return failed(context, chain)
            }
            if case .tlsServer(let name?) = policy, !HostnameMatcher.matches(handle: leaf, name) {
                return wrongName(name, chain)
            }
            return TrustEvaluation(failure: nil, chain: chain, verifiedChain: chain)
        }

        var servedCertificates: [Certificate] {
            var found = Certificate(sharing: leaf).map { [$0] } ?? []
            for certificate in Self.certificates(served) where certificate != found.first { found.append(certificate) }
            return found
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

        private func failed(_ context: OpaquePointer, _ built: [Certificate]) -> TrustEvaluation {
            let chain = built.count > 1 || caf_x509_count(served) < 2 ? built : servedCertificates
            let depth = Int(X509_STORE_CTX_get_error_depth(context))
            let code = X509_STORE_CTX_get_error(context)
            let current = X509_STORE_CTX_get_current_cert(context).flatMap(Certificate.init(sharing:))
            let failure = VerifyResult.failure(
                code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code,
                certificate: current ?? (built.indices.contains(depth) ? built[depth] : nil),
                depth: depth,
                seconds: seconds,
                isAlone: caf_x509_count(served) < 2
            )
            let proof = ChainProof(level: level, isServer: policy != .basicX509)
            return TrustEvaluation(failure: failure, chain: chain, verifiedChain: proof.prefix(of: built, leaf: leaf))
        }

        private func wrongName(_ name: PeerName, _ chain: [Certificate]) -> TrustEvaluation {
            let isAddress = if case .ip = name { true } else { false }
            let failure = TrustFailure(
                reason: .name,
                certificate: chain.first,
                depth: 0,
                verifyResult: isAddress ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH,
                message: NameText.mismatch(chain.first, name)
            )
            return TrustEvaluation(failure: failure, chain: chain, verifiedChain: chain)
        }

        private var tooManyBytes: TrustEvaluation {
            refusal(
                .tooLong,
                "the server sent more than \(maximumBytes >> 10) KiB of certificates",
                served: servedCertificates,
                code: X509_V_ERR_CERT_CHAIN_TOO_LONG
            )
        }

        private func tooLargeKey(_ handle: OpaquePointer, _ bits: Int32, depth: Int) -> TrustEvaluation {
            let certificate = Certificate(sharing: handle)
            return refusal(
                .weakKey,
                "the key of the certificate \"\(certificate?.subject ?? "")\" has \(bits) bits; "
                    + "more than \(maximumKeyBits) take too long to check",
                served: servedCertificates,
                about: certificate,
                depth: depth
            )
        }

        static func certificates(_ stack: OpaquePointer?) -> [Certificate] {
            (0..<caf_x509_count(stack)).compactMap { caf_x509_at(stack, $0).flatMap(Certificate.init(sharing:)) }
        }
    }
}
