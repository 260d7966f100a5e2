import AFTLS
internal import CAFOpenSSL

/// What a TLS connection stands on: the bytes on the wire, and the record of the handshake.
protocol TLSTransport: AnyObject {
    /// Waits for at least one byte and reads what has arrived. Zero means that the client closed its side.
    func receiveFromWire(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int
    /// Writes all of `bytes`.
    func sendToWire(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd)
    /// Waits until the client closes its side or breaks the connection, and reads nothing.
    func waitForHangUp() throws(ConnectionEnd) -> Never
    func note(_ handshake: RecordedHandshake)
}

/// TLS on one connection.
///
/// OpenSSL reads from and writes to memory. This class moves the bytes between memory and the socket, so that
/// each byte is counted and none raises SIGPIPE. Belongs to one connection thread.
final class TLSConnection {
    let context: ServerTLSContext
    let ssl: OpaquePointer
    private(set) var handshake = RecordedHandshake()
    private(set) var isEstablished = false

    private let transport: any TLSTransport
    /// The bytes from the client, and those for it. `ssl` owns both.
    let input: OpaquePointer
    let output: OpaquePointer
    /// How many bytes of the handshake were sent.
    private var handshakeBytesSent = 0
    private var hasNews = false
    /// Writes all records once a script has asked for one that OpenSSL cannot write.
    var sealer = RecordSealer()
    private(set) var isSealing = false
    private var hasAnnouncedEnd = false
    /// OpenSSL reads it after the ALPN callback has returned.
    private let protocolName = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 255)

    init?(context: ServerTLSContext, on transport: any TLSTransport) {
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
        // Otherwise OpenSSL removes the session from its cache.
        if isEstablished { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(ssl)
        protocolName.deallocate()
    }

    /// The connection of an `SSL`. Nil while `ServerTLSContext` checks its credentials.
    static func of(_ ssl: OpaquePointer) -> TLSConnection? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: - Handshake

    /// Makes the handshake.
    ///
    /// - Parameter early: Bytes of the handshake that were received before.
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

    /// Records the failure and sends what is left, usually an alert.
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
            // A resumed session has the client's certificate.
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

    /// Waits for at least one byte and reads what has arrived. Zero means that the client ended its side.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int {
        while true {
            OpenSSLErrors.clear()
            var count = 0
            let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
            let cause = SSL_get_error(ssl, result)
            publish()
            // OpenSSL answers KeyUpdate and the like while it reads.
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
            // One record at a time, so that OpenSSL's buffer stays small.
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

    /// Sends close_notify.
    func announceEnd() throws(ConnectionEnd) {
        guard isEstablished, !hasAnnouncedEnd else { return }
        OpenSSLErrors.clear()
        if isSealing {
            guard let record = sealed([1, 0], type: 21) else { return }
            try sendSealed(record)
            return
        }
        SSL_shutdown(ssl)
        // OpenSSL writes nothing after this alert unless the flag is cleared.
        SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) & ~SSL_SENT_SHUTDOWN)
        hasAnnouncedEnd = true
        try flush()
    }

    // MARK: - Records that OpenSSL cannot write

    /// Encrypts a record in place of OpenSSL. Afterwards OpenSSL's sequence number is wrong, so this class makes all
    /// further records.
    func sealed(_ bytes: [UInt8], type: UInt8) -> [UInt8]? {
        isSealing = true
        return sealer.seal(bytes, type: type, for: ssl)
    }

    func sendSealed(_ record: [UInt8]) throws(ConnectionEnd) {
        let transport = transport
        try record.withBytes { all throws(ConnectionEnd) in try transport.sendToWire(all) }
    }

    // MARK: - Between memory and socket

    /// Waits for bytes of the client and gives them to OpenSSL. False at the end of the stream.
    private func feed() throws(ConnectionEnd) -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer throws(ConnectionEnd) in
            let count = try transport.receiveFromWire(into: buffer)
            guard count > 0 else { return false }
            BIO_write(input, buffer.baseAddress, Int32(count))
            return true
        }
    }

    /// Sends what OpenSSL has written, up to the handshake fault.
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

    // MARK: - TLS without the socket, for a tunnel, which polls the socket itself

    /// Decrypts bytes from the wire. Returns the plain bytes, and whether the client sent close_notify.
    func open(_ wire: [UInt8]) throws(ConnectionEnd) -> (bytes: [UInt8], isEnd: Bool) {
        if !wire.isEmpty { BIO_write(input, wire, Int32(clamping: wire.count)) }
        var bytes: [UInt8] = []
        while true {
            OpenSSLErrors.clear()
            var result: Int32 = 0
            let piece = [UInt8](unsafeUninitializedCapacity: 16 * 1024) { buffer, used in
                var count = 0
                result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
                used = result == 1 ? count : 0
            }
            if result == 1 {
                bytes += piece
                continue
            }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_ZERO_RETURN: return (bytes, true)
            case SSL_ERROR_WANT_READ: return (bytes, false)
            default: throw .clientReset
            }
        }
    }

    /// Encrypts bytes for the wire.
    func seal(_ bytes: ArraySlice<UInt8>) throws(ConnectionEnd) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        OpenSSLErrors.clear()
        var count = 0
        let result = bytes.withUnsafeBytes { SSL_write_ex(ssl, $0.baseAddress, $0.count, &count) }
        guard result == 1 else { throw .clientReset }
        return takeOutput()
    }

    /// The bytes that OpenSSL has written for the wire.
    func takeOutput() -> [UInt8] { EncodedBytes.drain(output) }
}

extension ServerTLS {
    /// How many more bytes the server sends before the handshake fault.
    fileprivate func room(after sent: Int) -> Int {
        switch handshakeFault {
        case .stall(let limit), .close(let limit), .reset(let limit): max(limit - sent, 0)
        case .alert, nil: .max
        }
    }
}
