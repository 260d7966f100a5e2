internal import CAFOpenSSL

extension ChainEvaluator.Question {
    /// The evaluation of a chain that OpenSSL refused.
    func failed(_ context: OpaquePointer) -> TrustEvaluation {
        let built = Self.certificates(X509_STORE_CTX_get0_chain(context))
        let depth = Int(X509_STORE_CTX_get_error_depth(context))
        let code = X509_STORE_CTX_get_error(context)
        let current = X509_STORE_CTX_get_current_cert(context).flatMap(Certificate.init(sharing:))
        let failure = VerifyResult.failure(
            code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code,
            certificate: current ?? (built.indices.contains(depth) ? built[depth] : built.first),
            depth: depth,
            seconds: seconds,
            isAlone: caf_x509_count(served) < 2
        )
        return TrustEvaluation(
            failure: failure,
            chain: built.count > 1 ? built : servedCertificates,
            verifiedChain: proof.prefix(of: built, leaf: leaf),
            toleratedFlaws: []
        )
    }

    /// A sentence about the server's own certificate.
    func failure(_ reason: TrustFailure.Reason, leaf: Certificate, code: Int32, text: String) -> TrustFailure {
        TrustFailure(
            reason: reason,
            certificate: leaf,
            depth: 0,
            verifyResult: code,
            message: "the certificate \"\(leaf.subject)\" \(text)"
        )
    }

    var tooManyBytes: TrustEvaluation {
        ChainEvaluator.refusal(
            .tooLong,
            message: "the server sent more than \(ChainEvaluator.maximumBytes >> 10) KiB of certificates",
            served: servedCertificates,
            code: X509_V_ERR_CERT_CHAIN_TOO_LONG
        )
    }

    /// `bits` is nil for a DSA key, which no TLS of today takes.
    func unsuitableKey(_ handle: OpaquePointer, bits: Int32?, depth: Int) -> TrustEvaluation {
        let certificate = Certificate(sharing: handle)
        let problem =
            bits.map { "has \($0) bits; more than \(ChainEvaluator.maximumKeyBits) take too long to check" }
            ?? "is of the kind DSA, which is out of use"
        return ChainEvaluator.refusal(
            .weakKey,
            message: "the key of the certificate \"\(certificate?.subject ?? "")\" \(problem)",
            served: servedCertificates,
            about: certificate,
            depth: depth,
            code: X509_V_ERR_APPLICATION_VERIFICATION
        )
    }

    var outOfMemory: TrustEvaluation {
        ChainEvaluator.refusal(.other, message: "OpenSSL is out of memory", served: servedCertificates)
    }

    var rulesNotTaken: TrustEvaluation {
        ChainEvaluator.refusal(
            .other,
            message: "OpenSSL did not take the rules of the evaluation",
            served: servedCertificates
        )
    }

    var servedCertificates: [Certificate] { handles.compactMap(Certificate.init(sharing:)) }

    /// The server's own certificate, and then the others it came with.
    var handles: [OpaquePointer] { [leaf] + Self.handles(served).filter { $0 != leaf } }

    static func certificates(_ stack: OpaquePointer?) -> [Certificate] {
        handles(stack).compactMap(Certificate.init(sharing:))
    }

    private static func handles(_ stack: OpaquePointer?) -> [OpaquePointer] {
        (0..<caf_x509_count(stack)).compactMap { caf_x509_at(stack, $0) }
    }
}
