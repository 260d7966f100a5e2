internal import CAFOpenSSL

/// What a server gave us to make the next handshake short.
///
/// Certificates are not checked in a short handshake. The code that keeps a session keeps the verdict with it, and
/// offers it only where the same verdict would be reached.
package struct TLSSession: Sendable {
    private let storage: Storage

    /// Takes over a reference to an `SSL_SESSION`.
    init(adopting handle: OpaquePointer) {
        storage = Storage(handle)
    }

    var handle: OpaquePointer { storage.handle }

    /// False once a session that serves one handshake has served it.
    package var isResumable: Bool { SSL_SESSION_is_resumable(handle) == 1 }

    /// TLS 1.3 sessions serve one handshake, so that two connections cannot be linked.
    package var servesOnce: Bool { SSL_SESSION_get_protocol_version(handle) >= Int32(TLS1_3_VERSION) }

    /// An `SSL_SESSION` counts its references atomically and locks what changes in it.
    private final class Storage: @unchecked Sendable {
        let handle: OpaquePointer

        init(_ handle: OpaquePointer) {
            self.handle = handle
        }

        deinit {
            SSL_SESSION_free(handle)
        }
    }
}

/// What a handshake has led to.
///
/// OpenSSL has refused all that is refused here. It is looked at once more, in one place, after full and short
/// handshakes alike: no data pass unless all of it is right.
struct TLSAgreement {
    /// Nil if it is none that we speak.
    var version: TLSVersion?
    var hasCertificate: Bool
    var verifyResult: Int
    /// The client accepted the server's certificates, now or when the session began that is being resumed.
    var isJudged: Bool
    /// By ALPN; empty if the server did not choose.
    var chosenProtocol: [UInt8]

    var failure: TLSFailure? {
        guard version != nil else { return TLSFailure(.version, "a version we did not offer") }
        guard hasCertificate, verifyResult == Int(X509_V_OK) else {
            return TLSFailure(.refused, "the server has no certificate that was accepted")
        }
        guard isJudged else { return TLSFailure(.refused, "the client did not judge the server's certificate") }
        guard chosenProtocol.isEmpty || chosenProtocol == Array("http/1.1".utf8) else {
            return TLSFailure(.alpn, "the server chose a protocol that was not offered")
        }
        return nil
    }
}
