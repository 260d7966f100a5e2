internal import CAFOpenSSL

// Callbacks of OpenSSL. Each runs on the thread of its connection, inside a call that `TLSConnection`
// makes.

func clientHelloArrived(
    _ ssl: OpaquePointer?,
    _ alert: UnsafeMutablePointer<Int32>?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let ssl, let connection = TLSConnection.of(ssl) else { return SSL_CLIENT_HELLO_ERROR }
    connection.clientHelloArrived()
    guard case .alert(let number)? = connection.context.settings.handshakeFault else { return SSL_CLIENT_HELLO_SUCCESS }
    alert?.pointee = Int32(number)
    return SSL_CLIENT_HELLO_ERROR
}

func certificateIsNeeded(_ ssl: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    guard let ssl, let connection = TLSConnection.of(ssl) else { return 0 }
    // Without a certificate, suites without authentication may still work.
    guard let credential = connection.context.credential(for: connection.handshake.serverName) else { return 1 }
    return TLSContext.use(credential, on: ssl) ? 1 : 0
}

func protocolIsNeeded(
    _ ssl: OpaquePointer?,
    _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenCount: UnsafeMutablePointer<UInt8>?,
    _: UnsafePointer<UInt8>?,
    _: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let ssl, let connection = TLSConnection.of(ssl) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    if connection.context.settings.alpn == .refuse { return SSL_TLSEXT_ERR_ALERT_FATAL }
    guard let answer = connection.chooseProtocol() else { return SSL_TLSEXT_ERR_NOACK }
    chosen?.pointee = UnsafePointer(answer.baseAddress)
    chosenCount?.pointee = UInt8(answer.count)
    return SSL_TLSEXT_ERR_OK
}

func clientCertificateArrived(_ verification: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    guard let verification else { return 0 }
    let index = SSL_get_ex_data_X509_STORE_CTX_idx()
    guard let ssl = X509_STORE_CTX_get_ex_data(verification, index).map({ OpaquePointer($0) }),
        let connection = TLSConnection.of(ssl)
    else { return 0 }
    connection.clientShowed(CertificateStack.certificates(of: X509_STORE_CTX_get0_untrusted(verification)))
    switch connection.context.settings.clientCertificates {
    case .ignored, .requested: return 1
    case .required(let authorities): return authorities.isEmpty ? 1 : X509_verify_cert(verification)
    }
}

func messagePassed(
    _ isSent: Int32,
    _ version: Int32,
    _ kind: Int32,
    _ bytes: UnsafeRawPointer?,
    _ count: Int,
    _ ssl: OpaquePointer?,
    _: UnsafeMutableRawPointer?
) {
    guard let ssl, let connection = TLSConnection.of(ssl), let bytes else { return }
    if kind == SSL3_RT_ALERT, isSent == 0, count == 2 {
        connection.alertArrived(bytes.load(fromByteOffset: 1, as: UInt8.self))
    }
    guard isSent == 1 else { return }
    if SSL_version(ssl) == TLS1_3_VERSION {
        // OpenSSL reports the inner type once for each encrypted record.
        if kind == SSL3_RT_INNER_CONTENT_TYPE { connection.recordWasWritten() }
    } else if kind == SSL3_RT_HEADER, count > 0 {
        let isChange = bytes.load(as: UInt8.self) == UInt8(SSL3_RT_CHANGE_CIPHER_SPEC)
        if isChange { connection.cipherWasChanged() } else { connection.recordWasWritten() }
    }
    if kind == SSL3_RT_HANDSHAKE, count > 0, bytes.load(as: UInt8.self) == UInt8(SSL3_MT_KEY_UPDATE) {
        connection.keysWereUpdated()
    }
}

func secretWasMade(_ ssl: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let ssl, let line, let connection = TLSConnection.of(ssl) else { return }
    connection.secretWasMade(String(cString: line))
}
