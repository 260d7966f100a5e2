internal import CAFOpenSSL

/// What a server gave us to make the next handshake short.
///
/// Certificates are not checked in a short handshake. The code that keeps a session keeps the verdict with it, and
/// offers it only where the same verdict would be reached.
package struct TLSSession: Sendable {
    private let object: OpenSSLObject

    /// Takes over a reference to an `SSL_SESSION`.
    init(adopting handle: OpaquePointer) {
        object = OpenSSLObject(owning: handle, free: SSL_SESSION_free)
    }

    var handle: OpaquePointer { object.handle }

    /// False once a session that serves one handshake has served it.
    package var isResumable: Bool { SSL_SESSION_is_resumable(handle) == 1 }

    /// TLS 1.3 sessions serve one handshake, so that two connections cannot be linked.
    package var servesOnce: Bool { SSL_SESSION_get_protocol_version(handle) >= Int32(TLS1_3_VERSION) }
}
