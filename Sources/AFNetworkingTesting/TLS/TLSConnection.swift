import AFTLS
internal import CAFOpenSSL

/// What a TLS connection stands on: the bytes on the wire, and a place for what the handshake was like.
protocol TLSTransport: AnyObject {
    /// Reads what is there, waiting for at least one byte. Zero means the client closed its side.
    func receiveFromWire(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int
    /// Writes all of `bytes`.
    func sendToWire(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd)
    /// Waits until the client closed its side or broke the connection, reading nothing.
    func waitForHangUp() throws(ConnectionEnd) -> Never
    func note(_ handshake: RecordedHandshake)
}

/// The TLS side of one connection.
///
/// OpenSSL reads from and writes to memory; the bytes go to and come from the socket here, so that
/// each one is counted and none raises SIGPIPE. Belongs to one connection thread.
final class TLSConnection {
    let context: TLSContext
    let ssl: OpaquePointer
    private(set) var handshake = RecordedHandshake()
    private(set) var isEstablished = false

    private let transport: any TLSTransport
    /// What came from the client, and what goes to it. They belong to `ssl`.
    let input: OpaquePointer
    let output: OpaquePointer
    /// How many bytes of the handshake were sent.
    private var handshakeBytesSent = 0
    private var hasNews = false
    /// Writes records in OpenSSL's place once a script wanted one that OpenSSL would not write.
    private var sealer = RecordSealer()
    private(set) var isSealing = false
    private var hasAnnouncedEnd = false
    /// Must outlive the callback that hands it to OpenSSL.
    private let protocolName = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 255)

    init?(_ context: TLSContext, on transport: any TLSTransport) {
        guard let ssl = context.makeConnection() else { return nil }
        guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            return nil
        }
        SSL_set_bio(ssl, input, output)
        SSL_set_accept_state(ssl)
        (self.context, self.transport, self.ssl, self.input, self.output) = (context, transport, ssl, input, output)
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // Otherwise OpenSSL takes the session for broken, and forgets its id.
        if isEstablished { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(ssl)
        protocolName.deallocate()
    }

    /// The connection an `SSL` was made for. There is none while a context is being checked.
    static func of(_ ssl: OpaquePointer) -> TLSConnection? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: - Handshake

    /// Carries the handshake through; `early` are bytes of it that were already received.
    func accept(_ early: [UInt8]) throws(ConnectionEnd) {
        if !early.isEmpty { BIO_write(input, early, Int32(clamping: early.count)) }
        while true {
            OpenSSLErrors.clear()
            let result = SSL_accept(ssl)
            let cause = SSL_get_error(ssl, result)
            if result == 1 { noteEstablished() }
            publish()
            if result == 1 { return try flush() }
            guard cause == SSL_ERROR_WANT_READ else { throw try failed(OpenSSLErrors.take()) }
            try flush()
            guard try feed() else { throw try failed("the client closed the connection") }
        }
    }

    /// What is left to be sent, an alert as a rule, goes out before the end.
    private func failed(_ reason: String) throws(ConnectionEnd) -> ConnectionEnd {
        let text = handshake.receivedAlert.map { "the client sent the alert \($0)" } ?? reason
        handshake.failure = text
        hasNews = true
        publish()
        try flush()
        return .handshakeFailed(text)
    }

