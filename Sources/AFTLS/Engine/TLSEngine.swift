internal import CAFOpenSSL

/// Decides for an engine, and hears from it. Called from within the engine's own calls; must not call back into it.
package protocol TLSEngineClient: AnyObject {
    /// Judges the certificates the server showed, its own first. Asked once for each
    /// full handshake, and again after it answered `later` and has made up its mind.
    func engine(_ engine: TLSEngine, judges served: [Certificate]) -> TLSVerdict

    /// The server asks for a certificate of ours. Asked again after it answered `later`.
    func engineNeedsIdentity(_ engine: TLSEngine) -> TLSIdentityAnswer

    /// The server gave us something to make the next handshake short. It may come at
    /// any time during the life of the connection.
    func engine(_ engine: TLSEngine, received session: TLSSession)
}

package enum TLSVerdict: Sendable {
    case accept
    /// With the result code that OpenSSL turns into the alert.
    case refuse(Int32)
    /// Not decided yet: the handshake stands still, and nothing is sent.
    case later
}

package enum TLSIdentityAnswer: Sendable {
    case none
    case show(ClientIdentity)
    case later
}

/// One secured connection: ciphertext in, plaintext out, and the other way round. No system call, no clock, no file.
///
/// Input and output are windows that the caller moves. What is in the input window when a call returns has not been
/// consumed; what the call appended to the output window is to be sent, in order, whatever the call returned.
package final class TLSEngine {
    package enum Step: Sendable {
        /// Bytes of plaintext moved.
        case moved(Int)
        case finished
        case needsInput
        /// The client has to make up its mind first.
        case undecided
        /// The peer said that it will send no more.
        case closed
        /// The input ended, but the peer had not said that it would.
        case truncated
        case failed(TLSFailure)
    }

    /// Messages without data that a peer may send in a row, and those of a whole handshake, which takes ten.
    static let controlMessageLimit: Int32 = 32
    /// Plaintext of one record.
    package static let recordSize = 16 << 10
    /// Room that the output window must have for every call.
    package static let outputReserve = recordSize + 1024

    private let ssl: OpaquePointer
    private let window: UnsafeMutablePointer<caf_tls_window>
    /// Held: sessions come as long as the connection lives.
    private let client: any TLSEngineClient
    private var hasVerdict = false
    package private(set) var isEstablished = false
    /// What both have agreed to speak, by ALPN. Nil before that, and if the server did not choose.
    package private(set) var agreedProtocol: ApplicationProtocol?

    /// The server asked for a certificate of ours.
    package private(set) var wasAskedForIdentity = false
    /// A certificate of ours was given to be shown.
    package private(set) var hasShownIdentity = false

    /// - Parameters:
    ///   - serverName: For SNI; nil for an address.
    ///   - session: Offered for a short handshake. The caller vouches for the verdict.
    package init(
        context: TLSContext,
        serverName: String?,
        resuming session: TLSSession?,
        client: any TLSEngineClient
    ) throws(TLSFailure) {
        caf_clear_errors()
        guard let ssl = SSL_new(context.handle) else { throw .taken(alert: -1, otherwise: .local) }
        self.ssl = ssl
        self.client = client
        window = .allocate(capacity: 1)
        window.initialize(to: caf_tls_window())
        window.pointee.alert = -1
        var isReady = caf_attach_window(ssl, window) == 1
        isReady = isReady && SSL_set_ex_data(ssl, engineIndex, Unmanaged.passUnretained(self).toOpaque()) == 1
        if let serverName { isReady = isReady && caf_set_server_name(ssl, serverName) == 1 }
        if let session { isReady = isReady && SSL_set_session(ssl, session.handle) == 1 }
        // `deinit` runs: every property has its value.
        guard isReady else { throw .taken(alert: -1, otherwise: .local) }
        SSL_set_connect_state(ssl)
    }

    deinit {
        SSL_set_ex_data(ssl, engineIndex, nil)
        SSL_free(ssl)
        window.deallocate()
    }

    // MARK: - The windows

    /// What the peer sent and no call has consumed yet.
    package var input: UnsafeRawBufferPointer {
        get { UnsafeRawBufferPointer(start: window.pointee.input, count: window.pointee.input_count) }
        set {
            window.pointee.input = newValue.baseAddress?.assumingMemoryBound(to: UInt8.self)
            window.pointee.input_count = newValue.count
        }
    }

    package func noteInputEnded() { window.pointee.input_ended = 1 }

    /// Where calls put what is to be sent. Moving it forgets what the old one held.
    package func setOutput(_ buffer: UnsafeMutableRawBufferPointer) {
        window.pointee.output = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        window.pointee.output_capacity = buffer.count
        window.pointee.output_count = 0
    }

    /// What calls have put into the output window.
    package var output: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: window.pointee.output, count: window.pointee.output_count)
    }

    // MARK: - Calls

    /// Goes on with the handshake as far as the input reaches.
    package func handshake() -> Step {
        caf_clear_errors()
        let result = SSL_do_handshake(ssl)
        // OpenSSL skips requests to begin, and does not count them.
        guard window.pointee.control_messages <= TLSEngine.controlMessageLimit else {
            return .failed(
                TLSFailure(.flood, detail: "a handshake of more than \(TLSEngine.controlMessageLimit) messages")
            )
        }
        guard result == 1 else { return problem(result) }
        return establish()
    }

    private func establish() -> Step {
        let agreement = TLSAgreement(
            version: version,
            hasCertificate: caf_has_peer_certificate(ssl) == 1,
            verifyResult: SSL_get_verify_result(ssl),
            isJudged: hasVerdict || isResumed,
            chosenProtocol: chosenProtocol
        )
        if let failure = agreement.failure { return .failed(failure) }
        isEstablished = true
        agreedProtocol = agreement.agreedProtocol
        window.pointee.control_messages = 0
        return .finished
    }

    /// Takes plaintext out. Call until it needs input.
    ///
    /// - Parameter records: Counts the records that this takes, those without data included.
    package func read(into buffer: UnsafeMutableRawBufferPointer, counting records: inout Int) -> Step {
        precondition(isEstablished, "data only after the handshake")
        while true {
            var count = 0
            records += 1
            caf_clear_errors()
            let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
            if result == 1 {
                window.pointee.control_messages = 0
                return .moved(count)
            }
            let step = problem(result)
            if case .needsInput = step {
                if let failure = misbehaviour { return .failed(failure) }
                // It stopped behind a message without data, not at the end of the input.
                if window.pointee.input_count > 0 { continue }
            }
            return step
        }
    }

    /// Handshake messages that come after the handshake.
    private var misbehaviour: TLSFailure? {
        guard window.pointee.control_messages > 0 else { return nil }
        if version == .v1_2 { return TLSFailure(.renegotiation, detail: "the server asked to negotiate anew") }
        guard window.pointee.control_messages > TLSEngine.controlMessageLimit else { return nil }
        return TLSFailure(
            .flood,
            detail: "more than \(TLSEngine.controlMessageLimit) messages in a row carried no data"
        )
    }

    /// Seals at most one record. The output window must have `outputReserve` of room.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Step {
        precondition(isEstablished, "data only after the handshake")
        var count = 0
        caf_clear_errors()
        let result = SSL_write_ex(ssl, bytes.baseAddress, min(bytes.count, TLSEngine.recordSize), &count)
        return result == 1 ? .moved(count) : problem(result)
    }

    /// Gives back the buffers of records, 16 KiB each, until they are needed again. OpenSSL
    /// does so by itself after it has sent, but not after tickets have come in.
    ///
    /// - Returns: False if they are in use: a record is half read, or what it holds is.
    @discardableResult
    package func freeBuffers() -> Bool {
        caf_free_buffers(ssl) == 1
    }

    /// Says that we will send no more.
    package func close() {
        guard isEstablished else { return }
        SSL_shutdown(ssl)
        caf_clear_errors()
    }

    private func problem(_ result: Int32) -> Step {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .needsInput
        case SSL_ERROR_WANT_RETRY_VERIFY, SSL_ERROR_WANT_X509_LOOKUP: return .undecided
        case SSL_ERROR_ZERO_RETURN: return .closed
        case SSL_ERROR_WANT_WRITE: return .failed(TLSFailure(.local, detail: "no room for what is to be sent"))
        default:
            let failure = TLSFailure.taken(alert: window.pointee.alert, otherwise: .violation)
            return isEstablished && failure.kind == .ended ? .truncated : .failed(failure)
        }
    }

    // MARK: - Facts

    package var isResumed: Bool { SSL_session_reused(ssl) == 1 }
    package var version: TLSVersion? { UInt16(exactly: SSL_version(ssl)).flatMap(TLSVersion.init) }
    /// The number of the cipher suite on the wire.
    package var cipherSuite: UInt16 { caf_cipher_id(ssl) }

    /// What the server chose by ALPN; empty if it did not choose.
    private var chosenProtocol: [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &bytes, &count)
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// The names of the authorities whose certificates the server takes, as DER.
    package var acceptedAuthorities: [[UInt8]] {
        (0..<caf_peer_authority_count(ssl)).map { index in
            let count = caf_peer_authority(ssl, index, nil, 0)
            return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                filled = caf_peer_authority(ssl, index, buffer.baseAddress, count)
            }
        }
    }

    // MARK: - From OpenSSL

    // Code of users may use OpenSSL, and leave behind what the call under way would take for its own error.

    func judge(_ store: OpaquePointer) -> Int32 {
        guard let served = TLSEngine.certificates(of: X509_STORE_CTX_get0_untrusted(store)) else { return 0 }
        let verdict = client.engine(self, judges: served)
        caf_clear_errors()
        switch verdict {
        case .accept:
            hasVerdict = true
            X509_STORE_CTX_set_error(store, X509_V_OK)
            return 1
        case .refuse(let result):
            // Zero would be no error, and the alert none.
            X509_STORE_CTX_set_error(store, result == X509_V_OK ? X509_V_ERR_APPLICATION_VERIFICATION : result)
            return 0
        case .later:
            return caf_suspend_verification(ssl)
        }
    }

    /// Nil if there are none, or one cannot be had: another would seem to be the server's own.
    private static func certificates(of stack: OpaquePointer?) -> [Certificate]? {
        let count = caf_x509_count(stack)
        let all = (0..<count).compactMap { caf_x509_at(stack, $0).flatMap { Certificate(sharing: $0) } }
        return all.count == count && !all.isEmpty ? all : nil
    }

    func provideIdentity() -> Int32 {
        wasAskedForIdentity = true
        let answer = client.engineNeedsIdentity(self)
        caf_clear_errors()
        switch answer {
        case .later: return -1
        case .none: return 1
        case .show(let identity): return show(identity) ? 1 : 0
        }
    }

    private func show(_ identity: ClientIdentity) -> Bool {
        guard let leaf = identity.certificates.first, let stack = caf_x509_stack() else { return false }
        defer { caf_x509_free_all(stack) }
        for certificate in identity.certificates.dropFirst() {
            guard caf_x509_push(stack, certificate.handle) == 1 else { return false }
        }
        hasShownIdentity = caf_use_identity(ssl, leaf.handle, identity.key, stack) == 1
        return hasShownIdentity
    }

    func received(_ session: TLSSession) {
        client.engine(self, received: session)
        caf_clear_errors()
    }
}
