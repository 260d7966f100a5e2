internal import CAFOpenSSL
internal import Glibc

/// OpenSSL's verify results as reasons and sentences.
enum VerifyResult {
    static func failure(
        _ code: Int32,
        certificate: Certificate?,
        depth: Int,
        seconds: Int64,
        isAlone: Bool
    ) -> TrustFailure {
        var reason = reason(code)
        // Authorities of the web say where their certificate is to be had. If the server's own
        // says so and came alone, the server forgot what is between it and the root.
        if reason == .unknownRoot, depth == 0, isAlone, let certificate,
            caf_names_issuer_location(certificate.handle) == 1
        {
            reason = .incompleteChain
        }
        return TrustFailure(
            reason: reason,
            certificate: certificate,
            depth: depth,
            verifyResult: code,
            message: message(reason, code: code, certificate: certificate, seconds: seconds)
        )
    }

    static func reason(_ code: Int32) -> TrustFailure.Reason {
        switch code {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED:
            .unknownRoot
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH, X509_V_ERR_EMAIL_MISMATCH: .name
        case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE: .purpose
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: .weakKey
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE,
            X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY, X509_V_ERR_NO_ISSUER_PUBLIC_KEY,
            X509_V_ERR_UNSUPPORTED_SIGNATURE_ALGORITHM, X509_V_ERR_SIGNATURE_ALGORITHM_MISMATCH:
            .signature
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA, X509_V_ERR_PATH_LENGTH_EXCEEDED,
            X509_V_ERR_KEYUSAGE_NO_CERTSIGN, X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED,
            X509_V_ERR_PROXY_CERTIFICATES_NOT_ALLOWED, X509_V_ERR_PROXY_SUBJECT_NAME_VIOLATION:
            .invalidAuthority
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            .nameConstraint
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: .criticalExtension
        case X509_V_ERR_CERT_CHAIN_TOO_LONG, X509_V_ERR_PATH_LOOP: .tooLong
        default: malformed.contains(code) ? .malformed : .other
        }
    }

    // Rules of RFC 5280 that only the strict flag asks for, and fields that cannot be read.
    private static let malformed: Set<Int32> = [
        X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD, X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD,
        X509_V_ERR_INVALID_EXTENSION, X509_V_ERR_INVALID_POLICY_EXTENSION, X509_V_ERR_NO_EXPLICIT_POLICY,
        X509_V_ERR_UNSUPPORTED_EXTENSION_FEATURE, X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY,
        X509_V_ERR_SUBJECT_ISSUER_MISMATCH, X509_V_ERR_AKID_SKID_MISMATCH, X509_V_ERR_AKID_ISSUER_SERIAL_MISMATCH,
        X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA, X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN,
        X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA, X509_V_ERR_ISSUER_NAME_EMPTY,
        X509_V_ERR_SUBJECT_NAME_EMPTY, X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER,
        X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER, X509_V_ERR_EMPTY_SUBJECT_ALT_NAME,
        X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL, X509_V_ERR_CA_BCONS_NOT_CRITICAL,
        X509_V_ERR_AUTHORITY_KEY_IDENTIFIER_CRITICAL, X509_V_ERR_SUBJECT_KEY_IDENTIFIER_CRITICAL,
        X509_V_ERR_CA_CERT_MISSING_KEY_USAGE, X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3,
        X509_V_ERR_EC_KEY_EXPLICIT_PARAMS,
    ]

    private static func message(
        _ reason: TrustFailure.Reason,
        code: Int32,
        certificate: Certificate?,
        seconds: Int64
    ) -> String {
        guard let certificate else { return "the server's certificates are not trusted: \(text(of: code))" }
        let subject = "the certificate \"\(certificate.subject)\""
        let now = "it is \(DateText.utc(seconds))"
        return switch reason {
        case .expired: "\(subject) expired on \(DateText.utc(certificate.notAfterSeconds)) (\(now))"
        case .notYetValid: "\(subject) is not valid before \(DateText.utc(certificate.notBeforeSeconds)) (\(now))"
        case .selfSigned: "\(subject) is signed by itself and not among the trusted authorities"
        case .incompleteChain:
            "\(subject) was issued by \"\(certificate.issuer)\", whose certificate the server does not send; "
                + "it should send its intermediate certificates"
        case .unknownRoot where code == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            "the chain ends at \"\(certificate.subject)\", which is not among the trusted authorities"
        case .unknownRoot where code == X509_V_ERR_CERT_REJECTED:
            "\(subject) is marked as not to be trusted for this use"
        case .malformed where code == X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER:
            "\(subject) has no authority key identifier (X509_V_ERR \(code)); only certificates below an authority that "
                + "the program itself names as an anchor may lack it"
        case .unknownRoot:
            "\(subject) was issued by \"\(certificate.issuer)\", which is not among the trusted authorities"
        case .malformed where isFlaw(code, of: certificate):
            "\(subject) is refused: \(text(of: code)) (X509_V_ERR \(code)); only an authority that the program itself "
                + "names as an anchor may break that rule"
        default: "\(subject) is refused: \(text(of: code)) (X509_V_ERR \(code))"
        }
    }

    /// Whether a verify result is about a flaw that a session tolerates in a root which the program itself names.
    static func isFlaw(_ code: Int32, of certificate: Certificate) -> Bool {
        caf_flaw_of(code) & caf_root_flaws(certificate.handle) != 0
    }

    private static func text(of code: Int32) -> String {
        guard let text = X509_verify_cert_error_string(Int(code)) else { return "unknown error" }
        return String(decoding: UnsafeRawBufferPointer(start: text, count: strlen(text)), as: UTF8.self)
    }
}