    private func noteEstablished() {
        isEstablished = true
        handshake.isComplete = true
        handshake.version = ServerTLS.Version(rawValue: UInt16(truncatingIfNeeded: SSL_version(ssl)))
        handshake.cipherSuite = SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) }
        handshake.isResumed = SSL_session_reused(ssl) == 1
        handshake.chosenProtocol = chosenProtocol
        if handshake.clientCertificates.isEmpty, let leaf = SSL_get0_peer_certificate(ssl) {
            // A resumed session remembers who the client was.
            handshake.clientCertificates = [Certificate(sharing: leaf)].compactMap { $0 }
        }
        hasNews = true
    }

    private var chosenProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    }

    // MARK: - Data

    /// Reads what is there, waiting for at least one byte. Zero means the client ended its side.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int {
        while true {
            OpenSSLErrors.clear()
            var count = 0
            let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
            let cause = SSL_get_error(ssl, result)
            publish()
            // Reading answers the client's requests for new keys and the like.
            try flush()
            if result == 1 { return count }
            switch cause {
            case SSL_ERROR_ZERO_RETURN: return 0
            case SSL_ERROR_WANT_READ: guard try feed() else { return 0 }
            default: throw .clientReset
            }
        }
    }

    /// Writes all of `bytes`.
    func send(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // One record at a time: what OpenSSL has in memory stays small.
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(16_384))
            if isSealing {
                guard let record = sealed(Array(piece), type: 23) else { throw .clientReset }
                try sendSealed(record)
                rest = rest.dropFirst(piece.count)
                continue
            }
            OpenSSLErrors.clear()
            var count = 0
            guard SSL_write_ex(ssl, piece.baseAddress, piece.count, &count) == 1 else { throw .clientReset }
            try flush()
            rest = rest.dropFirst(count)
        }
    }

    /// Announces the end of our side.
    func announceEnd() throws(ConnectionEnd) {
        guard isEstablished, !hasAnnouncedEnd else { return }
        OpenSSLErrors.clear()
        if isSealing {
            guard let record = sealed([1, 0], type: 21) else { return }
            try sendSealed(record)
            return
        }
        SSL_shutdown(ssl)
        // OpenSSL writes nothing after this alert, unless it forgets it.
        SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) & ~SSL_SENT_SHUTDOWN)
        hasAnnouncedEnd = true
        try flush()
    }

    // MARK: - Records that OpenSSL would not write

    /// From here on OpenSSL no longer knows which record comes next, so all of them are made here.
    func sealed(_ bytes: [UInt8], type: UInt8) -> [UInt8]? {
        isSealing = true
        return sealer.seal(bytes, type: type, for: ssl)
    }

    func sendSealed(_ record: [UInt8]) throws(ConnectionEnd) {
        let transport = transport
        try record.withBytes { all throws(ConnectionEnd) in try transport.sendToWire(all) }
    }

    // MARK: - Between memory and socket

    /// Waits for bytes of the client. False at the end of the stream.
    private func feed() throws(ConnectionEnd) -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer throws(ConnectionEnd) in
            let count = try transport.receiveFromWire(into: buffer)
            guard count > 0 else { return false }
            BIO_write(input, buffer.baseAddress, Int32(count))
            return true
        }
    }

    /// Sends what OpenSSL has written, as far as the handshake may go.
    func flush() throws(ConnectionEnd) {
        let bytes = EncodedBytes.drain(output)
        guard !bytes.isEmpty else { return }
        let isEstablished = isEstablished
        let room = isEstablished ? bytes.count : context.settings.room(after: handshakeBytesSent)
        let transport = transport
        try bytes.withBytes { all throws(ConnectionEnd) in
            try transport.sendToWire(UnsafeRawBufferPointer(rebasing: all.prefix(room)))
        }
        guard !isEstablished else { return }
        handshakeBytesSent += min(room, bytes.count)
        if room < bytes.count { try breakOff() }
    }

    private func breakOff() throws(ConnectionEnd) {
        switch context.settings.handshakeFault {
        case .stall: try transport.waitForHangUp()
        case .close: throw .close
        case .reset: throw .reset
        case .alert, nil: return
        }
    }

    private func publish() {
        guard hasNews else { return }
        hasNews = false
        transport.note(handshake)
    }

    // MARK: - Called by OpenSSL

    func secretWasMade(_ line: String) {
        sealer.noteSecret(line)
    }

    func recordWasWritten() {
        sealer.sequence += 1
    }

    /// What is written from here on is encrypted (TLS 1.2).
    func cipherWasChanged() {
        sealer.sequence = 0
    }

    func keysWereUpdated() {
        sealer.secret = []
    }

    func clientHelloArrived() {
        ClientHello.note(ssl, in: &handshake)
        hasNews = true
    }

    func clientShowed(_ certificates: [Certificate]) {
        handshake.clientCertificates = certificates
        hasNews = true
    }

    func alertArrived(_ number: UInt8) {
        hasNews = true
        guard number != 0 else {
            handshake.receivedEnd = true
            return
        }
        handshake.receivedAlert = RecordedHandshake.Alert(number: number)
    }

    func chooseProtocol() -> UnsafeMutableBufferPointer<UInt8>? {
        let answer: [UInt8]
        switch context.settings.alpn {
        case .choose(let names):
            guard let name = names.first(where: { handshake.offeredProtocols.contains($0) }) else { return nil }
            answer = Array(name.utf8)
        case .always(let bytes): answer = bytes
        case .nothing, .refuse: return nil
        }
        let count = min(answer.count, protocolName.count)
        _ = protocolName.update(fromContentsOf: answer.prefix(count))
        return UnsafeMutableBufferPointer(rebasing: protocolName[..<count])
    }
}

extension ServerTLS {
    /// How many more bytes of the handshake go out.
    fileprivate func room(after sent: Int) -> Int {
        switch handshakeFault {
        case .stall(let limit), .close(let limit), .reset(let limit): max(limit - sent, 0)
        case .alert, nil: .max
        }
    }
}
