import AFTLS
internal import CAFOpenSSL
internal import CAFTestServer

/// Why OpenSSL refuses the settings.
struct TLSSetUpFailure: Error, Sendable {
    let reason: String
}

/// A `ServerTLS` as an `SSL_CTX`, which the connections of a server share.
final class ServerTLSContext: Sendable {
    let settings: ServerTLS
    private let object: OpenSSLObject

    init(_ settings: ServerTLS) throws(TLSSetUpFailure) {
        OpenSSLErrors.clear()
        guard let handle = Self.makeHandle(settings) else {
            throw TLSSetUpFailure(reason: "OpenSSL refuses the versions, suites or groups: \(OpenSSLErrors.take())")
        }
        object = OpenSSLObject(owning: handle, free: SSL_CTX_free)
        self.settings = settings
        SSL_CTX_set_client_hello_cb(handle, clientHelloArrived, nil)
        SSL_CTX_set_cert_cb(handle, certificateIsNeeded, nil)
        SSL_CTX_set_alpn_select_cb(handle, protocolIsNeeded, nil)
        SSL_CTX_set_msg_callback(handle, messagePassed)
        SSL_CTX_set_keylog_callback(handle, secretWasMade)
        try askClients(handle)
        try check()
    }

    private static func makeHandle(_ settings: ServerTLS) -> OpaquePointer? {
        var raw = caf_server_settings()
        raw.minimum = Int32(settings.minimumVersion.rawValue)
        raw.maximum = Int32(settings.maximumVersion.rawValue)
        raw.level = Int32(clamping: settings.securityLevel)
        raw.tickets = Int32(clamping: settings.ticketCount)
        raw.sessions = settings.keepsSessions ? 1 : 0
        raw.early_data = settings.invitesEarlyData ? 16_384 : 0
        withUnsafeMutableBytes(of: &raw.ticket_keys) { keys in
            keys.copyBytes(from: settings.ticketSecret.prefix(keys.count))
        }
        return withOptionalCString(settings.cipherList) { ciphers in
            withOptionalCString(settings.cipherSuites) { suites in
                withOptionalCString(settings.groups) { groups in
                    (raw.ciphers, raw.suites, raw.groups) = (ciphers, suites, groups)
                    return caf_server_context(&raw)
                }
            }
        }
    }

    private func askClients(_ handle: OpaquePointer) throws(TLSSetUpFailure) {
        switch settings.clientCertificates {
        case .ignored: return
        case .requested:
            SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        case .required(let authorities):
            SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            guard let store = X509_STORE_new() else { throw TLSSetUpFailure(reason: OpenSSLErrors.take()) }
            defer { X509_STORE_free(store) }
            for authority in authorities {
                X509_STORE_add_cert(store, authority.handle)
                SSL_CTX_add_client_CA(handle, authority.handle)
            }
            SSL_CTX_set1_cert_store(handle, store)
        }
        SSL_CTX_set_cert_verify_callback(handle, clientCertificateArrived, nil)
    }

    /// Tries each credential, so that a wrong key is an error of `init` and not of the first handshake.
    private func check() throws(TLSSetUpFailure) {
        for (index, credential) in settings.credentials.enumerated() {
            guard let ssl = makeConnection() else { throw TLSSetUpFailure(reason: OpenSSLErrors.take()) }
            defer { SSL_free(ssl) }
            guard !Self.use(credential, on: ssl) else { continue }
            throw TLSSetUpFailure(reason: "OpenSSL refuses credential \(index + 1): \(OpenSSLErrors.take())")
        }
    }

    func makeConnection() -> OpaquePointer? { SSL_new(object.handle) }

    /// Gives a connection exactly these certificates. False if OpenSSL refuses them.
    static func use(_ credential: ServerTLS.Credential, on ssl: OpaquePointer) -> Bool {
        guard let leaf = credential.certificates.first else { return false }
        guard let others = CertificateStack(Array(credential.certificates.dropFirst())) else { return false }
        return caf_use_identity(ssl, leaf.handle, credential.key.handle, others.handle) == 1
    }

    /// The credential for a client that asks for this name.
    func credential(for name: String?) -> ServerTLS.Credential? {
        guard let name else { return settings.credentials.first }
        return settings.credentials.first { $0.isMeant(for: name) } ?? settings.credentials.first
    }
}

extension ServerTLS.Credential {
    fileprivate func isMeant(for name: String) -> Bool {
        let wanted = name.lowercased()
        return hostNames.contains { pattern in
            let pattern = pattern.lowercased()
            guard pattern.hasPrefix("*.") else { return pattern == wanted }
            return wanted.drop { $0 != "." } == pattern.dropFirst() && !wanted.hasPrefix(".")
        }
    }
}

private func withOptionalCString<Result>(_ text: String?, body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString { body($0) }
}

// MARK: - Callbacks of OpenSSL

// Each runs on the thread of its connection, inside a call that `TLSConnection` makes.

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
    return ServerTLSContext.use(credential, on: ssl) ? 1 : 0
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
        if kind == SSL3_RT_INNER_CONTENT_TYPE { connection.sealer.sequence += 1 }
    } else if kind == SSL3_RT_HEADER, count > 0 {
        // The records after ChangeCipherSpec are encrypted (TLS 1.2).
        let isChange = bytes.load(as: UInt8.self) == UInt8(SSL3_RT_CHANGE_CIPHER_SPEC)
        connection.sealer.sequence = isChange ? 0 : connection.sealer.sequence + 1
    }
    if kind == SSL3_RT_HANDSHAKE, count > 0, bytes.load(as: UInt8.self) == UInt8(SSL3_MT_KEY_UPDATE) {
        connection.sealer.secret = []
    }
}

func secretWasMade(_ ssl: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let ssl, let line, let connection = TLSConnection.of(ssl) else { return }
    connection.sealer.noteSecret(String(cString: line))
}
