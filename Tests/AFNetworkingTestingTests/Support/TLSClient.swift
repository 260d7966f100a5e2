import AFNetworkingTesting
import AFTLS
import CAFOpenSSL

/// A simple, blocking TLS client on OpenSSL's memory buffers.
final class TLSClient {
    struct Failure: Error, Equatable {
        let reason: String
    }

    /// Settings of a client other than the defaults.
    struct Wishes {
        var serverName: String? = "localhost"
        var anchors: [Certificate] = []
        var versions: ClosedRange<Int32> = 0x0303...0x0304
        var level: Int32 = 0
        var ciphers: String?
        var protocols: [String] = []
        var identity: IssuedCertificate?
        var session: Session?
        var offersLateIdentity = false
    }

    /// A session to resume.
    final class Session {
        let handle: OpaquePointer

        init(_ handle: OpaquePointer) { self.handle = handle }

        deinit { SSL_SESSION_free(handle) }
    }

    let raw: RawClient
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    /// The content types of the server's records on the wire.
    private(set) var records: [(type: UInt8, count: Int)] = []
    private var wire: [UInt8] = []

    convenience init(_ server: TestServer, over raw: RawClient? = nil, _ wishes: Wishes = Wishes()) throws {
        try self.init(server.address, over: raw, wishes)
    }

    init(_ address: ListenAddress, over raw: RawClient? = nil, _ wishes: Wishes = Wishes()) throws {
        self.raw = try raw ?? RawClient(address)
        let (oldest, newest) = (wishes.versions.lowerBound, wishes.versions.upperBound)
        guard let context = caf_client_context(oldest, newest, wishes.level, wishes.ciphers, 1),
            let ssl = SSL_new(context), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem())
        else { throw Failure(reason: "no client") }
        (self.context, self.ssl, self.input, self.output) = (context, ssl, input, output)
        SSL_set_bio(ssl, input, output)
        SSL_set_connect_state(ssl)
        for anchor in wishes.anchors { X509_STORE_add_cert(SSL_CTX_get_cert_store(context), anchor.handle) }
        if let name = wishes.serverName { _ = caf_set_server_name(ssl, name) }
        let list = wishes.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !list.isEmpty { SSL_set_alpn_protos(ssl, list, UInt32(list.count)) }
        if let identity = wishes.identity { try show(identity) }
        if let session = wishes.session { SSL_set_session(ssl, session.handle) }
        if wishes.offersLateIdentity { SSL_set_post_handshake_auth(ssl, 1) }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    private func show(_ identity: IssuedCertificate) throws {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        BIO_write(bio, identity.privateKeyPEM, Int32(identity.privateKeyPEM.utf8.count))
        let key = PEM_read_bio_PrivateKey(bio, nil, nil, nil)
        defer { EVP_PKEY_free(key) }
        let chain = caf_x509_stack()
        defer { caf_x509_free_all(chain) }
        for issuer in identity.issuers { _ = caf_x509_push(chain, issuer.handle) }
        guard let key, caf_use_identity(ssl, identity.certificate.handle, key, chain) == 1 else {
            throw Failure(reason: "no identity")
        }
    }

    // MARK: - Handshake

    /// This client accepts every certificate; `verifyResult` has OpenSSL's verdict.
    func handshake() throws {
        SSL_set_verify(ssl, SSL_VERIFY_NONE, nil)
        try verifyingHandshake()
    }

    /// A handshake that fails if the certificates do not verify.
    func verifyingHandshake() throws {
        try run { SSL_connect(ssl) }
    }

    var verifyResult: Int { SSL_get_verify_result(ssl) }
    var version: Int32 { SSL_version(ssl) }
    var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    /// The session, with its ticket if one has arrived.
    var session: Session? { SSL_get1_session(ssl).map { Session($0) } }

    /// The certificates of the server in DER.
    var servedChain: [[UInt8]] {
        let stack = SSL_get_peer_cert_chain(ssl)
        return (0..<caf_x509_count(stack)).map { index in
            let certificate = caf_x509_at(stack, index)
            var bytes = [UInt8](repeating: 0, count: Int(i2d_X509(certificate, nil)))
            bytes.withUnsafeMutableBufferPointer { buffer in
                var position = buffer.baseAddress
                i2d_X509(certificate, &position)
            }
            return bytes
        }
    }

    var chosenProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    }

    // MARK: - Data

    func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(16_384))
            rest = rest.dropFirst(Int(try run { SSL_write(ssl, piece, Int32(piece.count)) }))
        }
    }

    /// The bytes of one read; empty after close_notify.
    func read(atMost count: Int = 64 * 1024) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try run(endsQuietly: true) { SSL_read(ssl, &bytes, Int32(count)) }
        return Array(bytes.prefix(Int(max(got, 0))))
    }

    /// Exactly `count` bytes as text, fewer only at the end of the stream.
    func read(_ count: Int) throws -> String {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try read(atMost: count - bytes.count)
            if more.isEmpty { break }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Everything up to close_notify.
    func readToEnd() throws -> String {
        var bytes: [UInt8] = []
        while true {
            let more = try read()
            if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            bytes += more
        }
    }

    /// Sends close_notify and closes.
    func close() throws {
        SSL_shutdown(ssl)
        try flush()
        raw.close()
    }

    @discardableResult
    private func run(endsQuietly: Bool = false, _ operation: () -> Int32) throws -> Int32 {
        while true {
            ERR_clear_error()
            let result = operation()
            let cause = SSL_get_error(ssl, result)
            let reason = ERR_reason_error_string(ERR_peek_error()).map { String(cString: $0) }
            try flush()
            if result > 0 { return result }
            if cause == SSL_ERROR_ZERO_RETURN, endsQuietly { return 0 }
            guard cause == SSL_ERROR_WANT_READ else { throw Failure(reason: reason ?? "error \(cause)") }
            // After a message without data, such as a ticket, SSL_read must be called again.
            if BIO_ctrl_pending(input) > 0 { continue }
            let bytes = try raw.read()
            if bytes.isEmpty { throw Failure(reason: "unannounced end") }
            note(bytes)
            BIO_write(input, bytes, Int32(bytes.count))
        }
    }

    private func flush() throws {
        var bytes = [UInt8](repeating: 0, count: Int(BIO_ctrl_pending(output)))
        guard !bytes.isEmpty else { return }
        BIO_read(output, &bytes, Int32(bytes.count))
        try raw.send(bytes: bytes)
    }

    private func note(_ bytes: [UInt8]) {
        wire += bytes
        while wire.count >= 5, wire.count >= 5 + Int(wire[3]) << 8 + Int(wire[4]) {
            let count = Int(wire[3]) << 8 + Int(wire[4])
            records.append((wire[0], count))
            wire.removeFirst(5 + count)
        }
    }
}
