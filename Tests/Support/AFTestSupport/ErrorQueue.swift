import CAFOpenSSL

/// OpenSSL's error queue of this thread.
package enum ErrorQueue {
    /// Leaves something in it, as others who use OpenSSL on this thread may.
    package static func poison() {
        let garbage: [UInt8] = [0x30, 0x03, 0xFF, 0xFF, 0xFF]
        garbage.withUnsafeBufferPointer { buffer in
            var bytes: UnsafePointer<UInt8>? = buffer.baseAddress
            X509_free(d2i_X509(nil, &bytes, buffer.count))
        }
        precondition(ERR_peek_error() != 0, "OpenSSL left no error in its queue")
    }
}
