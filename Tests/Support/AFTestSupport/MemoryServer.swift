package import AFNetworkingTesting
package import AFTLS
import CAFOpenSSL
import CAFTestServer

/// The server's side of a connection that exists in memory only: what it says, and in
/// which pieces that arrives, is up to the test.
package final class MemoryServer {
    /// What the connections of a server share.
    package final class Context {
        fileprivate let handle: OpaquePointer
        fileprivate let site: IssuedCertificate
        /// The name that OpenSSL reads after the callback has returned.
        private let chosen: UnsafeMutableBufferPointer<UInt8>

        /// - Parameter protocol: What it chooses by ALPN, whatever the client offers. Nil: it has no ALPN.
        package init(
            _ site: IssuedCertificate,
            _ version: TLSVersion,
            tickets: Int32,
            protocol name: String? = nil
        ) throws {
            self.site = site
            var settings = caf_server_settings()
            settings.minimum = Int32(version.rawValue)
            settings.maximum = Int32(version.rawValue)
            settings.level = 2
            settings.tickets = tickets
            handle = try need(caf_server_context(&settings))
            chosen = .allocate(capacity: name?.utf8.count ?? 0)
            guard let name else { return }
            _ = chosen.initialize(fromContentsOf: name.utf8)
            let choose: SSL_CTX_alpn_select_cb_func = { _, answer, count, _, _, context in
                guard let context else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                let chosen = Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().chosen
                answer?.pointee = UnsafePointer(chosen.baseAddress)
                count?.pointee = UInt8(chosen.count)
                return SSL_TLSEXT_ERR_OK
            }
            SSL_CTX_set_alpn_select_cb(handle, choose, Unmanaged.passUnretained(self).toOpaque())
        }

        deinit {
            SSL_CTX_free(handle)
            chosen.deallocate()
        }
    }

    /// Held: OpenSSL asks it for the protocol.
    private let context: Context
    private let ssl: OpaquePointer
    /// They belong to `ssl`.
    private let input: OpaquePointer
    private let output: OpaquePointer

    package init(_ context: Context) throws {
        self.context = context
        let site = context.site
        ssl = try need(SSL_new(context.handle))
        input = try need(BIO_new(BIO_s_mem()))
        output = try need(BIO_new(BIO_s_mem()))
        SSL_set_bio(ssl, input, output)
        SSL_set_accept_state(ssl)
        let others = try need(caf_x509_stack())
        defer { caf_x509_free_all(others) }
        for certificate in site.chain.dropFirst() { try need(caf_x509_push(others, certificate.handle) == 1) }
        try need(caf_use_identity(ssl, site.certificate.handle, site.key.handle, others) == 1)
    }

    deinit {
        SSL_free(ssl)
    }

    package var isReady: Bool { SSL_is_init_finished(ssl) == 1 }

    /// What came from the client.
    package func feed(_ bytes: [UInt8]) {
        if !bytes.isEmpty { BIO_write(input, bytes, Int32(bytes.count)) }
    }

    /// What goes to the client.
    package func take() -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 20_000)
        while case let count = BIO_read(output, &piece, Int32(piece.count)), count > 0 { bytes += piece[..<Int(count)] }
        return bytes
    }

    /// - Parameter authority: The only one whose certificates it says it takes, which it does not check.
    package func askForIdentity(of authority: Certificate? = nil) {
        SSL_set_verify(ssl, SSL_VERIFY_PEER) { _, _ in 1 }
        if let authority { SSL_add_client_CA(ssl, authority.handle) }
    }

    /// The certificates the client showed, its own first.
    package var shown: [Certificate] {
        let leaf = SSL_get1_peer_certificate(ssl)
        defer { X509_free(leaf) }
        let others = SSL_get_peer_cert_chain(ssl)
        return (leaf.flatMap { Certificate(sharing: $0) }.map { [$0] } ?? [])
            + (0..<caf_x509_count(others)).compactMap {
                caf_x509_at(others, $0).flatMap { Certificate(sharing: $0) }
            }
    }

    /// The number on the wire of the cipher suite in use.
    package var cipherSuite: UInt16 { caf_cipher_id(ssl) }

    /// The client said that it will send no more.
    package var hasReceivedCloseNotify: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    package func handshake() {
        ERR_clear_error()
        SSL_do_handshake(ssl)
        ERR_clear_error()
    }

    /// Seals bytes, in records of at most 16 KiB.
    package func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(16_384))
            guard SSL_write(ssl, piece, Int32(piece.count)) == Int32(piece.count) else { return }
            rest = rest.dropFirst(piece.count)
        }
    }

    /// What the client sent, decrypted.
    package func receive() -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 20_000)
        while case let count = SSL_read(ssl, &piece, Int32(piece.count)), count > 0 { bytes += piece[..<Int(count)] }
        ERR_clear_error()
        return bytes
    }

    package func sendCloseNotify() {
        SSL_shutdown(ssl)
    }

    /// What comes after a close_notify is not what OpenSSL would send by itself.
    package func forgetCloseNotify() {
        SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) & ~SSL_SENT_SHUTDOWN)
    }

    package func renegotiate() {
        SSL_renegotiate(ssl)
        SSL_do_handshake(ssl)
    }

    package func sendTickets(_ count: Int) {
        for _ in 0..<count { SSL_new_session_ticket(ssl) }
        SSL_do_handshake(ssl)
    }

    /// A ticket that takes more than one record, as records. Needs TLS 1.3.
    package func takeLargeTicket() -> [[UInt8]] {
        let ballast = [UInt8](repeating: 7, count: 1000)
        SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), ballast, ballast.count)
        SSL_ctrl(ssl, SSL_CTRL_SET_MAX_SEND_FRAGMENT, 512, nil)
        SSL_new_session_ticket(ssl)
        SSL_do_handshake(ssl)
        var rest = take()
        var records: [[UInt8]] = []
        while rest.count > 4 {
            let size = 5 + (Int(rest[3]) << 8 | Int(rest[4]))
            records.append(Array(rest.prefix(size)))
            rest = Array(rest.dropFirst(size))
        }
        return records
    }

    package func updateKeys(asksBack: Bool = true) {
        SSL_key_update(ssl, asksBack ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED)
        SSL_do_handshake(ssl)
    }
}
