internal import CAFOpenSSL

/// What all connections with the same parameters share. The one place where a
/// context is made; every property is set explicitly and read back.
///
/// Confined to the thread that uses its connections.
package final class TLSContext {
    package let parameters: TLSParameters
    let handle: OpaquePointer

    package init(_ parameters: TLSParameters) throws(TLSFailure) {
        ERR_clear_error()
        let made = caf_client_context(
            Int32(parameters.versions.lowerBound.rawValue),
            Int32(parameters.versions.upperBound.rawValue),
            Int32(clamping: parameters.securityLevel),
            parameters.ciphers,
            parameters.resumes ? 1 : 0
        )
        guard let made else { throw .taken(alert: -1, otherwise: .local) }
        handle = made
        self.parameters = parameters
        SSL_CTX_set_cert_verify_callback(made, judgeCertificates, nil)
        SSL_CTX_set_cert_cb(made, provideIdentity, nil)
        if parameters.resumes { SSL_CTX_sess_set_new_cb(made, keepSession) }
    }

    deinit {
        SSL_CTX_free(handle)
    }
}

// MARK: - Callbacks from OpenSSL

/// Where a connection finds its engine. The engine clears it before it goes, so a late callback finds no engine.
let engineIndex = caf_ex_data_index()

private func engine(of ssl: OpaquePointer?) -> TLSEngine? {
    guard let ssl, let pointer = SSL_get_ex_data(ssl, engineIndex) else { return nil }
    return Unmanaged<TLSEngine>.fromOpaque(pointer).takeUnretainedValue()
}

private func judgeCertificates(_ store: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    guard let store, let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
        let engine = engine(of: OpaquePointer(ssl))
    else { return 0 }
    return engine.judge(store)
}

private func provideIdentity(_ ssl: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    engine(of: ssl)?.provideIdentity() ?? 0
}

/// One: we keep the reference.
private func keepSession(_ ssl: OpaquePointer?, session: OpaquePointer?) -> Int32 {
    guard let session, let engine = engine(of: ssl) else { return 0 }
    engine.received(TLSSession(adopting: session))
    return 1
}
