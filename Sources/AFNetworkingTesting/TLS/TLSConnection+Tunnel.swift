internal import CAFOpenSSL

/// TLS without the socket, for a tunnel, which polls the socket itself.
extension TLSConnection {
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
