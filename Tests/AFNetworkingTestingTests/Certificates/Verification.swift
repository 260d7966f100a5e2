import AFNetworkingTesting
import AFTLS
import CAFOpenSSL

/// OpenSSL's verdict on a chain.
struct Verification {
    var anchors: [Certificate]
    var level: Int32 = 0
    var isStrict = false
    var isForServers = true

    /// An `X509_V_…` code.
    func result(of leaf: Certificate, with others: [Certificate] = []) -> Int32 {
        let store = X509_STORE_new()
        let stack = caf_x509_stack()
        let context = X509_STORE_CTX_new()
        defer {
            X509_STORE_CTX_free(context)
            caf_x509_free_all(stack)
            X509_STORE_free(store)
        }
        for anchor in anchors { X509_STORE_add_cert(store, anchor.handle) }
        for other in others { _ = caf_x509_push(stack, other.handle) }
        guard X509_STORE_CTX_init(context, store, leaf.handle, stack) == 1 else { return -1 }
        let parameters = X509_STORE_CTX_get0_param(context)
        X509_VERIFY_PARAM_set_auth_level(parameters, level)
        if isForServers { X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER) }
        if isStrict { X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_X509_STRICT)) }
        let isTrusted = X509_verify_cert(context) == 1
        let code = X509_STORE_CTX_get_error(context)
        return isTrusted == (code == X509_V_OK) ? code : -2
    }

    func result(of issued: IssuedCertificate) -> Int32 {
        result(of: issued.certificate, with: issued.issuers)
    }
}
