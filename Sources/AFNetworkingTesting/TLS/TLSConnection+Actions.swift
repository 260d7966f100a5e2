internal import CAFOpenSSL

/// What a step of a script does with the TLS connection itself.
enum TLSAction: Sendable {
    case announceEnd
    case updateKeys(count: Int, asksBack: Bool)
    case sendTickets(Int)
    case renegotiate
    case requestCertificate
    case sendRecords([UInt8], size: Int)
    case sendRecord(type: UInt8, [UInt8])
}

extension TLSConnection {
    /// Why an action failed.
    enum ActionFailure: Error {
        case over(ConnectionEnd)
        case refused(String)
    }

    func carryOut(_ action: TLSAction) throws(ActionFailure) {
        switch action {
        case .announceEnd: try overIfFailing { () throws(ConnectionEnd) in try announceEnd() }
        case .updateKeys(let count, let asksBack):
            let kind = asksBack ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
            for _ in 0..<count { try perform("KeyUpdate") { SSL_key_update(ssl, kind) } }
        case .sendTickets(let count):
            for _ in 0..<count { try perform("a ticket") { SSL_new_session_ticket(ssl) } }
        case .renegotiate:
            try perform("HelloRequest") { SSL_renegotiate(ssl) }
        case .requestCertificate:
            // A request with an empty context, and RSA and ECDSA as signature algorithms (RFC 8446 section 4.3.2).
            let algorithms: [UInt8] = [0, 13, 0, 6, 0, 4, 0x04, 0x03, 0x08, 0x04]
            guard SSL_version(ssl) == TLS1_3_VERSION else { throw .refused("asking for a certificate needs TLS 1.3") }
            let body = [0, 0, UInt8(algorithms.count)] + algorithms
            try seal([13, 0, 0, UInt8(body.count)] + body, type: 22)
        case .sendRecords(let bytes, let size):
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                try overIfFailing { () throws(ConnectionEnd) in
                    try piece.withBytes { all throws(ConnectionEnd) in try send(all) }
                }
            }
        case .sendRecord(let type, let bytes):
            try seal(bytes, type: type)
        }
    }

    private func perform(_ name: String, by order: () -> Int32) throws(ActionFailure) {
        OpenSSLErrors.clear()
        guard !isSealing else { throw .refused("\(name) cannot follow records of your own") }
        guard order() == 1, SSL_do_handshake(ssl) == 1 else {
            throw .refused("OpenSSL does not send \(name): \(OpenSSLErrors.take())")
        }
        try overIfFailing { () throws(ConnectionEnd) in try flush() }
    }

    private func seal(_ bytes: [UInt8], type: UInt8) throws(ActionFailure) {
        guard bytes.count <= 16_384 else { throw .refused("a record holds at most 16384 bytes") }
        guard let record = sealed(bytes, type: type) else {
            throw .refused("records of your own need TLS 1.3, or 1.2 with AES-GCM, and come before KeyUpdate")
        }
        try overIfFailing { () throws(ConnectionEnd) in try sendSealed(record) }
    }

    private func overIfFailing(_ body: () throws(ConnectionEnd) -> Void) throws(ActionFailure) {
        do throws(ConnectionEnd) {
            try body()
        } catch {
            throw .over(error)
        }
    }
}
